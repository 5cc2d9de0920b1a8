//! What is read and what is refused, by table.

use model::{
    job_agent::AgentType,
    limits::{LABEL_VALUE_BYTES_MAX, NAME_BYTES_MAX, RULES_PER_POLICY_MAX},
    plugin::Scope,
    policy::{OnError, Order, RuleKey, RuleMode},
    wanted::{Wanted, WantedPolicy, WantedRule},
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::{TYPES, from_json, parse_yaml};

#[test]
fn one_of_each_with_its_defaults() {
    let text = "
type: System
name: shop
---
{type: Resource, identifier: c1, kind: Cluster}
---
{type: JobAgent, name: sites, agentType: pull, leaseSeconds: 30, config: {command: ./deploy.sh}}
---
type: Environment
name: prod
systems: [shop]
resourceSelector: resource.metadata['env'] == 'prod'
metadata: {tier: 'one'}
---
type: Deployment
name: api
description: |
  The shop's API.
systems: [shop]
jobAgent: sites
jobAgentConfig: {path: /srv}
jobDeadlineSeconds: 600
---
type: Policy
name: prod-approval
selector: environment.name == 'prod'
rules:
  - anyApproval: {minApprovals: 1}
---
type: Freeze
name: sale
end: 2026-12-01T00:00:00+01:00
reason: the sale
";
    let documents = parse_yaml("all.yaml", text).expect("all right");
    let types: Vec<&str> = documents.iter().map(|document| document.wanted.type_name()).collect();
    assert_eq!(types, TYPES);
    let lines: Vec<u64> = documents.iter().map(|document| document.line).collect();
    assert_eq!(lines, [2, 5, 7, 9, 15, 24, 30]);

    let Wanted::Resource(resource) = &documents[1].wanted else { panic!("a resource") };
    assert_eq!((resource.name.as_str(), resource.version.as_str()), ("c1", "v1"));
    assert_eq!(resource.config, json!({}));
    let Wanted::JobAgent(agent) = &documents[2].wanted else { panic!("an agent") };
    assert_eq!((agent.agent_type, agent.lease_seconds), (AgentType::Pull, Some(30)));
    let Wanted::Environment(environment) = &documents[3].wanted else { panic!("an environment") };
    assert_eq!(environment.resource_selector, "resource.metadata['env'] == 'prod'");
    assert_eq!(environment.metadata.get("tier").map(String::as_str), Some("one"));
    let Wanted::Deployment(deployment) = &documents[4].wanted else { panic!("a deployment") };
    assert_eq!(deployment.resource_selector, "true");
    assert_eq!(deployment.description, "The shop's API.\n");
    assert_eq!(deployment.job_deadline_seconds, Some(600));
    let Wanted::Policy(policy) = &documents[5].wanted else { panic!("a policy") };
    assert_eq!((policy.priority, policy.enabled, policy.rules.len()), (0, true, 1));

    let Wanted::Freeze(freeze) = &documents[6].wanted else { panic!("a freeze") };
    assert_eq!((freeze.selector.as_str(), freeze.start), ("true", None));
    assert_eq!(freeze.end.map(|end| end.to_string()).as_deref(), Some("2026-11-30T23:00:00.000Z"));

    // What is sent is what was written, and it reads the same on the other side.
    for document in &documents {
        assert_eq!(from_json(&document.json).as_ref(), Ok(&document.wanted));
    }
}

fn policy(rule: Json) -> Result<WantedRule, Vec<(String, String)>> {
    match from_json(&json!({"type": "Policy", "name": "p", "rules": [rule]})) {
        Ok(Wanted::Policy(WantedPolicy { mut rules, .. })) => Ok(rules.remove(0)),
        Ok(_) => panic!("not a policy"),
        Err(errors) => Err(errors.into_iter().map(|error| (error.pointer, error.message)).collect()),
    }
}

#[test]
fn a_rule_is_one_key_and_what_stands_beside_or_inside_it() {
    let rule = policy(json!({"anyApproval": {"minApprovals": 2}})).expect("right");
    assert_eq!((rule.key, rule.plugin.to_string().as_str()), (RuleKey::AnyApproval, "approval@*"));
    assert_eq!((rule.mode, rule.on_error, rule.scope), (RuleMode::Enforce, OnError::Block, None));
    assert_eq!(rule.config, json!({"minApprovals": 2}));

    let beside = json!({"retry": {"maxRetries": 2}, "mode": "audit", "onError": "allow", "scope": "environment"});
    let inside = json!({"retry": {"maxRetries": 2, "mode": "audit", "onError": "allow", "scope": "environment"}});
    let rule = policy(beside).expect("right");
    assert_eq!((rule.mode, rule.on_error, rule.scope), (RuleMode::Audit, OnError::Allow, Some(Scope::Environment)));
    assert_eq!(policy(inside), Ok(rule));

    for (written, any_of, applies_to_first) in [
        (json!({"retry": {}, "anyOf": "x", "appliesToFirst": false}), Some("x"), false),
        (json!({"retry": {"anyOf": "x"}}), Some("x"), true),
        (json!({"deploymentWindow": {}}), Some("windows"), false),
        (json!({"deploymentWindow": {"allowWindow": true, "appliesToFirst": true}}), Some("windows"), true),
        (json!({"deploymentWindow": {"allowWindow": false}}), None, false),
        (json!({"deploymentWindow": {}, "anyOf": null}), None, false),
        (json!({"deploymentWindow": {"anyOf": null}}), None, false),
        (json!({"deploymentWindow": {"allowWindow": false}, "anyOf": "calm"}), Some("calm"), false),
        (json!({"versionCooldown": {"intervalSeconds": 1}}), None, false),
        (json!({"gradualRollout": {"timeScaleInterval": 1}}), None, false),
        (json!({"environmentProgression": {}}), None, true),
    ] {
        let rule = policy(written.clone()).expect("right");
        assert_eq!((rule.any_of.as_deref(), rule.applies_to_first), (any_of, applies_to_first), "{written}");
        let config = rule.config.as_object().expect("an object");
        assert!(!config.contains_key("anyOf") && !config.contains_key("appliesToFirst"), "{written}");
    }

    // A sequence has a mode of its own.
    let rule = policy(json!({"releaseSequencing": {"mode": "parallel", "scope": "deployment"}, "mode": "audit"}))
        .expect("right");
    assert_eq!((rule.mode, rule.scope), (RuleMode::Audit, Some(Scope::Deployment)));
    assert_eq!(rule.config, json!({"mode": "parallel"}));

    let own = json!({"plugin": {"name": "freeze-fridays", "version": "^1.2", "config": {"mode": "hard"}}});
    let rule = policy(own).expect("right");
    assert_eq!((rule.key, rule.plugin.to_string().as_str()), (RuleKey::Plugin, "freeze-fridays@^1.2"));
    assert_eq!(rule.config, json!({"mode": "hard"}));

    // A key without configuration asks with an empty one.
    assert_eq!(policy(json!({"retry": null})).expect("right").config, json!({}));
}

#[test]
fn a_sequence_says_which_version_goes_next() {
    use Order::{Newest, Queue};
    for (written, order, config) in [
        (json!({"releaseSequencing": {}}), Newest, json!({})),
        (json!({"releaseSequencing": {"order": "queue"}}), Queue, json!({"order": "queue"})),
        (json!({"releaseSequencing": {"order": "newest"}}), Newest, json!({"order": "newest"})),
        (json!({"releaseSequencing": {"mode": "parallel"}}), Queue, json!({"mode": "parallel"})),
        (json!({"releaseSequencing": {}, "order": "queue"}), Queue, json!({"order": "queue"})),
        (json!({"plugin": {"name": "x"}, "order": "queue"}), Queue, json!({})),
        (json!({"plugin": {"name": "x", "config": {"order": "queue"}}}), Newest, json!({"order": "queue"})),
        (json!({"retry": {}}), Newest, json!({})),
    ] {
        let rule = policy(written.clone()).expect("right");
        assert_eq!((rule.order, rule.config), (order, config), "{written}");
    }
}

#[test]
fn a_rollback_is_checked_here() {
    let rule = policy(json!({"rollback": {"window": 2, "mode": "audit"}})).expect("right");
    assert_eq!((rule.key, rule.plugin.to_string().as_str()), (RuleKey::Rollback, "rollback@*"));
    assert_eq!((rule.mode, rule.config), (RuleMode::Audit, json!({"window": 2})));
    let written = json!({"rollback": {"windw": 1, "onJobFailed": 1, "scope": "target"}, "anyOf": "x"});
    let pointers: Vec<String> = policy(written).expect_err("wrong").into_iter().map(|(pointer, _)| pointer).collect();
    let expected = ["/rollback/windw", "/rollback/onJobFailed", "/rollback/scope", "/anyOf"];
    assert_eq!(pointers, expected.map(|pointer| format!("/rules/0{pointer}")));
}

#[test]
fn what_is_wrong_with_a_rule() {
    for (rule, pointer, expected) in [
        (json!("anyApproval"), "/rules/0", "expected a rule with one of `anyApproval`"),
        (json!({}), "/rules/0", "names no rule"),
        (json!({"mode": "audit"}), "/rules/0", "names no rule"),
        (json!({"anyAproval": {}}), "/rules/0/anyAproval", "did you mean `anyApproval`?"),
        (json!({"anyOf": "x", "order": "queue"}), "/rules/0", "names no rule"),
        (json!({"retry": {}, "anyApproval": {}}), "/rules/0", "both `anyApproval` and `retry`"),
        (json!({"retry": {}, "anyOf": ""}), "/rules/0/anyOf", "is empty"),
        (json!({"retry": {}, "anyOf": true}), "/rules/0/anyOf", "write it in quotes"),
        (json!({"retry": {"anyOf": "a"}, "anyOf": null}), "/rules/0/anyOf", "expected it once"),
        (json!({"retry": {}, "appliesToFirst": "no"}), "/rules/0/appliesToFirst", "expected true or false"),
        (json!({"retry": {}, "order": "queue"}), "/rules/0/order", "unknown field `order`"),
        (json!({"plugin": {"name": "x"}, "order": "oldest"}), "/rules/0/order", "expected one of `newest`, `queue`"),
        (
            json!({"releaseSequencing": {"order": "queue"}, "order": "newest"}),
            "/rules/0/order",
            "beside `releaseSequencing` and inside it",
        ),
        (json!({"rollback": {}, "onError": "allow"}), "/rules/0/onError", "means nothing for `rollback`"),
        (json!({"rollback": {"window": -1}}), "/rules/0/rollback/window", "not a number of versions"),
        (json!({"retry": {}, "onerror": "block"}), "/rules/0/onerror", "did you mean `onError`?"),
        (json!({"retry": [1]}), "/rules/0/retry", "expected an object, found a list"),
        (json!({"retry": {}, "mode": "dry"}), "/rules/0/mode", "expected one of `enforce`, `audit`"),
        (json!({"retry": {"mode": "dry"}}), "/rules/0/retry/mode", "expected one of `enforce`, `audit`"),
        (json!({"retry": {"mode": "audit"}, "mode": "audit"}), "/rules/0/mode", "expected it once"),
        (json!({"retry": {}, "scope": "galaxy"}), "/rules/0/scope", "unknown value `galaxy`"),
        (json!({"plugin": {}}), "/rules/0/plugin/name", "is missing"),
        (json!({"plugin": {"name": "x", "version": "latest"}}), "/rules/0/plugin/version", "not a range of versions"),
        (json!({"plugin": {"name": "x", "mode": "audit"}}), "/rules/0/plugin/mode", "unknown field `mode`"),
        (json!({"plugin": {"name": "x", "config": 1}}), "/rules/0/plugin/config", "expected an object, found 1"),
    ] {
        let errors = policy(rule.clone()).expect_err("wrong");
        let [(found, message)] = errors.as_slice() else { panic!("{rule}: {errors:?}") };
        assert_eq!(found, pointer, "{rule}: {message}");
        assert!(message.contains(expected), "{rule}: {message}");
    }
    let many: Vec<Json> = (0..=RULES_PER_POLICY_MAX).map(|_| json!({"retry": {}})).collect();
    let errors = from_json(&json!({"type": "Policy", "name": "p", "rules": many})).expect_err("too many");
    assert_eq!(errors[0].pointer, "/rules");
    let enough: Vec<Json> = (0..RULES_PER_POLICY_MAX).map(|_| json!({"retry": {}})).collect();
    assert!(from_json(&json!({"type": "Policy", "name": "p", "rules": enough})).is_ok());
}

#[test]
fn what_is_wrong_with_a_document() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let value = "x".repeat(LABEL_VALUE_BYTES_MAX + 1);
    for (document, pointer, expected) in [
        (json!([]), "", "expected a document with `type` and `name`, found a list"),
        (json!({}), "/type", "is missing, expected one of `System`"),
        (json!({"type": 1}), "/type", "expected a string"),
        (json!({"type": "Enviroment", "name": "x"}), "/type", "did you mean `Environment`?"),
        (json!({"type": "System"}), "/name", "is missing"),
        (json!({"type": "System", "name": ""}), "/name", "is empty"),
        (json!({"type": "System", "name": 7}), "/name", "write it in quotes: \"7\""),
        (json!({"type": "System", "name": " x"}), "/name", "white space"),
        (json!({"type": "System", "name": "a\u{7}b"}), "/name", "control character U+0007"),
        (json!({"type": "System", "name": long}), "/name", "at most 255"),
        (json!({"type": "System", "name": "x", "nmae": "y"}), "/nmae", "did you mean `name`?"),
        (json!({"type": "System", "name": "x", "a/b~": 1}), "/a~1b~0", "unknown field `a/b~`"),
        (json!({"type": "System", "name": "x", "metadata": {"a": 1}}), "/metadata/a", "write it in quotes: \"1\""),
        (json!({"type": "System", "name": "x", "metadata": {"": "1"}}), "/metadata/", "key is empty"),
        (json!({"type": "System", "name": "x", "metadata": {"a": value}}), "/metadata/a", "at most 4096"),
        (json!({"type": "System", "name": "x", "metadata": ["a"]}), "/metadata", "expected an object of strings"),
        (json!({"type": "Environment", "name": "a/b"}), "/name", "contains a slash"),
        (json!({"type": "Environment", "name": "x", "systems": "shop"}), "/systems", "expected a list of names"),
        (json!({"type": "Environment", "name": "x", "systems": ["s", "s"]}), "/systems/1", "named twice"),
        (
            json!({"type": "Environment", "name": "x", "resourceSelector": "resource.knd == 'a'"}),
            "/resourceSelector",
            "did you mean `kind`?",
        ),
        (
            json!({"type": "Environment", "name": "x", "resourceSelector": "environment.name == 'a'"}),
            "/resourceSelector",
            "unknown variable `environment`",
        ),
        (json!({"type": "Policy", "name": "x", "selector": "1 +"}), "/selector", "line 1, column 4"),
        (json!({"type": "Policy", "name": "x", "priority": 1.5}), "/priority", "expected a whole number, found 1.5"),
        (json!({"type": "Policy", "name": "x", "enabled": "yes"}), "/enabled", "expected true or false"),
        (json!({"type": "Policy", "name": "x", "rules": {}}), "/rules", "expected a list of rules"),
        (json!({"type": "JobAgent", "name": "x", "agentType": "push"}), "/agentType", "expected one of `pull`"),
        (json!({"type": "JobAgent", "name": "x", "leaseSeconds": 0}), "/leaseSeconds", "from 1 to 3600"),
        (json!({"type": "JobAgent", "name": "x", "leaseSeconds": 3601}), "/leaseSeconds", "from 1 to 3600"),
        (json!({"type": "Deployment", "name": "x", "jobDeadlineSeconds": -1}), "/jobDeadlineSeconds", "from 1 to"),
        (json!({"type": "Deployment", "name": "x", "jobAgentConfig": "a"}), "/jobAgentConfig", "expected an object"),
        (json!({"type": "Resource", "identifier": "x"}), "/kind", "is missing"),
        (json!({"type": "Freeze", "name": "x"}), "/reason", "is missing, expected why nothing may start"),
        (json!({"type": "Freeze", "name": "x", "reason": " "}), "/reason", "is empty"),
        (json!({"type": "Freeze", "name": "x", "reason": 1}), "/reason", "write it in quotes"),
        (json!({"type": "Freeze", "name": "x", "reason": "y", "start": "1h"}), "/start", "expected RFC 3339"),
        (
            json!({"type": "Freeze", "name": "x", "reason": "y", "start": "2026-03-02T08:00:00Z",
                   "end": "2026-03-02T09:00:00+01:00"}),
            "/end",
            "is not after the start (2026-03-02T08:00:00.000Z)",
        ),
        (
            json!({"type": "Freeze", "name": "x", "reason": "y", "selector": "version.tag == ''"}),
            "/selector",
            "version",
        ),
        (json!({"type": "Resource", "identifier": "x", "kind": "y", "labels": {}}), "/labels", "unknown field"),
    ] {
        let errors = from_json(&document).expect_err("wrong");
        assert_eq!(errors.len(), 1, "{document}: {errors:?}");
        assert_eq!(errors[0].pointer, pointer, "{document}: {}", errors[0].message);
        assert!(errors[0].message.contains(expected), "{document}: {}", errors[0].message);
    }
}

