//! The tree against what there is: variables and fields of the place, functions of CEL, and the bounds that only show
//! in a tree.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use crate::{
    bounds::{COMPREHENSIONS_NESTED_MAX, DEPTH_MAX, LITERAL_ENTRIES_MAX},
    error::{Position, Problem, SelectorError},
    suggest::nearest,
};

/// Functions of the standard library, with the macros that a wrong number of arguments leaves as calls.
pub(crate) const FUNCTIONS: &[&str] = &[
    "all",
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "exists",
    "existsOne",
    "exists_one",
    "filter",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
    "has",
    "hasValue",
    "int",
    "map",
    "matches",
    "none",
    "of",
    "ofNonZeroValue",
    "or",
    "orValue",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
    "value",
];

/// Names of types, which are values too: `type(x) == string`.
const TYPES: &[&str] = &["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];

/// Variables and their fields; `None` where any name will do (the variables come with the call).
pub(crate) struct Names {
    pub(crate) variables: Option<&'static [(&'static str, &'static [&'static str])]>,
    /// Whether the answer must be true or false.
    pub(crate) condition: bool,
}

/// Checks the whole tree and returns its depth.
pub(crate) fn check(
    root: &IdedExpr,
    names: &Names,
    position: &dyn Fn(u64) -> Option<Position>,
) -> Result<usize, SelectorError> {
    if names.condition
        && let Some(found) = constant_type(&root.expr)
    {
        return Err(SelectorError::new(position(root.id), Problem::NotACondition { found }));
    }
    let mut check = Check { names, position, bound: Vec::new(), comprehensions: 0, deepest: 0 };
    check.node(root, 1)?;
    Ok(check.deepest)
}

/// The type of a constant that is no condition.
fn constant_type(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::Literal(LiteralValue::Boolean(_)) => None,
        Expr::Literal(LiteralValue::Bytes(_)) => Some("bytes"),
        Expr::Literal(LiteralValue::Double(_) | LiteralValue::Int(_) | LiteralValue::UInt(_)) => Some("a number"),
        Expr::Literal(LiteralValue::Null) => Some("null"),
        Expr::Literal(LiteralValue::String(_)) => Some("a string"),
        Expr::List(_) => Some("a list"),
        Expr::Map(_) => Some("a map"),
        Expr::Unspecified
        | Expr::Call(_)
        | Expr::Comprehension(_)
        | Expr::Ident(_)
        | Expr::Select(_)
        | Expr::Struct(_) => None,
    }
}

struct Check<'a> {
    names: &'a Names,
    position: &'a dyn Fn(u64) -> Option<Position>,
    /// Variables of the comprehensions around.
    bound: Vec<&'a str>,
    comprehensions: usize,
    deepest: usize,
}

