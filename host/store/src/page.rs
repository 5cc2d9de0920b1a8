//! Pages of lists.

use model::limits::{PAGE_DEFAULT, PAGE_MAX};

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// At most so many, [`PAGE_MAX`] at most.
    pub limit: u32,
    /// After so many.
    pub offset: u32,
}

impl Page {
    /// The first page, as large as one gets without asking.
    pub const FIRST: Self = Self { limit: PAGE_DEFAULT, offset: 0 };

    pub(crate) fn limit(self) -> i64 {
        i64::from(self.limit.min(PAGE_MAX))
    }

    pub(crate) fn offset(self) -> i64 {
        i64::from(self.offset)
    }
}

/// A page, and how many there are in all.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T> {
    /// The page.
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: u64,
}

impl<T> Listed<T> {
    pub(crate) fn new(items: Vec<T>, total: i64) -> Self {
        Self { items, total: u64::try_from(total).unwrap_or(0) }
    }
}
