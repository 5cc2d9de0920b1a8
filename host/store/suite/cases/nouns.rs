//! What is written is what is read.

use model::{
    access::{ApiKey, Role},
    approval::{Approval, ApprovalDecision},
    id::{Uuid, WorkspaceId},
    plugin::{Digest, FactKinds, Hooks, Manifest, Plugin, Scope},
    version::VersionStatus,
};
use serde_json::json;
use store::Page;

use crate::{
    engines::{Bench, START},
    world::{World, resource, version},
};

pub async fn what_is_written_is_read(bench: Bench) {
    let world = World::write(&bench.store, 2).await;
    let ws = world.workspace;
    let mut tx = bench.store.read("test.read").await.expect("a transaction begins");
    let tx = &mut tx;
    assert_eq!(store::system::get(tx, ws, world.system.id).await.expect("reads"), Some(world.system.clone()));
    assert_eq!(store::system::by_name(tx, ws, "shop").await.expect("reads"), Some(world.system));
    assert_eq!(store::job_agent::by_name(tx, ws, "builder").await.expect("reads"), Some(world.agent.clone()));
    assert_eq!(store::job_agent::get(tx, ws, world.agent.id).await.expect("reads"), Some(world.agent));
    assert_eq!(store::environment::by_name(tx, ws, "prod").await.expect("reads"), Some(world.environment.clone()));
    assert_eq!(store::environment::all(tx, ws).await.expect("reads"), [world.environment]);
    assert_eq!(store::deployment::by_name(tx, ws, "site").await.expect("reads"), Some(world.deployment.clone()));
    assert_eq!(store::deployment::all(tx, ws).await.expect("reads"), std::slice::from_ref(&world.deployment));
    assert_eq!(store::resource::all(tx, ws).await.expect("reads"), world.resources);
    let first = &world.resources[0];
    assert_eq!(store::resource::by_identifier(tx, ws, "folder-0000").await.expect("reads").as_ref(), Some(first));
    assert_eq!(store::version::get(tx, ws, world.version.id).await.expect("reads"), Some(world.version.clone()));
    let by_tag = store::version::by_tag(tx, world.deployment.id, "v1").await.expect("reads");
    assert_eq!(by_tag, Some(world.version));
    assert_eq!(store::policy::by_name(tx, ws, "approve prod").await.expect("reads"), Some(world.policy.clone()));
    assert_eq!(store::policy::enabled(tx, ws).await.expect("reads"), [world.policy]);
    let other = WorkspaceId(Uuid::from_u128(1));
    assert_eq!(store::deployment::get(tx, other, world.deployment.id).await.expect("reads"), None, "another tenant");
    assert_eq!(store::workspace::by_slug(tx, "default").await.expect("reads").map(|it| it.id), Some(ws));
}

