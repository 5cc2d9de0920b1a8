//! Every text of SQL is known, and means something to both engines; the two schemas are twins.

use std::{collections::BTreeSet, path::Path};

use sqlx::{Executor, Row, SqlSafeStr, postgres::PgTypeInfo};

use crate::engines::{Bench, Raw};

pub async fn every_text_prepares(bench: Bench) {
    let statements = match &bench.raw {
        Raw::Sqlite(_) => store::statements::sqlite(),
        Raw::Postgres(_) => store::statements::postgres(),
    };
    for statement in &statements {
        let sql = sqlx::AssertSqlSafe(statement.text.clone()).into_sql_str();
        let prepared = match &bench.raw {
            Raw::Sqlite(_) => bench.raw.sqlite().await.expect("SQLite").prepare(sql).await.map(drop),
            Raw::Postgres(_) => {
                let types: Vec<PgTypeInfo> =
                    statement.postgres_types.iter().map(|name| PgTypeInfo::with_name(name)).collect();
                bench.raw.postgres().await.expect("PostgreSQL").prepare_with(sql, &types).await.map(drop)
            }
        };
        prepared.unwrap_or_else(|error| panic!("{}: {error}\n{}", statement.name, statement.text));
    }
    let known: BTreeSet<&str> =
        store::statements::sqlite().iter().chain(&store::statements::postgres()).map(|it| it.name).collect();
    let mut written = BTreeSet::new();
    names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut written);
    let forgotten: Vec<&String> = written.iter().filter(|name| !known.contains(name.as_str())).collect();
    assert!(forgotten.is_empty(), "missing in statements.rs: {forgotten:?}");
    assert_eq!(written.len(), known.len(), "each text has a name of its own");
}

/// On PostgreSQL, beside a SQLite database: the same tables with the same columns and the same indexes.
pub async fn tables_are_the_same(bench: Bench) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sqlite = crate::engines::sqlite(folder.path()).await;
    let mut here = sqlite.raw.sqlite().await.expect("SQLite");
    let mut there = bench.raw.postgres().await.expect("PostgreSQL");
    let columns = here
        .fetch_all(
            "SELECT m.name || '.' || p.name || CASE WHEN p.\"notnull\" OR p.pk THEN '!' ELSE '' END
             FROM sqlite_schema m, pragma_table_info(m.name) p
             WHERE m.type = 'table' AND m.name NOT LIKE '\\_sqlx%' ESCAPE '\\' AND m.name NOT LIKE 'sqlite%'",
        )
        .await
        .expect("reads");
    let twins = there
        .fetch_all(
            "SELECT table_name || '.' || column_name || CASE WHEN is_nullable = 'NO' THEN '!' ELSE '' END
             FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%'",
        )
        .await
        .expect("reads");
    let columns: BTreeSet<String> = columns.iter().map(|row| row.get(0)).collect();
    assert_eq!(columns, twins.iter().map(|row| row.get(0)).collect());
    let indexes = here.fetch_all("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL");
    let indexes: BTreeSet<String> = indexes.await.expect("reads").iter().map(|row| row.get(0)).collect();
    let twins = there.fetch_all("SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public'");
    let twins: BTreeSet<String> = twins.await.expect("reads").iter().map(|row| row.get(0)).collect();
    assert!(indexes.is_subset(&twins), "{:?}", indexes.difference(&twins));
}

/// Names of the texts in the sources: `"-- noun.verb…`, and `select!("verb"` after a macro that begins `"-- noun.`.
fn names_in(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            names_in(&path, names);
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("text");
        let word = |text: &str| text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
        let mut prefix = "job".to_owned();
        for (at, mark) in source.match_indices("\"-- ") {
            let noun = word(&source[at + mark.len()..]);
            let verb = source[at + mark.len() + noun.len()..].strip_prefix('.').map(&word).unwrap_or_default();
            if noun.is_empty() {
                continue;
            }
            if verb.is_empty() {
                prefix = noun;
            } else {
                names.insert(format!("{noun}.{verb}"));
            }
        }
        for mark in ["select!(", "select_named!("] {
            for (at, _) in source.match_indices(mark) {
                if let Some(verb) = source[at + mark.len()..].trim_start().strip_prefix('"') {
                    names.insert(format!("{prefix}.{}", word(verb)));
                }
            }
        }
    }
}
