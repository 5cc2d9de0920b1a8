//! The contract of the store: what must hold on both engines. Each case gets a database of its own.
//!
//! On SQLite each case is a test. On PostgreSQL one test starts a private cluster and runs all of them, since a
//! cluster takes seconds to start and a runner may give each test a process of its own.

mod cases;
mod engines;
mod world;

use std::{future::Future, pin::Pin};

use engines::Bench;

type Case = fn(Bench) -> Pin<Box<dyn Future<Output = ()> + Send>>;

macro_rules! contract {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        const CASES: &[(&str, Case)] =
            &[$((concat!(stringify!($module), "::", stringify!($name)), |bench| Box::pin(cases::$module::$name(bench)))),+];

        mod sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let folder = tempfile::tempdir().expect("a temporary folder");
                    let bench = crate::engines::sqlite(folder.path()).await;
                    crate::cases::$module::$name(bench).await;
                }
            )+
        }
    };
}

contract! {
    nouns::what_is_written_is_read,
    nouns::changes_and_links_are_read,
    nouns::lists_come_in_pages,
    nouns::the_same_key_is_refused,
    nouns::roles_are_those_of_today,
    nouns::text_may_hold_anything,
    bad_rows::a_bad_row_is_named,
    events::positions_rise_without_gaps,
    events::nothing_is_told_of_a_transaction_that_is_dropped,
    events::the_trail_is_append_only,
    plans::a_plan_is_applied_and_read_back,
    plans::a_plan_applied_twice_is_harmless,
    plans::a_release_has_one_unfinished_job,
    plans::jobs_are_called_off_as_they_stand,
    plans::a_later_decision_stands,
    plans::statements_do_not_grow_with_targets,
    claims::concurrent_claimers_get_each_job_once,
    claims::tokens_rise_per_target,
    claims::the_queue_has_an_order,
    claims::a_job_that_ended_stays,
    claims::leases_end_after_grace,
    claims::results_are_kept_once,
    planning::work_is_claimed_once_and_fenced,
    planning::facts_that_move_void_a_pass,
    planning::claims_run_out_and_take_turns,
    wakes::commits_wake_and_rollbacks_do_not,
    wakes::answers_are_kept_for_a_day,
    people::skips_and_freezes_are_read,
    people::holds_come_and_go_with_plans,
    people::redeploys_wait_and_releases_open_again,
    people::a_version_is_looked_at_everywhere_while_it_is_open_anywhere,
    people::a_word_is_taken_back_and_readiness_is_kept,
    verifying::measurements_are_wanted_claimed_and_taken_once,
    verifying::verification_is_settled_once,
    verifying::a_place_in_a_rollout_never_moves,
    verifying::what_others_run_is_read_and_makes_due,
    schema::every_text_prepares,
}

mod postgres {
    #[test]
    fn contract() {
        let Some(cluster) = crate::engines::Cluster::start() else { return };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut failed = Vec::new();
        runtime.block_on(async {
            for (name, case) in crate::CASES {
                let bench = cluster.bench(name).await;
                // A task of its own, so that one case's panic leaves the others.
                if tokio::spawn(case(bench)).await.is_err() {
                    failed.push(*name);
                }
            }
            let bench = cluster.bench("schema").await;
            crate::cases::schema::tables_are_the_same(bench).await;
        });
        drop(runtime);
        drop(cluster);
        assert!(failed.is_empty(), "failed on PostgreSQL: {failed:?}");
    }
}

/// SQLite alone: one file, one process.
mod one_opener {
    use std::sync::Arc;

    use store::{Durability, Options, Store, StoreError, SystemClock};

    fn options(url: String) -> Options {
        Options { url, clock: Arc::new(SystemClock::new()), id_seed: 1, durability: Durability::Power }
    }

    #[tokio::test]
    async fn a_second_opener_is_told_who_is_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("sqlite:{}", folder.path().join("deep/down/tidegate.db").display());
        let first = Store::open(options(url.clone())).await.expect("folders are made");
        let error = Store::open(options(url.clone())).await.expect_err("the first has it");
        assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("tidegate.db` is in use by another process (lock file `"), "{text}");
        first.close().await;
        drop(first);
        Store::open(options(url)).await.expect("the first is gone");
    }

    #[tokio::test]
    async fn an_address_of_another_kind_is_refused() {
        for url in ["mysql://root:secret@db/x", "sqlite:", "sqlite::memory:"] {
            let error = Store::open(options(url.into())).await.expect_err(url).to_string();
            assert!(error.ends_with("(expected sqlite:PATH or postgres://HOST/NAME)"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[tokio::test]
    async fn what_a_dead_process_had_claimed_is_free_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bench = crate::engines::sqlite(folder.path()).await;
        crate::world::World::write(&bench.store, 0).await;
        let claim = async |store: &Store| {
            let mut tx = store.write("test.claim").await.expect("a transaction begins");
            let claims = store::planning::claim_due(&mut tx, 10, 60).await.expect("claims");
            tx.commit().await.expect("committed");
            claims.len()
        };
        assert_eq!(claim(&bench.store).await, 1);
        bench.store.close().await;
        drop(bench);
        let bench = crate::engines::sqlite(folder.path()).await;
        assert_eq!(claim(&bench.store).await, 1);
    }
}
