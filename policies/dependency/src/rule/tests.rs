//! `ask` is the only code that calls the rule.

use proptest::prelude::{prop_assert_eq, proptest};
use tidegate_policy::{Deployment, Environment, gate::Verdict};

use super::*;

const CEL: Cel = Cel { evaluate: selectors::evaluate_json, check: selectors::check };
const DB_2: &str = "deployment.name == 'db' && version.tag.startsWith('v2')";

/// `db=v1` runs v1, `db` runs nothing.
fn other(text: &str) -> Dependency {
    let (name, tag) = text.split_once('=').map_or((text, None), |(name, tag)| (name, Some(tag)));
    let labels = if name == "db" { vec![("team".to_owned(), "data".to_owned())] } else { Vec::new() };
    Dependency {
        deployment: Deployment { id: format!("id-{name}"), name: name.to_owned(), labels },
        environment: Environment { id: "e".into(), name: "prod".into(), labels: Vec::new() },
        current: tag.map(|tag| Version {
            id: format!("id-{tag}"),
            tag: tag.to_owned(),
            name: String::new(),
            created_at: 0,
            received_at: 0,
            created_by: None,
            labels: Vec::new(),
            config: "{}".into(),
        }),
    }
}

fn ask(depends_on: &str, others: &[&str]) -> Result<Decision, String> {
    let asset = Asset {
        id: "r".into(),
        identifier: "c1".into(),
        name: "c1".into(),
        kind: "Cluster".into(),
        version: "v1".into(),
        labels: vec![("region".into(), "eu".into())],
        config: "{}".into(),
    };
    let others: Vec<Dependency> = others.iter().map(|text| other(text)).collect();
    decide(&Config { depends_on: depends_on.to_owned() }, &CEL, &asset, &others)
}

fn check(depends_on: &str, others: &[&str], verdict: &Verdict, reason: &str) {
    let decision = ask(depends_on, others).expect("an answer");
    assert_eq!((&decision.verdict, decision.reason.as_str()), (verdict, reason), "{others:?}");
}

const WAIT: Verdict = Verdict::Wait(None);

#[test]
fn what_is_needed_must_run_there() {
    let must = format!("`{DB_2}` must become true of what else runs on c1:");
    check(DB_2, &["db=v2.1"], &Verdict::Allow, &format!("db runs v2.1 on c1, of which `{DB_2}` is true"));
    check(DB_2, &["db"], &WAIT, &format!("{must} db runs nothing yet (prod)"));
    check(DB_2, &["db=v1"], &WAIT, &format!("{must} db runs v1 (prod)"));
    let nothing = format!("no other deployment goes to c1; one of which `{DB_2}` is true must run there first");
    check(DB_2, &[], &WAIT, &nothing);
    check(DB_2, &["web=v2", "db=v1"], &WAIT, &format!("{must} db runs v1 (prod), web runs v2 (prod)"));
    let many = "`false` must become true of what else runs on c1: a runs v1 (prod), b runs v1 (prod), c runs v1 \
                (prod), d runs v1 (prod), e runs v1 (prod), 2 more";
    check("false", &["g=v1", "f=v1", "e=v1", "d=v1", "c=v1", "b=v1", "a=v1"], &WAIT, many);
}

#[test]
fn the_condition_sees_all_of_the_other() {
    let all = "environment.name == 'prod' && resource.metadata.region == 'eu' && version.id == 'id-v1'";
    check(all, &["web=v1"], &Verdict::Allow, &format!("web runs v1 on c1, of which `{all}` is true"));
}

#[test]
fn a_key_that_only_some_have_is_no_match_for_the_others() {
    let data = "deployment.metadata['team'] == 'data'";
    check(data, &["cache=v1", "db=v1"], &Verdict::Allow, &format!("db runs v1 on c1, of which `{data}` is true"));
    let ops = "deployment.metadata['team'] == 'ops'";
    let must = format!("`{ops}` must become true of what else runs on c1: cache runs v1 (prod), db runs v1 (prod)");
    check(ops, &["cache=v1", "db=v1"], &WAIT, &must);
    // Nothing has an answer: that is no waiting for a release, the condition is wrong.
    assert!(ask(data, &["cache=v1", "web=v1"]).expect_err("no answer").contains("there is no `team`"));
    assert!(ask("deployment.name", &["db=v1"]).expect_err("no condition").contains("expected true or false"));
    assert_eq!(ask(data, &["cache"]).expect("nothing was asked of it").verdict, WAIT);
}

proptest! {
    #[test]
    fn the_order_of_the_facts_changes_nothing(names in proptest::collection::vec(0_usize..5, 0..6)) {
        let all = ["db=v1", "db=v2", "web=v2", "db", "cache=v1"];
        let mut others: Vec<&str> = names.iter().map(|index| all[*index]).collect();
        others.sort_unstable();
        others.dedup_by_key(|text| text.split('=').next().map(str::to_owned));
        let forwards = ask(DB_2, &others);
        others.reverse();
        prop_assert_eq!(forwards, ask(DB_2, &others));
    }
}
