//! Holds the planner's conversation: puts its questions to plugins until it has a plan.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::atomic::Ordering,
};

use model::{
    plugin::{Digest, Fault},
    question::{Answer, Question},
    snapshot::Snapshot,
    time::Timestamp,
};
use planner::{Outcome, Pass, Turn};
use plugins::Session;

use crate::Engine;

impl Engine {
    /// Plans over a snapshot. Each pass has a session of its own: no instance outlives it.
    pub(crate) async fn converse(&self, snapshot: Snapshot, now: Timestamp, seed: u64) -> Outcome {
        let mut session = self.host.session();
        let mut unfit = BTreeMap::new();
        let mut turn = Pass::start(snapshot, now, seed);
        loop {
            match turn {
                Turn::Done(outcome) => return *outcome,
                Turn::Ask(pass, questions) => {
                    let answers = self.ask(&mut session, &mut unfit, questions).await;
                    turn = pass.answer(answers);
                }
            }
        }
    }

    /// One answer for each question, in order. A component that cannot be loaded answers with that fault.
    async fn ask(
        &self,
        session: &mut Session,
        unfit: &mut BTreeMap<Digest, Option<Fault>>,
        questions: Vec<Question>,
    ) -> Vec<Answer> {
        for question in &questions {
            if let Entry::Vacant(unknown) = unfit.entry(question.digest) {
                unknown.insert(self.load(question.digest).await.err());
            }
        }
        let fault_of = |question: &Question| unfit.get(&question.digest).cloned().flatten();
        let faults: Vec<Option<Fault>> = questions.iter().map(fault_of).collect();
        let fit = questions.into_iter().zip(&faults).filter(|(_, fault)| fault.is_none());
        self.evaluations.fetch_add(u64::try_from(faults.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let mut answered = session.ask(fit.map(|(question, _)| question).collect()).await.into_iter();
        faults
            .into_iter()
            .map(|fault| match fault {
                Some(fault) => Answer::Fault(fault),
                None => answered.next().expect("a session answers every question it is asked"),
            })
            .collect()
    }
}
