//! Two agents at once: each job once.

use std::{collections::BTreeMap, time::Duration};

use model::job_state::JobStatus;

use crate::bench::Bench;

const JOBS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_share_two_hundred_jobs() {
    let bench = std::sync::Arc::new(Bench::new(JOBS).await);
    let nodes: Vec<_> = ["left", "right"]
        .into_iter()
        .map(|node| {
            let bench = std::sync::Arc::clone(&bench);
            tokio::spawn(async move {
                let mut done = Vec::new();
                loop {
                    let offers = bench.next(node, 5).await;
                    if offers.is_empty() {
                        return done;
                    }
                    for offer in offers {
                        bench.say(&offer, JobStatus::InProgress, "").await.expect("acknowledged");
                        bench.say(&offer, JobStatus::Completed, node).await.expect("done");
                        done.push(offer.job.job.id);
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
        })
        .collect();
    let mut times = BTreeMap::new();
    for node in nodes {
        let done = node.await.expect("no node fails");
        assert!(!done.is_empty(), "both got some");
        for job in done {
            *times.entry(job).or_insert(0) += 1;
        }
    }
    assert_eq!(times.len(), JOBS);
    assert!(times.values().all(|times| *times == 1), "none twice");
    for job in &bench.jobs {
        assert_eq!(bench.state(job).await.status(), JobStatus::Completed);
    }
    let one = &bench.jobs[17];
    assert_eq!(bench.results(one).await.iter().filter(|it| it.accepted).count(), 1);
    assert_eq!(bench.kinds(one).await, ["job_offered", "job_started", "job_ended"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_name_one_job_one_gets_it() {
    let bench = std::sync::Arc::new(Bench::new(1).await);
    let nodes: Vec<_> = (0..8)
        .map(|n| {
            let bench = std::sync::Arc::clone(&bench);
            tokio::spawn(async move {
                let node = format!("n{n}");
                bench.dispatch.claim(&bench.caller, bench.world.agent.id, bench.jobs[0].id, &node).await
            })
        })
        .collect();
    let mut won = 0;
    for node in nodes {
        match node.await.expect("no node fails") {
            Ok(_) => won += 1,
            Err(dispatch::ClaimError::NotFree { status: JobStatus::Queued, holder: Some(_) }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(won, 1);
}