impl<'a> Check<'a> {
    fn node(&mut self, node: &'a IdedExpr, depth: usize) -> Result<(), SelectorError> {
        self.deepest = self.deepest.max(depth);
        if depth > DEPTH_MAX {
            return Err(self.error(node, Problem::TreeTooDeep));
        }
        let below = depth + 1;
        match &node.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Ident(name) => self.variable(node, name),
            Expr::Select(select) => {
                self.field(node, &select.operand, &select.field)?;
                self.node(&select.operand, below)
            }
            Expr::Call(call) => {
                self.function(node, &call.func_name)?;
                if let (operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT, [of, key]) =
                    (call.func_name.as_str(), call.args.as_slice())
                    && let Expr::Literal(LiteralValue::String(key)) = &key.expr
                {
                    self.field(node, of, key.inner())?;
                }
                if let Some(target) = &call.target
                    && !is_namespace(target)
                {
                    self.node(target, below)?;
                }
                call.args.iter().try_for_each(|argument| self.node(argument, below))
            }
            Expr::List(list) => {
                self.entries(node, list.elements.len())?;
                list.elements.iter().try_for_each(|element| self.node(element, below))
            }
            Expr::Map(map) => {
                self.entries(node, map.entries.len())?;
                map.entries.iter().try_for_each(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        self.node(&entry.key, below)?;
                        self.node(&entry.value, below)
                    }
                    EntryExpr::StructField(field) => {
                        Err(self.error(node, Problem::Message { name: field.field.clone() }))
                    }
                })
            }
            Expr::Comprehension(comprehension) => {
                self.node(&comprehension.iter_range, below)?;
                self.node(&comprehension.accu_init, below)?;
                self.comprehensions += 1;
                if self.comprehensions > COMPREHENSIONS_NESTED_MAX {
                    return Err(self.error(node, Problem::ComprehensionsTooDeep));
                }
                let outside = self.bound.len();
                self.bound.push(&comprehension.iter_var);
                self.bound.extend(comprehension.iter_var2.as_deref());
                self.node(&comprehension.loop_cond, below)?;
                self.node(&comprehension.loop_step, below)?;
                self.node(&comprehension.result, below)?;
                self.bound.truncate(outside);
                self.comprehensions -= 1;
                Ok(())
            }
            Expr::Struct(message) => Err(self.error(node, Problem::Message { name: message.type_name.clone() })),
            Expr::Unspecified => Err(self.error(node, Problem::Syntax("is not an expression".to_owned()))),
        }
    }

    fn variable(&self, node: &IdedExpr, name: &str) -> Result<(), SelectorError> {
        let absolute = name.strip_prefix('.').unwrap_or(name);
        // Names with an `@` are the parser's own, inside what macros expand to.
        let known = name.starts_with('@') || self.bound.contains(&name) || TYPES.contains(&absolute);
        let Some(variables) = self.names.variables else { return Ok(()) };
        if known || variables.iter().any(|(variable, _)| *variable == absolute) {
            return Ok(());
        }
        let expected: Vec<&'static str> = variables.iter().map(|(variable, _)| *variable).collect();
        let suggestion = nearest(absolute, expected.iter().copied()).map(str::to_owned);
        Err(self.error(node, Problem::UnknownVariable { name: name.to_owned(), expected, suggestion }))
    }

    /// A field of one of the place's own variables. Deeper ones are data, and absent or there when they are asked for.
    fn field(&self, node: &IdedExpr, of: &IdedExpr, field: &str) -> Result<(), SelectorError> {
        let Expr::Ident(variable) = &of.expr else { return Ok(()) };
        if self.bound.contains(&variable.as_str()) {
            return Ok(());
        }
        let absolute = variable.strip_prefix('.').unwrap_or(variable);
        let Some((_, fields)) = self.names.variables.unwrap_or_default().iter().find(|(name, _)| *name == absolute)
        else {
            return Ok(());
        };
        if fields.contains(&field) {
            return Ok(());
        }
        let suggestion = nearest(field, fields.iter().copied()).map(str::to_owned);
        Err(self.error(
            node,
            Problem::UnknownField {
                variable: absolute.to_owned(),
                name: field.to_owned(),
                expected: fields.to_vec(),
                suggestion,
            },
        ))
    }

    fn function(&self, node: &IdedExpr, name: &str) -> Result<(), SelectorError> {
        let operator = !name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '.')
            && name.contains(['_', '@'])
            && name.contains(|char: char| !char.is_ascii_alphanumeric() && char != '_')
            || name == operators::IN
            || name == operators::NOT_STRICTLY_FALSE;
        let absolute = name.strip_prefix('.').unwrap_or(name);
        if operator || FUNCTIONS.contains(&absolute) {
            return Ok(());
        }
        let suggestion = nearest(absolute, FUNCTIONS.iter().copied()).map(str::to_owned);
        Err(self.error(node, Problem::UnknownFunction { name: name.to_owned(), suggestion }))
    }

    fn entries(&self, node: &IdedExpr, entries: usize) -> Result<(), SelectorError> {
        if entries > LITERAL_ENTRIES_MAX {
            return Err(self.error(node, Problem::LiteralTooLong { entries }));
        }
        Ok(())
    }

    fn error(&self, node: &IdedExpr, problem: Problem) -> SelectorError {
        SelectorError::new((self.position)(node.id), problem)
    }
}

/// `optional` in `optional.of(x)` is a part of the function's name.
fn is_namespace(target: &IdedExpr) -> bool {
    matches!(&target.expr, Expr::Ident(name) if name == "optional")
}
