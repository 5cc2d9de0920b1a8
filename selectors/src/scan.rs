//! A look at the text before it is parsed: are its strings and brackets closed, and is it within the bounds that protect
//! the parser? It reads tokens only; whether they make sense together is the parser's business.

use crate::{
    bounds::{CHAIN_MAX, LENGTH_BYTES_MAX, NESTING_MAX, OPERATORS_IN_A_ROW_MAX},
    error::{Position, Problem, SelectorError},
};

/// Refuses text that exceeds a bound or whose strings and brackets are not closed.
pub(crate) fn scan(text: &str) -> Result<(), SelectorError> {
    if text.len() > LENGTH_BYTES_MAX {
        return Err(SelectorError::new(None, Problem::TooLong { bytes: text.len() }));
    }
    Scan { text, at: 0, levels: vec![Level::default()], previous: Token::Start }.run()
}

/// What stood before; it tells an index from a list and a sign from a subtraction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Start,
    /// A name, a literal or a closing bracket: something that can be indexed.
    Value,
    Dot,
    /// An opening bracket or a comma, where `?` marks an optional entry.
    Opening,
    Operator,
}

/// The inside of one pair of brackets, or the whole.
#[derive(Default)]
struct Level {
    opened: Option<(char, usize)>,
    chain: usize,
    operators: usize,
    conditionals: usize,
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    levels: Vec<Level>,
    previous: Token,
}

impl<'a> Scan<'a> {
    fn run(mut self) -> Result<(), SelectorError> {
        while let Some(char) = self.rest().chars().next() {
            match char {
                _ if char.is_whitespace() => self.at += char.len_utf8(),
                '/' if self.rest().starts_with("//") => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                '"' | '\'' => self.string(false)?,
                '`' => self.escaped_name()?,
                '0'..='9' => self.number(),
                'a'..='z' | 'A'..='Z' | '_' => self.word()?,
                '.' => self.dot()?,
                '(' | '[' | '{' => self.open(char)?,
                ')' | ']' | '}' => self.close(char)?,
                ',' | ':' => self.separator(char),
                '?' => self.question()?,
                _ => self.operator(char)?,
            }
        }
        match self.level().opened {
            Some((bracket, at)) => Err(self.error_at(at, Problem::Syntax(format!("`{bracket}` is not closed")))),
            None => Ok(()),
        }
    }

    fn string(&mut self, raw: bool) -> Result<(), SelectorError> {
        let start = self.at;
        let rest = self.rest();
        let quote = &rest[..1];
        let triple = quote.repeat(3);
        let (delimiter, multiline) = if rest.starts_with(&triple) { (triple.as_str(), true) } else { (quote, false) };
        let mut at = delimiter.len();
        loop {
            let inside = &rest[at..];
            let Some(char) = inside.chars().next() else {
                return Err(self.error_at(start, Problem::Syntax("string is not closed".to_owned())));
            };
            if inside.starts_with(delimiter) {
                break;
            }
            if !multiline && matches!(char, '\n' | '\r') {
                return Err(self.error_at(start, Problem::Syntax("string is not closed on its line".to_owned())));
            }
            at += char.len_utf8();
            if char == '\\' && !raw {
                at += inside[1..].chars().next().map_or(0, char::len_utf8);
            }
        }
        self.at += at + delimiter.len();
        self.value();
        Ok(())
    }

    fn escaped_name(&mut self) -> Result<(), SelectorError> {
        // The parser has these names switched off; a map takes any key as `map['key']`.
        Err(self.error_at(self.at, Problem::Syntax("unexpected '`' (write `['name']` for such a key)".to_owned())))
    }

    fn number(&mut self) {
        let digits = |char: char| char.is_ascii_alphanumeric();
        let mut length = self.rest().find(|char| !digits(char)).unwrap_or(self.rest().len());
        let fraction = &self.rest()[length..];
        if fraction.starts_with('.') && fraction[1..].starts_with(|char: char| char.is_ascii_digit()) {
            length += 1 + fraction[1..].find(|char| !digits(char)).unwrap_or(fraction.len() - 1);
        }
        self.at += length;
        self.value();
    }

    fn word(&mut self) -> Result<(), SelectorError> {
        let rest = self.rest();
        let length = rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        let prefix = word.to_ascii_lowercase();
        self.at += length;
        if matches!(prefix.as_str(), "r" | "b" | "br") && self.rest().starts_with(['"', '\'']) {
            return self.string(prefix.contains('r'));
        }
        if word == "in" && self.previous == Token::Value {
            return self.row();
        }
        self.value();
        Ok(())
    }