pub async fn changes_and_links_are_read(bench: Bench) {
    let mut world = World::write(&bench.store, 1).await;
    let ws = world.workspace;
    let mut tx = bench.store.write("test.change").await.expect("a transaction begins");
    world.environment.systems.clear();
    world.environment.name = "production".into();
    store::environment::update(&mut tx, &world.environment).await.expect("updates");
    world.deployment.job_agent = None;
    world.deployment.job_agent_config = json!({"z": "later", "a": "first"});
    store::deployment::update(&mut tx, &world.deployment).await.expect("updates");
    world.policy.rules.clear();
    world.policy.enabled = false;
    store::policy::update(&mut tx, &world.policy).await.expect("updates");
    store::version::set_status(&mut tx, world.version.id, VersionStatus::Paused).await.expect("updates");
    let missing = resource(Uuid::from_u128(5).into(), ws, 9, START);
    let error = store::resource::update(&mut tx, &missing).await.expect_err("it is not there");
    assert!(error.to_string().starts_with("no row in `resources` with id `00000000-"), "{error}");
    let plugin = plugin(&world, "1.2.3");
    store::plugin::insert(&mut tx, &plugin, b"\0asm").await.expect("inserts");
    let newer = Plugin { id: world.id().into(), version: "2.0.0-rc.1".parse().expect("a version"), ..plugin.clone() };
    store::plugin::insert(&mut tx, &newer, b"\0asm").await.expect("the same bytes are kept once");
    tx.commit().await.expect("committed");

    let mut tx = bench.store.read("test.read").await.expect("a transaction begins");
    let tx = &mut tx;
    assert_eq!(store::environment::all(tx, ws).await.expect("reads"), [world.environment]);
    assert!(store::environment::beside_deployment(tx, ws, world.deployment.id).await.expect("reads").is_empty());
    let read = store::deployment::get(tx, ws, world.deployment.id).await.expect("reads").expect("is there");
    assert_eq!(read, world.deployment);
    assert_eq!(read.job_agent_config.to_string(), r#"{"z":"later","a":"first"}"#, "keys keep their order");
    assert_eq!(store::policy::all(tx, ws).await.expect("reads"), [world.policy]);
    assert!(store::policy::enabled(tx, ws).await.expect("reads").is_empty());
    let version = store::version::get(tx, ws, world.version.id).await.expect("reads").expect("is there");
    assert_eq!(version.status, VersionStatus::Paused);
    assert_eq!(store::plugin::all(tx, ws).await.expect("reads"), [plugin.clone(), newer]);
    let found = store::plugin::by_version(tx, ws, "approval", &plugin.version).await.expect("reads");
    assert_eq!(found.as_ref(), Some(&plugin));
    assert_eq!(store::plugin::bytes(tx, plugin.digest).await.expect("reads").as_deref(), Some(&b"\0asm"[..]));
}

pub async fn lists_come_in_pages(bench: Bench) {
    let world = World::write(&bench.store, 7).await;
    let ws = world.workspace;
    let mut tx = bench.store.write("test.versions").await.expect("a transaction begins");
    // A creator's clock that runs ahead places a version no later than we saw it.
    let mut ahead = version(world.id().into(), &world.deployment, "ahead", START);
    ahead.created_at = START.plus_seconds(500);
    ahead.received_at = START.plus_seconds(1);
    let later = version(world.id().into(), &world.deployment, "later", START.plus_seconds(2));
    store::version::insert(&mut tx, &ahead).await.expect("inserts");
    store::version::insert(&mut tx, &later).await.expect("inserts");
    tx.commit().await.expect("committed");

    let mut tx = bench.store.read("test.read").await.expect("a transaction begins");
    let page = store::resource::list(&mut tx, ws, Page { limit: 3, offset: 6 }).await.expect("reads");
    assert_eq!((page.items.as_slice(), page.total), (&world.resources[6..], 7));
    let page = store::resource::list(&mut tx, ws, Page { limit: 3, offset: 60 }).await.expect("reads");
    assert_eq!((page.items.len(), page.total), (0, 7));
    let versions = store::version::list(&mut tx, ws, world.deployment.id, Page::FIRST).await.expect("reads");
    let tags: Vec<&str> = versions.items.iter().map(|version| version.tag.as_str()).collect();
    assert_eq!(tags, ["later", "ahead", "v1"]);
    let mut sorted = versions.items.clone();
    sorted.sort_by_key(|version| std::cmp::Reverse(version.age_key()));
    assert_eq!(sorted, versions.items, "as the model orders them");
}

pub async fn the_same_key_is_refused(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let mut tx = bench.store.write("test.twice").await.expect("a transaction begins");
    let again = version(world.id().into(), &world.deployment, "v1", START);
    let error = store::version::insert(&mut tx, &again).await.expect_err("the tag is taken");
    assert!(error.is_duplicate() && error.is_retryable(), "{error:?}");
    assert_eq!(error.to_string(), "statement `version.insert` failed");
}

pub async fn roles_are_those_of_today(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let ws = world.workspace;
    let key = |teams: &[&str], created: i64, expires: Option<i64>| ApiKey {
        id: world.id().into(),
        workspace: ws,
        user: "ann".into(),
        teams: teams.iter().map(|&team| team.to_owned()).collect(),
        role: Role::Approver,
        agent: None,
        created_at: START.plus_seconds(created),
        expires_at: expires.map(|seconds| START.plus_seconds(seconds)),
    };
    let approval = Approval {
        id: world.id().into(),
        workspace: ws,
        version: world.version.id,
        environment: world.environment.id,
        user: "ann".into(),
        roles_then: vec!["ops".into()],
        roles_now: vec![],
        decision: ApprovalDecision::Rejected,
        at: START,
        reason: "not now".into(),
    };
    let mut tx = bench.store.write("test.keys").await.expect("a transaction begins");
    let stood = store::approval::put(&mut tx, &approval).await.expect("puts");
    let read = store::approval::list_for_version(&mut tx, ws, world.version.id).await.expect("reads");
    assert_eq!(read[0].roles_now, ["ops"], "without a key: what was held then");
    let first = key(&["web", "ops"], 0, None);
    store::access::insert(&mut tx, &first, &[1; 32]).await.expect("inserts");
    store::access::insert(&mut tx, &key(&["late"], 5, Some(10)), &[2; 32]).await.expect("inserts");
    tx.commit().await.expect("committed");

    bench.clock.advance(std::time::Duration::from_secs(10));
    let mut tx = bench.store.write("test.again").await.expect("a transaction begins");
    let read = store::approval::list_for_version(&mut tx, ws, world.version.id).await.expect("reads");
    assert_eq!(read[0].roles_now, ["ops", "web"], "at exactly its end a key is over");
    let again = Approval { id: world.id().into(), decision: ApprovalDecision::Approved, ..approval };
    let put = store::approval::put(&mut tx, &again).await.expect("puts");
    assert_eq!((put.id, put.decision), (stood.id, ApprovalDecision::Approved), "one word per person");
    assert_eq!(store::approval::list_for_version(&mut tx, ws, world.version.id).await.expect("reads").len(), 1);
    let found = store::access::by_hash(&mut tx, &[1; 32]).await.expect("reads").expect("is there");
    assert_eq!((&found.key, found.last_used_at), (&first, None));
    store::access::touch(&mut tx, first.id).await.expect("touches");
    let found = store::access::by_hash(&mut tx, &[1; 32]).await.expect("reads").expect("is there");
    assert_eq!(found.last_used_at, Some(START.plus_seconds(10)));
}

pub async fn text_may_hold_anything(bench: Bench) {
    let world = World::write(&bench.store, 1).await;
    let mut tx = bench.store.write("test.text").await.expect("a transaction begins");
    let mut odd = resource(world.id().into(), world.workspace, 5, START);
    odd.name = "a\0b \u{1F600} '; --".into();
    odd.config = json!({"nul": "\0", "quote": "'\"\\"});
    store::resource::insert(&mut tx, &odd).await.expect("inserts");
    let read = store::resource::get(&mut tx, world.workspace, odd.id).await.expect("reads").expect("is there");
    assert_eq!(read.name, "a\u{fffd}b \u{1F600} '; --", "PostgreSQL has no NUL in text");
    assert_eq!(read.config, odd.config);
    assert_eq!(store::resource::by_identifier(&mut tx, world.workspace, "a\0b").await.expect("reads"), None);
}

fn plugin(world: &World, version: &str) -> Plugin {
    Plugin {
        id: world.id().into(),
        workspace: world.workspace,
        name: "approval".into(),
        version: version.parse().expect("a version"),
        digest: Digest([9; 32]),
        manifest: Manifest {
            name: "approval".into(),
            summary: "asks people".into(),
            hooks: Hooks { gate: true, verify: true, ..Hooks::default() },
            scope: Scope::Environment,
            facts: FactKinds { approvals: true, rollout_position: true, ..FactKinds::default() },
            config_schema: json!({"type": "object"}),
        },
        created_at: START,
    }
}
