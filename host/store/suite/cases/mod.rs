//! The cases, by what they are about.

pub mod bad_rows;
pub mod claims;
pub mod events;
pub mod nouns;
pub mod people;
pub mod planning;
pub mod plans;
pub mod schema;
pub mod verifying;
pub mod wakes;
