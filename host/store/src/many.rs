//! Statements over many rows: `VALUES` and `IN` lists that are cut so that no engine's limit on binds is met.

/// Below SQLite's 32 766 and PostgreSQL's 65 535.
const BINDS_MAX: usize = 32_000;
const ROWS_MAX: usize = 1000;

/// A statement that is repeated for chunks of rows.
pub(crate) struct Many {
    /// Up to where the groups stand: `… VALUES ` or `… IN (`.
    pub sql: &'static str,
    /// Binds before the first group.
    pub fixed: usize,
    /// Binds in a group.
    pub columns: usize,
    /// After the groups.
    pub tail: &'static str,
}

impl Many {
    /// The text for so many rows.
    pub fn text(&self, rows: usize) -> String {
        let mut text = String::with_capacity(self.sql.len() + self.tail.len() + rows * (self.columns * 7 + 3));
        text.push_str(self.sql);
        let mut bind = self.fixed;
        for row in 0..rows {
            text.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns {
                bind += 1;
                if column > 0 {
                    text.push(',');
                }
                text.push('$');
                text.push_str(&bind.to_string());
            }
            text.push(')');
        }
        text.push_str(self.tail);
        text
    }

    /// How many rows one statement takes.
    pub fn rows_max(&self) -> usize {
        ((BINDS_MAX - self.fixed) / self.columns).min(ROWS_MAX)
    }
}

/// Runs a [`Many`] over a slice and gives the number of rows changed.
macro_rules! run_many {
    ($tx:expr, $many:expr, [$($fixed:expr),* $(,)?], $items:expr, |$item:pat_param| [$($value:expr),+ $(,)?]) => {{
        let mut changed: u64 = 0;
        for chunk in $items.chunks($many.rows_max()) {
            let text = $many.text(chunk.len());
            changed += $crate::tx::on!($tx, $many.sql, |conn| {
                let mut query = sqlx::query(sqlx::AssertSqlSafe(text)).persistent(chunk.len() == 1)$(.bind($fixed))*;
                for $item in chunk {
                    query = query$(.bind($value))+;
                }
                query.execute(&mut *conn).await.map(|done| done.rows_affected())
            })?;
        }
        changed
    }};
}

/// Runs a [`Many`] over a slice and gives the rows that come back.
macro_rules! all_many {
    ($tx:expr, $row:ty, $many:expr, [$($fixed:expr),* $(,)?], $items:expr,
     |$item:pat_param| [$($value:expr),+ $(,)?]) => {{
        let mut rows: Vec<$row> = Vec::new();
        for chunk in $items.chunks($many.rows_max()) {
            let text = $many.text(chunk.len());
            rows.extend($crate::tx::on!($tx, $many.sql, |conn| {
                let mut query = sqlx::query_as::<_, $row>(sqlx::AssertSqlSafe(text))
                    .persistent(chunk.len() == 1)$(.bind($fixed))*;
                for $item in chunk {
                    query = query$(.bind($value))+;
                }
                query.fetch_all(&mut *conn).await
            })?);
        }
        rows
    }};
}

pub(crate) use {all_many, run_many};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_count_on_from_the_fixed_binds() {
        let many = Many { sql: "UPDATE t SET a = $1 WHERE (b, c) IN (", fixed: 1, columns: 2, tail: ")" };
        assert_eq!(many.text(2), "UPDATE t SET a = $1 WHERE (b, c) IN (($2,$3), ($4,$5))");
        assert_eq!(many.rows_max(), 1000);
        assert_eq!(Many { sql: "", fixed: 0, columns: 64, tail: "" }.rows_max(), 500);
    }
}
