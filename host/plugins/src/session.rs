//! One planning pass: its questions, and the instances that answer them.

use std::{collections::HashMap, sync::Arc};

use model::{
    plugin::{Digest, Fault},
    question::{Answer, Question},
};
use tokio::sync::oneshot;

use crate::{
    Host,
    host::{Shared, lost, not_loaded, overloaded},
    instance::Live,
    load::Loaded,
};

/// Asks policies. A component's instance is reused within the session and thrown away after any fault, so that the
/// next question meets a fresh one. Dropping the session drops its instances.
pub struct Session {
    host: Host,
    instances: HashMap<Digest, Live>,
}

/// Questions to one component, with their places among all.
struct Batch {
    loaded: Arc<Loaded>,
    live: Option<Live>,
    questions: Vec<(usize, Question)>,
}

/// What became of a batch.
struct Answered {
    live: Option<Live>,
    answers: Vec<(usize, Answer)>,
}

impl Session {
    pub(crate) fn new(host: Host) -> Self {
        Self { host, instances: HashMap::new() }
    }

    /// Answers in the order of the questions, one each. Components are asked side by side, the questions to one of
    /// them one after another; a fault stays with its question.
    pub async fn ask(&mut self, questions: Vec<Question>) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = Vec::new();
        answers.resize_with(questions.len(), || None);
        let mut by_component: Vec<(Digest, Vec<(usize, Question)>)> = Vec::new();
        let mut batch_of: HashMap<Digest, usize> = HashMap::new();
        for (place, question) in questions.into_iter().enumerate() {
            let batch = *batch_of.entry(question.digest).or_insert_with(|| {
                by_component.push((question.digest, Vec::new()));
                by_component.len() - 1
            });
            by_component[batch].1.push((place, question));
        }

        let mut waiting = Vec::new();
        for (digest, questions) in by_component {
            let places: Vec<usize> = questions.iter().map(|(place, _)| *place).collect();
            match self.submit(digest, questions) {
                Ok(receiver) => waiting.push((digest, places, receiver)),
                Err(fault) => fill(&mut answers, &places, &fault),
            }
        }
        for (digest, places, receiver) in waiting {
            match receiver.await {
                Ok(answered) => {
                    if let Some(live) = answered.live {
                        self.instances.insert(digest, live);
                    }
                    for (place, answer) in answered.answers {
                        answers[place] = Some(answer);
                    }
                }
                Err(_) => fill(&mut answers, &places, &lost()),
            }
        }
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Answer::Fault(lost()))).collect()
    }

    fn submit(
        &mut self,
        digest: Digest,
        questions: Vec<(usize, Question)>,
    ) -> Result<oneshot::Receiver<Answered>, Fault> {
        let loaded = self.host.loaded(digest).ok_or_else(|| not_loaded(digest))?;
        let batch = Batch { loaded, live: self.instances.remove(&digest), questions };
        let shared = Arc::clone(self.host.shared());
        let (sender, receiver) = oneshot::channel();
        // If nobody waits any more, the pass was given up, and its instances with it.
        let job = move || drop(sender.send(batch.answer(&shared)));
        self.host.shared().workers.submit(job).map_err(|_| overloaded())?;
        Ok(receiver)
    }
}

impl Batch {
    /// On a worker.
    fn answer(self, shared: &Arc<Shared>) -> Answered {
        let Self { loaded, mut live, questions } = self;
        let answers = questions
            .into_iter()
            .map(|(place, question)| (place, answer_one(shared, &loaded, &mut live, &question)))
            .collect();
        Answered { live, answers }
    }
}

/// With the instance at hand or a fresh one. After a fault there is none at hand: nothing survives.
fn answer_one(shared: &Arc<Shared>, loaded: &Loaded, live: &mut Option<Live>, question: &Question) -> Answer {
    let started = match live.take() {
        Some(live) => Ok(live),
        None => Live::start(shared, loaded, question.now),
    };
    let result = started.and_then(|mut started| {
        let answer = started.answer(question)?;
        *live = Some(started);
        Ok(answer)
    });
    result.unwrap_or_else(Answer::Fault)
}

fn fill(answers: &mut [Option<Answer>], places: &[usize], fault: &Fault) {
    for place in places {
        answers[*place] = Some(Answer::Fault(fault.clone()));
    }
}
