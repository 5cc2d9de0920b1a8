//! The stage and what stands on it: a database, an engine over it, dispatch over it, and the clock of them all.

use std::sync::Arc;

use dispatch::Dispatch;
use engine::{Engine, measures::Measures};
use model::{
    access::{Caller, Role},
    time::Timestamp,
    workspace::Workspace,
};
use semver::Version;
use store::{Durability, ManualClock, Options, Store};

use crate::SimulateError;

/// A policy that ships.
#[derive(Debug, Clone)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: Version,
    /// The component.
    pub bytes: &'static [u8],
}

/// What a scenario is played on.
#[derive(Clone)]
pub struct Stage {
    /// An empty database, such as `sqlite:PATH`.
    pub database_url: String,
    /// Runs the policies.
    pub host: plugins::Host,
    /// Policies that are there from the start.
    pub shipped: Vec<Shipped>,
}

/// A running system. It can die and be started again.
pub(crate) struct World {
    pub clock: Arc<ManualClock>,
    pub store: Store,
    pub engine: Engine,
    pub dispatch: Dispatch,
    pub workspace: Workspace,
    /// Questions asked before the last restart.
    evaluations_before: u64,
    stage: Stage,
    seed: u64,
}

impl World {
    pub async fn start(stage: Stage, start: Timestamp, seed: u64) -> Result<Self, SimulateError> {
        let clock = Arc::new(ManualClock::new(start));
        let (store, engine, dispatch) = open(&stage, &clock, seed).await?;
        let (workspace, _) = engine.create_workspace("default", "Default").await.map_err(SimulateError::Shipped)?;
        let world = Self { clock, store, engine, dispatch, workspace, evaluations_before: 0, stage, seed };
        let shipped = world.stage.shipped.iter().map(|plugin| (plugin.name, plugin.version.clone(), plugin.bytes));
        world.engine.install_shipped_plugins(world.workspace.id, shipped).await.map_err(SimulateError::Shipped)?;
        Ok(world)
    }

    /// The process dies and starts again: only what is in the database is left.
    pub async fn restart(self) -> Result<Self, SimulateError> {
        let evaluations_before = self.evaluations();
        let Self { clock, store, engine, dispatch, workspace, evaluations_before: _, stage, seed } = self;
        store.close().await;
        // The lock on the database is held until the last of them is gone.
        drop((store, engine, dispatch));
        // Ids made after a restart are others than before it.
        let seed = seed.wrapping_add(1);
        let (store, engine, dispatch) = open(&stage, &clock, seed).await?;
        Ok(Self { clock, store, engine, dispatch, workspace, evaluations_before, stage, seed })
    }

    pub fn now(&self) -> Timestamp {
        store::Clock::now(&*self.clock)
    }

    pub fn evaluations(&self) -> u64 {
        self.evaluations_before + self.engine.evaluations()
    }

    /// A person, or CI.
    pub fn caller(&self, user: &str, teams: &[String]) -> Caller {
        let mut teams = teams.to_vec();
        teams.sort_unstable();
        Caller { workspace: self.workspace.id, user: user.to_owned(), teams, role: Role::Admin, agent: None }
    }
}

async fn open(stage: &Stage, clock: &Arc<ManualClock>, seed: u64) -> Result<(Store, Engine, Dispatch), SimulateError> {
    let clock: Arc<dyn store::Clock> = Arc::<ManualClock>::clone(clock);
    // It is thrown away after the play, and only has to outlive a restart within it.
    let durability = Durability::Process;
    let options = Options { url: stage.database_url.clone(), clock, id_seed: seed, durability };
    let store = Store::open(options).await?;
    let engine = Engine::new(store.clone(), stage.host.clone()).with_measures(Measures::reported());
    let dispatch = Dispatch::new(store.clone());
    Ok((store, engine, dispatch))
}
