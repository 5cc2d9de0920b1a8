//! Whatever happens, in whatever order: every plan is sound, the world comes to rest, and every target is explained.

use std::{cell::Cell, rc::Rc};

use model::{
    decision::Verdict,
    job_state::{FinalStatus, JobStatus, Lease},
    plugin::Scope,
    policy::OnError,
    report::Standing,
    version::VersionStatus,
};
use proptest::prelude::*;

use crate::{
    policies::{Native, Switch, allow, answer, approval, at_most, deny, gate, newest_first, retry_after, trap, wait},
    world::{Draft, World, rule},
};

/// Something that happens between two passes. Numbers choose among what there is, by remainder.
#[derive(Debug, Clone)]
enum Happening {
    Version {
        minutes_ago: u8,
    },
    Status {
        version: u8,
        status: u8,
    },
    Claim {
        job: u8,
        acknowledged: bool,
    },
    End {
        job: u8,
        status: u8,
    },
    Gate {
        version: u8,
        verdict: u8,
    },
    Approve {
        version: u8,
        yes: bool,
    },
    Resource {
        stage: u8,
        labelled: bool,
    },
    Remove {
        resource: u8,
    },
    Selector {
        which: u8,
        text: u8,
    },
    Disable {
        policy: u8,
    },
    Agent,
    Time {
        seconds: u16,
    },
    /// A pass was made and lost before it was written.
    LostPass,
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening::{
        Agent, Approve, Claim, Disable, End, Gate, LostPass, Remove, Resource, Selector, Status, Time, Version,
    };
    prop_oneof![
        3 => any::<u8>().prop_map(|back| Version { minutes_ago: back % 4 }),
        2 => any::<(u8, u8)>().prop_map(|(version, status)| Status { version, status }),
        4 => any::<(u8, bool)>().prop_map(|(job, acknowledged)| Claim { job, acknowledged }),
        6 => any::<(u8, u8)>().prop_map(|(job, status)| End { job, status }),
        3 => any::<(u8, u8)>().prop_map(|(version, verdict)| Gate { version, verdict }),
        2 => any::<(u8, bool)>().prop_map(|(version, yes)| Approve { version, yes }),
        1 => any::<(u8, bool)>().prop_map(|(stage, labelled)| Resource { stage, labelled }),
        1 => any::<u8>().prop_map(|resource| Remove { resource }),
        1 => any::<(u8, u8)>().prop_map(|(which, text)| Selector { which, text }),
        1 => any::<u8>().prop_map(|policy| Disable { policy }),
        1 => Just(Agent),
        3 => any::<u16>().prop_map(|seconds| Time { seconds: seconds % 200 }),
        1 => Just(LostPass),
    ]
}

const SELECTORS: [&str; 5] =
    ["true", "false", "resource.metadata.stage == 'prod'", "resource.identifier != 'r1'", "resource."];

struct Stage {
    world: World,
    gate: Switch,
    window: Rc<Cell<bool>>,
    agent: Option<model::job_agent::JobAgent>,
    resources: usize,
}

impl Stage {
    fn new(sequence: u8, wide: bool) -> Self {
        let mut world = World::new();
        let gate_switch = Switch::default();
        let window = Rc::new(Cell::new(true));
        world.environment("prod", "resource.metadata.stage == 'prod'");
        world.environment("staging", "resource.metadata.stage == 'staging'");
        world.upload(gate_switch.gate("gate"));
        world.upload(approval(1));
        world.upload(retry_after(2, 60));
        let open = Rc::clone(&window);
        world.upload(Native {
            scope: Scope::Environment,
            ..gate("window", move |_| match open.get() {
                true => allow("open"),
                false => wait(None, "closed"),
            })
        });
        let scope = if wide { Scope::Environment } else { Scope::Target };
        match sequence % 3 {
            0 => {}
            1 => world.govern(at_most(2, scope)),
            _ => world.govern(Native { scope: Scope::Target, ..newest_first() }),
        }
        let open_rule = Draft { on_error: OnError::Allow, ..rule("gate") };
        world.policy("all", "true", 1, &[rule("gate"), rule("retry"), rule("window")]);
        world.policy("prod", "environment.name == 'prod'", 5, &[rule("approval")]);
        world.policy("labelled", "resource.metadata.label == 'yes'", 0, &[Draft { scope: Some(scope), ..open_rule }]);
        let agent = world.agent.clone();
        Self { world, gate: gate_switch, window, agent, resources: 0 }
    }

    fn resource(&mut self, stage: u8, labelled: bool) {
        self.resources += 1;
        let stage = ["prod", "staging", "nowhere"][usize::from(stage % 3)];
        let name = format!("r{}", self.resources);
        match labelled {
            true => self.world.resource(&name, &[("stage", stage), ("label", "yes")]),
            false => self.world.resource(&name, &[("stage", stage)]),
        }
    }

    fn tag(&self, number: u8) -> Option<String> {
        let count = self.world.versions.len();
        (count > 0).then(|| self.world.versions[usize::from(number) % count].tag.clone())
    }

