//! The discrete-event loop: the clock goes to the next instant at which anything is due, and everything of that
//! instant is worked off before the clock moves again.

use manifest::scenario::{Action, Scenario, Step};
use model::{
    event::EventKind,
    time::{Timestamp, earliest},
};

use crate::{
    SimulateError, actions,
    agent::Agents,
    expectations::{self, Reports, Seen},
    line::{Line, Summary},
    names::Names,
    world::{Stage, World},
};

/// Events read at once.
const EVENTS_MAX: u32 = 1000;

/// Plays a scenario on a stage and hands out its lines as they come.
///
/// # Errors
///
/// When a step asks for what is not there, or the database fails.
pub async fn play(scenario: &Scenario, stage: Stage, lines: &mut dyn FnMut(Line)) -> Result<Summary, SimulateError> {
    let world = World::start(stage, scenario.start, scenario.seed).await?;
    let mut play = Play {
        scenario,
        agents: Agents::default(),
        names: Names::default(),
        seen: Seen::default(),
        position: 0,
        settled_at: None,
        reports: Reports::default(),
        summary: Summary::default(),
        lines,
    };
    let mut world = world;
    // What stands at the start is no part of what happens.
    play.read_events(&world, false).await?;
    world.engine.apply(&world.caller("scenario", &[]), &scenario.apply, false).await.map_err(SimulateError::Apply)?;
    for step in &scenario.steps {
        play.run_until(&world, step.at).await?;
        world = play.step(world, step).await?;
    }
    play.run_until(&world, scenario.until).await?;
    play.summary.evaluations = world.evaluations();
    let summary = play.summary;
    (play.lines)(Line::Summary(summary));
    Ok(summary)
}

struct Play<'a> {
    scenario: &'a Scenario,
    agents: Agents,
    names: Names,
    seen: Seen,
    position: i64,
    /// When everything was last worked off; nothing when something happened since.
    settled_at: Option<Timestamp>,
    reports: Reports,
    summary: Summary,
    lines: &'a mut dyn FnMut(Line),
}

impl Play<'_> {
    /// Lets time pass up to and including `end`.
    async fn run_until(&mut self, world: &World, end: Timestamp) -> Result<(), SimulateError> {
        if self.settled_at.is_none() {
            world.dispatch.sweep().await?;
            self.settle(world).await?;
        }
        while self.settled_at != Some(end) {
            let (_, swept) = world.dispatch.sweep().await?;
            let planned = world.engine.next_due_at().await?;
            let measured = world.engine.next_measurement_due_at().await?;
            let due = earliest(earliest(swept, planned), earliest(measured, self.agents.next_due_at()));
            let due = due.filter(|due| *due <= end).unwrap_or(end);
            world.clock.set(due);
            if swept.is_some_and(|swept| swept <= due) {
                world.dispatch.sweep().await?;
                self.agents.look();
            }
            if measured.is_some_and(|measured| measured <= due) {
                world.engine.settle_measuring().await?;
            }
            self.settle(world).await?;
        }
        Ok(())
    }

    /// Works everything off that the present instant brings; what time alone ends was swept before.
    async fn settle(&mut self, world: &World) -> Result<(), SimulateError> {
        self.reports.forget();
        loop {
            world.engine.settle().await?;
            self.read_events(world, true).await?;
            let worked = self.agents.work(world, &self.scenario.agent).await?;
            // What was just deployed may be to be measured at once.
            let measures = world.engine.next_measurement_due_at().await?.is_some_and(|due| due <= world.now());
            if measures {
                world.engine.settle_measuring().await?;
            }
            if !worked && !measures {
                break;
            }
        }
        self.settled_at = Some(world.now());
        Ok(())
    }

    async fn step(&mut self, world: World, step: &Step) -> Result<World, SimulateError> {
        match &step.action {
            Action::Restart => {
                self.happened();
                return world.restart().await;
            }
            Action::Expect(expectation) => {
                let found = expectations::check(&world, &mut self.reports, &self.seen, expectation, step.line).await?;
                self.summary.expectations += 1;
                self.summary.failed += u64::from(!found.1.is_empty());
                let (target, faults) = found;
                (self.lines)(Line::Expectation { at: step.at, line: step.line, target, faults });
            }
            action => {
                self.happened();
                actions::perform(&world, action, step.line).await?;
            }
        }
        Ok(world)
    }

    fn happened(&mut self) {
        self.settled_at = None;
        self.agents.forget();
    }

    async fn read_events(&mut self, world: &World, tell: bool) -> Result<(), SimulateError> {
        loop {
            let mut tx = world.store.read("simulate.events").await?;
            let events = store::event::after(&mut tx, world.workspace.id, self.position, EVENTS_MAX).await?;
            self.position = events.last().map_or(self.position, |last| last.position);
            for event in &events {
                if !tell {
                    continue;
                }
                self.names.learn(&mut tx, world.workspace.id, event).await?;
                let subject = &event.event.subject;
                let target = self.names.target(subject);
                let kind = event.event.kind;
                self.summary.decisions += u64::from(kind == EventKind::DecisionChanged);
                self.summary.jobs += u64::from(kind == EventKind::JobCreated);
                self.seen.note(target.as_deref(), kind);
                if matches!(kind, EventKind::JobCreated | EventKind::JobOfferLapsed) {
                    self.agents.look();
                }
                (self.lines)(Line::Event {
                    at: event.at,
                    seq: self.seen.count(),
                    kind: kind.name(),
                    actor: event.event.actor.text(),
                    version: self.names.version(subject),
                    target,
                    data: event.event.data.clone(),
                });
            }
            if events.len() < EVENTS_MAX as usize {
                return Ok(());
            }
        }
    }
}
