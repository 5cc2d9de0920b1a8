//! Tests over the whole: the built binary driven from outside, and the repository's own rules.

mod agents;
mod crash;
mod demo;
mod hostile;
mod scenarios;
mod tidy;
mod world;
