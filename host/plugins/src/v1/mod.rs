//! Major version 1 of the interface: its generated records, and how they become domain types and come from them.
//! A component that speaks another major gets another folder like this one; nothing else knows records.

pub(crate) mod answers;
pub(crate) mod bindings;
pub(crate) mod describe;
pub(crate) mod requests;

mod exports;

pub(crate) use exports::{ExportIndices, Exports};

/// The major version of `tidegate:policy` that this folder speaks.
pub(crate) const MAJOR: u64 = 1;