#[test]
fn nothing_is_the_same_as_absent_and_everything_wrong_is_told() {
    let document = json!({"type": "Environment", "name": "x", "resourceSelector": "", "metadata": null});
    let Ok(Wanted::Environment(environment)) = from_json(&document) else { panic!("right") };
    assert_eq!(environment.resource_selector, "true");
    let errors = from_json(&json!({"type": "Environment", "systems": 1, "x": 2})).expect_err("wrong");
    let pointers: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
    assert_eq!(pointers, ["/name", "/systems", "/x"]);
}

#[test]
fn errors_of_a_file_name_line_and_column() {
    let text = "\
# the shop
type: System
name: shop
---
type: Policy
name: p
rules:
  - anyApproval:
      minApprovals: 1
      scope: galaxy
  - retyr: {}
---
type: Environment
systems: [shop]
metadata:
  tier: 1
";
    let errors = parse_yaml("shop.yaml", text).expect_err("wrong");
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "shop.yaml:10:7: /rules/0/anyApproval/scope: unknown value `galaxy`",
        "shop.yaml:11:5: /rules/1/retyr: unknown rule `retyr` (did you mean `retry`?)",
        "shop.yaml:13:1: /name: is missing",
        "shop.yaml:16:3: /metadata/tier: expected a string, found the number 1",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn what_is_no_yaml_is_refused_with_its_place() {
    for (text, line, expected) in [
        ("type: System\nname: [shop", 2, ""),
        ("type: System\n\tname: x\n", 1, "tab"),
        ("type: System\nname: a\nname: b\n", 3, "duplicate mapping key: name"),
        ("type: System\nname: .nan\n", 2, ""),
        ("a: &a [1]\nb: *c\n", 2, ""),
        (&format!("a: {}{}", "[".repeat(200), "]".repeat(200)), 1, "more than 64 deep"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
            0,
            "",
        ),
    ] {
        let errors = parse_yaml("x.yaml", text).expect_err("wrong");
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(line == 0 || errors[0].line == line, "{text}: {}", errors[0]);
        assert!(errors[0].message.contains(expected), "{text}: {}", errors[0]);
    }
    assert!(parse_yaml("empty.yaml", "").expect("nothing").is_empty());
    assert!(parse_yaml("comments.yaml", "# nothing\n---\n---\n").expect("nothing").is_empty());
}

#[test]
fn yaml_is_read_as_version_1_2_and_pointers_lead_back() {
    let text =
        "type: Resource\nidentifier: \"1\"\nkind: no\nconfig:\n  a/b: [x, {y: 0x10}]\n  big: 18446744073709551615\n";
    let documents = parse_yaml("x.yaml", text).expect("right");
    let Wanted::Resource(resource) = &documents[0].wanted else { panic!("a resource") };
    assert_eq!(resource.kind, "no");
    assert_eq!(resource.config, json!({"a/b": ["x", {"y": 16}], "big": u64::MAX}));
    for (pointer, position) in [
        ("", (1, 1)),
        ("/identifier", (2, 1)),
        ("/config", (4, 1)),
        ("/config/a~1b", (5, 3)),
        ("/config/a~1b/1/y", (5, 13)),
        ("/config/a~1b/1/z", (5, 12)),
        ("/nowhere/at/all", (1, 1)),
    ] {
        assert_eq!(documents[0].position(pointer), position, "{pointer}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), pieces in prop::collection::vec(prop::sample::select(vec![
        "type: ", "Policy", "System", "\n", "---\n", "name: ", "rules:", "  - ", "{", "}", "[", "]", "&a ", "*a", ": ",
        "retry", "null", "1", "\"", "'", "!!str ", "<<: ", "|\n", "> ", "? ", "é", "\t", "#", "metadata: ", "config: ",
    ]), 0..30)) {
        let _ = parse_yaml("x.yaml", &text);
        let _ = parse_yaml("x.yaml", &pieces.concat());
    }
}
