//! What a selector may be: every bound, with the failure it prevents. They are checked before (or right after) parsing,
//! so that evaluation never meets an expression that exceeds one.

/// Longest text, bytes. The parser takes time and memory in proportion, and far more on hostile text.
pub const LENGTH_BYTES_MAX: usize = 8 * 1024;
/// Deepest nesting of brackets and conditionals. Parser and evaluator both recurse once (or often) per level.
pub const NESTING_MAX: usize = 32;
/// Longest chain of `.name` and `[index]` behind one value. The parser's tree is one level deeper with each link:
/// twenty thousand links abort a process whose stack is of the usual size.
pub const CHAIN_MAX: usize = 32;
/// Most arithmetic and comparison operators in a row (`a + b + c`), for the same reason. `&&` and `||` are balanced by
/// the parser and need no bound of their own.
pub const OPERATORS_IN_A_ROW_MAX: usize = 32;
/// Deepest tree of an expression in all; what nesting, chains and rows make together.
pub const DEPTH_MAX: usize = 128;
/// Comprehensions (`all`, `exists`, `map`, `filter`) inside one another: each level multiplies the work.
pub const COMPREHENSIONS_NESTED_MAX: usize = 2;
/// Longest list or map literal, entries.
pub const LITERAL_ENTRIES_MAX: usize = 1000;

/// Stack of the thread that parses, bytes. The generated parser takes many kilobytes a level; only touched pages count.
pub(crate) const PARSE_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Stack of the thread that evaluates an expression deeper than [`DEPTH_INLINE_MAX`], bytes.
pub(crate) const EVALUATION_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Deepest expression that is evaluated on the caller's own stack. Nearly all selectors are that shallow.
pub(crate) const DEPTH_INLINE_MAX: usize = 16;