    fn happens(&mut self, happening: &Happening) {
        let now = self.world.now;
        match *happening {
            Happening::Version { minutes_ago } => {
                let tag = format!("v{}", self.world.versions.len() + 1);
                self.world.version_at(&tag, now.plus_seconds(-60 * i64::from(minutes_ago)));
            }
            Happening::Status { version, status } => {
                let status = VersionStatus::ALL[usize::from(status) % VersionStatus::ALL.len()];
                if let Some(tag) = self.tag(version) {
                    self.world.status(&tag, status);
                }
            }
            Happening::Claim { job, acknowledged } => self.claim(job, acknowledged),
            Happening::End { job, status } => self.end(job, status),
            Happening::Gate { version, verdict } => {
                let mut until = answer(Verdict::Allow, "for a while");
                until.valid_until = Some(now.plus_seconds(90));
                let said = match verdict % 6 {
                    0 => deny("no"),
                    1 => wait(None, "later"),
                    2 => wait(Some(now.plus_seconds(90)), "soon"),
                    3 => trap(),
                    4 => model::question::Answer::Gate(until),
                    _ => allow("yes"),
                };
                if let Some(tag) = self.tag(version) {
                    self.gate.set(&tag, said);
                }
            }
            Happening::Approve { version, yes } => {
                use model::approval::ApprovalDecision::{Approved, Rejected};
                if let Some(tag) = self.tag(version) {
                    self.world.say(&tag, "prod", "ada", if yes { Approved } else { Rejected });
                }
            }
            Happening::Resource { stage, labelled } => self.resource(stage, labelled),
            Happening::Remove { resource } => {
                let count = self.world.resources.len();
                if count > 0 {
                    self.world.resources.remove(usize::from(resource) % count);
                }
            }
            Happening::Selector { which, text } => {
                let text = SELECTORS[usize::from(text) % SELECTORS.len()].to_owned();
                match which % 3 {
                    0 => self.world.deployment.resource_selector = text,
                    1 => self.world.environments[0].resource_selector = text,
                    _ => self.world.policies[0].selector = text,
                }
            }
            Happening::Disable { policy } => {
                let count = self.world.policies.len();
                let policy = &mut self.world.policies[usize::from(policy) % count];
                policy.enabled = !policy.enabled;
                self.window.set(!self.window.get());
            }
            Happening::Agent => {
                self.world.agent = match self.world.agent {
                    Some(_) => None,
                    None => self.agent.clone(),
                };
            }
            Happening::Time { seconds } => self.world.advance(i64::from(seconds)),
            Happening::LostPass => {
                let _outcome = self.world.look();
            }
        }
    }

    fn claim(&mut self, number: u8, acknowledged: bool) {
        let now = self.world.now;
        let token = self.world.next_token();
        let free = |job: &&mut model::job::Job| job.state.status() == JobStatus::Queued;
        let mut queued: Vec<_> = self.world.jobs.iter_mut().filter(free).collect();
        let count = queued.len();
        if count == 0 {
            return;
        }
        let job = &mut queued[usize::from(number) % count];
        let lease = Lease { token, holder: "n1".into(), since: now, until: now };
        let claimed = job.state.claim(lease).unwrap_or_else(|_| job.state.clone());
        job.state = match acknowledged {
            true => claimed.acknowledge(now, now.plus_seconds(60)).expect("it was offered"),
            false => claimed,
        };
    }

    fn end(&mut self, number: u8, status: u8) {
        let status = [
            FinalStatus::Completed,
            FinalStatus::Completed,
            FinalStatus::Failed,
            FinalStatus::InvalidIntegration,
            FinalStatus::Cancelled,
        ][usize::from(status) % 5];
        let now = self.world.now;
        let mut running: Vec<_> = self.world.jobs.iter_mut().filter(|job| job.state.started_at().is_some()).collect();
        running.retain(|job| job.state.ended_at().is_none());
        let count = running.len();
        if count > 0 {
            let job = &mut running[usize::from(number) % count];
            job.state = job.state.end(status, now).expect("it runs");
        }
    }

    /// Nothing is in the way any more.
    fn clear(&mut self) {
        for version in &self.world.versions {
            self.gate.set(&version.tag, allow("yes"));
        }
        self.world.agent = self.agent.clone();
        self.world.deployment.resource_selector = "true".to_owned();
        self.world.environments[0].resource_selector = "resource.metadata.stage == 'prod'".to_owned();
        self.world.policies.clear();
        self.world.policy("again", "true", 0, &[rule("retry")]);
        self.world.advance(86_400);
    }
}

/// Enough for every build; a longer run sets `PROPTEST_CASES`.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(64), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_plan_is_sound_and_every_target_explained(
        sequence in any::<u8>(),
        wide in any::<bool>(),
        places in proptest::collection::vec(any::<(u8, bool)>(), 1..5),
        happenings in proptest::collection::vec((happening(), any::<bool>()), 1..30),
    ) {
        let mut stage = Stage::new(sequence, wide);
        places.iter().for_each(|(place, labelled)| stage.resource(*place, *labelled));
        stage.world.version("v1");
        for (happening, rests) in &happenings {
            stage.happens(happening);
            // Things also happen between the passes of one unrest.
            if *rests {
                stage.world.settle();
            } else {
                let _outcome = stage.world.pass();
            }
        }
        stage.clear();
        let report = stage.world.finish_all().clone();
        for line in &report.targets {
            let state = &stage.world.targets[&line.target.key];
            match line.standing {
                Standing::Detached => prop_assert!(!state.attached),
                Standing::UpToDate => prop_assert_eq!(state.desired, state.current),
                Standing::Failed | Standing::NoVersion => {}
                Standing::Deploying
                | Standing::Verifying
                | Standing::Blocked
                | Standing::Held
                | Standing::Waiting
                | Standing::NoAgent => {
                    prop_assert!(false, "nothing is in the way, and {} is {:?}: {}", line.target.path(), line.standing, line.reason);
                }
            }
        }
        // What has ended stays, and no target had two jobs at once.
        for job in &stage.world.jobs {
            prop_assert!(job.state.ended_at().is_some());
        }
    }
}
