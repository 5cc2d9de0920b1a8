//! A row that is no value of the model is an error that says where it stands.

use store::{Page, StoreError, job::Filter};

use crate::{engines::Bench, world::World};

pub async fn a_bad_row_is_named(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let jobs = world.start(&bench.store).await;
    let check = async |sql: &'static str, table: &str, column: &str| {
        bench.raw.run(sql).await.expect("the database takes it");
        let mut tx = bench.store.read("test.bad").await.expect("a transaction begins");
        let error = match table {
            "jobs" => store::job::list(&mut tx, world.workspace, Filter::default(), Page::FIRST).await.map(drop),
            _ => store::snapshot::load(&mut tx, world.workspace, world.deployment.id).await.map(drop),
        }
        .expect_err(sql);
        let StoreError::BadRow { table: at, column: in_column, id, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*at, *in_column), (table, column), "{error}");
        assert!(table != "jobs" || *id == jobs[0].id.to_string(), "{error}");
        assert!(error.to_string().starts_with(&format!("bad row in `{table}`, column `{column}`, id `")), "{error}");
    };
    check("UPDATE jobs SET status = 'in_progress'", "jobs", "lease_token").await;
    check("UPDATE jobs SET status = 'lost'", "jobs", "status").await;
    check("UPDATE jobs SET status = 'completed'", "jobs", "ended_at").await;
    check("UPDATE jobs SET status = 'queued', config = '{'", "jobs", "config").await;
    check("UPDATE versions SET status = 'odd'", "versions", "status").await;
    bench.raw.run("UPDATE versions SET status = 'ready'").await.expect("mended");
    check("UPDATE rules SET plugin_range = 'x.y.z'", "rules", "plugin_range").await;
    bench.raw.run("UPDATE rules SET plugin_range = '^1'").await.expect("mended");
    check("UPDATE deployments SET metadata = '[1]'", "deployments", "metadata").await;
}