    fn dot(&mut self) -> Result<(), SelectorError> {
        let fraction = self.rest()[1..].starts_with(|char: char| char.is_ascii_digit());
        if fraction && self.previous != Token::Value {
            self.at += 1;
            self.number();
            return Ok(());
        }
        self.at += 1;
        self.link()?;
        self.previous = Token::Dot;
        Ok(())
    }

    fn open(&mut self, bracket: char) -> Result<(), SelectorError> {
        if self.previous == Token::Value {
            // A call's arguments hang on the name before them, so they are part of its chain like an index.
            self.link()?;
        } else {
            self.level_mut().chain = 0;
        }
        self.levels.push(Level { opened: Some((bracket, self.at)), ..Level::default() });
        self.depth()?;
        self.at += 1;
        self.previous = Token::Opening;
        Ok(())
    }

    fn close(&mut self, bracket: char) -> Result<(), SelectorError> {
        let expected = match self.level().opened {
            Some(('(', _)) => ')',
            Some(('[', _)) => ']',
            Some(_) => '}',
            None => return Err(self.error_at(self.at, Problem::Syntax(format!("unexpected `{bracket}`")))),
        };
        if bracket != expected {
            let message = format!("unexpected `{bracket}`, expected `{expected}`");
            return Err(self.error_at(self.at, Problem::Syntax(message)));
        }
        self.levels.pop();
        self.at += 1;
        // The chain of the value goes on behind the bracket.
        self.previous = Token::Value;
        Ok(())
    }

    fn separator(&mut self, char: char) {
        self.at += 1;
        let level = self.level_mut();
        level.operators = 0;
        if char == ',' {
            level.conditionals = 0;
            self.previous = Token::Opening;
        } else {
            self.previous = Token::Operator;
        }
    }

    fn question(&mut self) -> Result<(), SelectorError> {
        self.at += 1;
        if matches!(self.previous, Token::Dot | Token::Opening) {
            return Ok(());
        }
        let level = self.level_mut();
        level.operators = 0;
        level.conditionals += 1;
        self.previous = Token::Operator;
        self.depth()
    }

    fn operator(&mut self, char: char) -> Result<(), SelectorError> {
        let rest = self.rest();
        let known = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!"];
        let Some(operator) = known.into_iter().find(|operator| rest.starts_with(operator)) else {
            return Err(self.error_at(self.at, Problem::Syntax(format!("unexpected `{char}`"))));
        };
        self.at += operator.len();
        match operator {
            "&&" | "||" => {
                self.level_mut().operators = 0;
                self.previous = Token::Operator;
                Ok(())
            }
            // A sign or a negation; the parser reads a run of them as one.
            "-" | "!" if self.previous != Token::Value => Ok(()),
            _ => self.row(),
        }
    }

    /// One more operator in a row.
    fn row(&mut self) -> Result<(), SelectorError> {
        self.previous = Token::Operator;
        let level = self.level_mut();
        level.operators += 1;
        if level.operators > OPERATORS_IN_A_ROW_MAX { Err(self.error(Problem::TooManyOperators)) } else { Ok(()) }
    }

    /// One more link in the chain behind a value.
    fn link(&mut self) -> Result<(), SelectorError> {
        let level = self.level_mut();
        level.chain += 1;
        if level.chain > CHAIN_MAX { Err(self.error(Problem::ChainTooLong)) } else { Ok(()) }
    }

    fn depth(&self) -> Result<(), SelectorError> {
        let brackets = self.levels.len() - 1;
        let conditionals: usize = self.levels.iter().map(|level| level.conditionals).sum();
        if brackets + conditionals > NESTING_MAX { Err(self.error(Problem::TooDeep)) } else { Ok(()) }
    }

    /// A name or literal: behind a dot it goes on with the chain, elsewhere it begins one.
    fn value(&mut self) {
        if self.previous != Token::Dot {
            self.level_mut().chain = 0;
        }
        self.previous = Token::Value;
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn level(&self) -> &Level {
        self.levels.last().expect("the outermost level is never popped")
    }

    fn level_mut(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level is never popped")
    }

    fn error(&self, problem: Problem) -> SelectorError {
        self.error_at(self.at, problem)
    }

    fn error_at(&self, byte: usize, problem: Problem) -> SelectorError {
        SelectorError::new(Some(Position::of(self.text, byte)), problem)
    }
}
