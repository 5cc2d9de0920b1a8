//! The chores as a library, so that the end-to-end tests drive the very demo that people see.

pub mod bench;
pub mod ci;
pub mod demo;
pub mod http;
pub mod process;
pub mod site;
pub mod test;
pub mod tools;
