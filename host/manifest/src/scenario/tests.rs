//! What scenario files say, by table.

use model::time::Timestamp;
use serde_json::json;

use super::*;

const START: &str = "2026-03-02T08:00:00Z";

fn instant(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

/// The action of a step an hour after the start.
fn action(written: &str) -> Result<Action, String> {
    let text = format!("start: {START}\nsteps:\n  - at: 1h\n    {written}\n");
    let parsed = parse("x.yaml", &text).map(|mut scenario| scenario.steps.remove(0).action);
    parsed.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn by(user: &str, reason: &str) -> By {
    By { user: user.to_owned(), reason: reason.to_owned() }
}

fn check(table: &[(&str, Action)]) {
    for (written, expected) in table {
        assert_eq!(action(written).as_ref(), Ok(expected), "{written}");
    }
}

const TARGET: &str = "api/prod/c1";

#[test]
fn what_people_bypass_and_take_back() {
    let bypass = |rule, version: Option<&str>, reach| Bypass {
        bypassed: Bypassed::Rule { policy: "eyes".into(), rule },
        deployment: "api".into(),
        version: version.map(str::to_owned),
        reach,
    };
    let label = || RuleName::Label("anyApproval".into());
    let target = || TARGET.to_owned();
    check(&[
        ("delete: {type: Policy, name: eyes}", Action::Delete { what: Deletable::Policy, name: "eyes".into() }),
        ("delete: {type: Freeze, name: sale}", Action::Delete { what: Deletable::Freeze, name: "sale".into() }),
        (
            "revoke: {deployment: api, version: v1, environment: prod, user: alice}",
            Action::Revoke(Word {
                deployment: "api".into(),
                version: "v1".into(),
                environment: "prod".into(),
                user: "alice".into(),
                roles: Vec::new(),
                reason: String::new(),
            }),
        ),
        (
            "skip: {policy: eyes, rule: anyApproval, target: api/prod/c1, version: v1, user: bo, reason: fix, expires: 2h}",
            Action::Skip {
                bypass: bypass(label(), Some("v1"), Reach::Target(target())),
                by: by("bo", "fix"),
                expires: Some(instant("2026-03-02T10:00:00Z")),
            },
        ),
        (
            "skip: {policy: eyes, rule: 1, deployment: api, version: v1, environment: prod}",
            Action::Skip {
                bypass: bypass(RuleName::Position(1), Some("v1"), Reach::Environment("prod".into())),
                by: by("scenario", ""),
                expires: None,
            },
        ),
        (
            "skip: {freeze: sale, deployment: api, version: v1}",
            Action::Skip {
                bypass: Bypass {
                    bypassed: Bypassed::Freeze("sale".into()),
                    ..bypass(RuleName::Position(0), Some("v1"), Reach::Deployment)
                },
                by: by("scenario", ""),
                expires: None,
            },
        ),
        (
            "unskip: {policy: eyes, rule: anyApproval, deployment: api}",
            Action::Unskip { bypass: bypass(label(), None, Reach::Deployment), by: by("scenario", "") },
        ),
    ]);
}

#[test]
fn what_people_do_with_targets_and_freezes() {
    let target = || TARGET.to_owned();
    let frozen = |start: Option<&str>, end: Option<&str>, reason: &str| model::wanted::WantedFreeze {
        name: "sale".into(),
        selector: "true".into(),
        start: start.map(instant),
        end: end.map(instant),
        reason: reason.to_owned(),
    };
    check(&[
        (
            "cancel: {target: api/prod/c1}",
            Action::Cancel { cancelled: Cancelled::LatestJob { target: target() }, by: by("scenario", "") },
        ),
        (
            "cancel: {release: {target: api/prod/c1, version: v1}, user: bo, reason: bad}",
            Action::Cancel {
                cancelled: Cancelled::Release { target: target(), version: "v1".into() },
                by: by("bo", "bad"),
            },
        ),
        (
            "redeploy: {target: api/prod/c1}",
            Action::Redeploy { target: target(), version: None, by: by("scenario", "") },
        ),
        (
            "rollback: {target: api/prod/c1, version: v1, user: bo}",
            Action::Rollback { target: target(), version: Some("v1".into()), by: by("bo", "") },
        ),
        ("resume: {target: api/prod/c1}", Action::Resume { target: target(), by: by("scenario", "") }),
        (
            "freeze: {name: sale}",
            Action::Freeze { freeze: frozen(None, None, "the scenario freezes"), user: "scenario".into() },
        ),
        (
            "freeze: {name: sale, for: 30m, reason: black friday, user: bo}",
            Action::Freeze { freeze: frozen(None, Some("2026-03-02T09:30:00Z"), "black friday"), user: "bo".into() },
        ),
        (
            "freeze: {name: sale, start: 2h, for: 30m}",
            Action::Freeze {
                freeze: frozen(Some("2026-03-02T10:00:00Z"), Some("2026-03-02T10:30:00Z"), "the scenario freezes"),
                user: "scenario".into(),
            },
        ),
        ("unfreeze: {name: sale, user: bo}", Action::Unfreeze { name: "sale".into(), by: by("bo", "") }),
        (
            "measure: {target: api/prod/c1, metric: errors, value: {rate: 1}}",
            Action::Measure(Measured { target: target(), metric: "errors".into(), value: Ok(json!({"rate": 1})) }),
        ),
        (
            "measure: {target: api/prod/c1, metric: errors, value: null}",
            Action::Measure(Measured { target: target(), metric: "errors".into(), value: Ok(Json::Null) }),
        ),
        (
            "measure: {target: api/prod/c1, metric: errors, error: no answer}",
            Action::Measure(Measured { target: target(), metric: "errors".into(), value: Err("no answer".into()) }),
        ),
        ("restart:", Action::Restart),
    ]);
    let Ok(Action::Expect(expectation)) = action("expect: {target: api/prod/c1, held: true}") else { panic!("right") };
    assert_eq!(expectation.held, Some(true));
}

#[test]
fn what_is_wrong_with_an_action() {
    for (written, expected) in [
        ("skp: {}", "x.yaml:4:5: /steps/0/skp: unknown action `skp` (did you mean `skip`?)"),
        ("delete: {type: System, name: shop}", "a System cannot be deleted in a scenario, expected one of `Policy`"),
        ("delete: {type: Polic, name: eyes}", "did you mean `Policy`?"),
        ("delete: {name: eyes}", "/delete/type: is missing"),
        ("skip: {policy: eyes, deployment: api}", "/skip/rule: is missing, expected a rule's key"),
        ("skip: {freeze: sale, rule: 1, deployment: api}", "/skip/rule: stands beside `freeze`"),
        ("skip: {policy: eyes, rule: -1, deployment: api}", "/skip/rule: expected a rule's key"),
        ("skip: {policy: eyes, rule: retry}", "/skip/deployment: is missing"),
        (
            "skip: {policy: eyes, rule: retry, target: api/prod/c1, environment: prod}",
            "/skip/environment: stands beside `target`",
        ),
        (
            "skip: {policy: eyes, rule: retry, target: api/prod/c1, deployment: web}",
            "`web` is not the deployment of the target `api/prod/c1`",
        ),
        ("skip: {policy: eyes, rule: retry, deployment: api, expires: soon}", "/skip/expires: `soon` is neither"),
        ("cancel: {}", "/cancel/target: is missing"),
        ("cancel: {release: {target: api/prod/c1}}", "/cancel/release/version: is missing"),
        ("cancel: {target: a/b/c, release: {target: a/b/c, version: v1}}", "expected one of the two"),
        ("redeploy: {version: v1}", "/redeploy/target: is missing"),
        ("freeze: {}", "/freeze/name: is missing"),
        ("freeze: {name: x, selector: resource.knd == ''}", "did you mean `kind`?"),
        ("freeze: {name: x, end: 2h, for: 1h}", "/freeze/for: stands beside `end`"),
        ("freeze: {name: x, for: 0s}", "/freeze/for: is no time at all"),
        ("freeze: {name: x, for: soon}", "/freeze/for: `soon` is not a duration"),
        ("freeze: {name: x, start: 2h, end: 1h}", "/freeze/end: 2026-03-02T09:00:00.000Z is not after the start"),
        ("measure: {target: a/b/c, metric: m}", "/measure/value: is missing"),
        ("measure: {target: a/b/c, metric: m, value: 1, error: x}", "/measure/error: stands beside `value`"),
        ("expect: {target: a/b/c, held: 1}", "/expect/held: expected true or false"),
    ] {
        let errors = action(written).expect_err(written);
        assert!(errors.contains(expected), "{written}: {errors}");
    }
}
