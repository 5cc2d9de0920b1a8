//! Selectors: CEL expressions that say which resources, targets or versions something is about.
//!
//! Text is bounded and checked when it is saved ([`Selector::parse`]), kept as a tree, and evaluated many times over
//! borrowed views of whatever the host looks at ([`Selector::matches`]). Nothing here knows the host's own types,
//! reads a clock or touches the outside, and no text and no value makes it panic or exhaust the stack.
#![warn(missing_docs)]

pub mod bounds;
mod check;
mod error;
mod eval;
mod expression;
mod json;
mod parse;
mod scan;
mod selector;
pub mod suggest;
mod view;

pub use error::{EvalError, Position, Problem, SelectorError};
pub use expression::{Expression, check, evaluate_json};
pub use selector::{Match, Place, Selector};
pub use view::{Bindings, NamedView, ResourceView, VersionView};

#[cfg(test)]
mod tests;
