//! What expressions mean and what is refused, by table; and that nothing panics.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::{
    Bindings, EvalError, Match, NamedView, Place, Position, Problem, ResourceView, Selector, SelectorError,
    VersionView, bounds, check,
    check::FUNCTIONS,
    evaluate_json,
    view::{NAMED_FIELDS, RESOURCE_FIELDS, Source, VERSION_FIELDS},
};

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Evaluates in every place's largest set of variables.
fn evaluate(text: &str, place: Place) -> Result<Match, EvalError> {
    let metadata = labels(&[("env", "prod"), ("region", "eu-1")]);
    let team = labels(&[("team", "shop")]);
    let config = json!({"path": "/srv", "size": 3, "ratio": 0.5, "tags": ["a", "b"], "nested": {"deep": true}});
    let resource = ResourceView {
        id: Uuid::from_u128(1),
        identifier: "c1",
        name: "Cluster 1",
        kind: "Cluster",
        version: "v1",
        metadata: &metadata,
        config: &config,
    };
    let environment = NamedView { id: Uuid::from_u128(2), name: "prod", metadata: &team };
    let deployment = NamedView { id: Uuid::from_u128(3), name: "api", metadata: &team };
    let version = VersionView {
        id: Uuid::from_u128(4),
        tag: "v1.4.2",
        name: "",
        status: "ready",
        metadata: &team,
        config: &config,
        created_at_millis: 1_772_438_400_000,
        created_by: None,
    };
    let selector = Selector::parse(text, place).expect("a selector that can be saved");
    assert_eq!(selector.text(), text);
    let bindings = match place {
        Place::Resource => Bindings::of_resource(resource),
        Place::Policy => Bindings::of_target(deployment, environment, resource),
        Place::Version => Bindings::of_target(deployment, environment, resource).with_version(version),
    };
    selector.matches_or_absent(&bindings)
}

#[test]
fn what_matches() {
    for (text, expected) in [
        ("true", true),
        (" false ", false),
        ("resource.metadata['env'] == 'prod'", true),
        ("resource.metadata.env == 'prod' && resource.kind == 'Cluster'", true),
        ("resource.metadata['env'] in ['dev', 'test']", false),
        ("'env' in resource.metadata", true),
        ("'gone' in resource.metadata", false),
        ("has(resource.metadata.env) && !has(resource.metadata.gone)", true),
        ("has(resource.metadata.gone) && resource.metadata.gone == 'x'", false),
        ("resource.metadata.?gone.orValue('x') == 'x'", true),
        ("resource.metadata[?'gone'].hasValue()", false),
        ("resource.id == '00000000-0000-0000-0000-000000000001'", true),
        ("resource.identifier.startsWith('c') && resource.name.endsWith('1') && resource.version == 'v1'", true),
        ("resource.name.matches('^Cluster [0-9]+$')", true),
        ("resource.config.size > 2 && resource.config.ratio < 1.0", true),
        ("resource.config.size == 3.0", true),
        ("'b' in resource.config.tags && size(resource.config.tags) == 2", true),
        ("resource.config.nested.deep", true),
        ("resource.config.nested == {'deep': true}", true),
        ("{'env': 'prod', 'region': 'eu-1'} == resource.metadata", true),
        ("resource.metadata == {'env': 'prod'}", false),
        ("resource.metadata.exists(key, key.startsWith('reg'))", true),
        ("resource.metadata.map(key, resource.metadata[key]).exists(value, value == 'prod')", true),
        ("size(resource.metadata) == 2 && type(resource.metadata) == map", true),
        ("resource == resource", true),
        ("resource.kind == 'Cluster' ? true : 1/0 == 1", true),
        // One side true settles an `||`, whatever the other does.
        ("resource.metadata.gone == 'x' || true", true),
        // A comprehension's variable hides the resource.
        ("[{'kind': 'x'}].all(resource, resource.kind == 'x')", true),
    ] {
        let expected = Match { matched: expected, absent: None };
        assert_eq!(evaluate(text, Place::Resource), Ok(expected), "{text}");
    }
}

#[test]
fn every_place_has_its_variables() {
    for (text, place) in [
        ("environment.name == 'prod' && deployment.name == 'api' && resource.kind == 'Cluster'", Place::Policy),
        ("environment.metadata.team == deployment.metadata.team", Place::Policy),
        ("version.tag.startsWith('v1.') && environment.name == 'prod'", Place::Version),
        ("version.createdAt < timestamp('2026-03-03T00:00:00Z') && !has(version.createdBy)", Place::Version),
        ("version.createdAt.getDayOfWeek('Europe/Berlin') == 1", Place::Version),
        ("version.status == 'ready' && version.config.path == '/srv'", Place::Version),
    ] {
        assert_eq!(evaluate(text, place), Ok(Match { matched: true, absent: None }), "{text}");
    }
}

#[test]
fn what_is_absent_is_no_match_and_named() {
    for (text, key) in [
        ("resource.metadata['gone'] == 'x'", "gone"),
        ("resource.metadata.gone != 'x'", "gone"),
        ("!(resource.config.other.deeper)", "other"),
        ("resource.config.tags[2] == 'c'", "2"),
    ] {
        assert_eq!(
            evaluate(text, Place::Resource),
            Ok(Match { matched: false, absent: Some(key.to_owned()) }),
            "{text}"
        );
    }
}

#[test]
fn what_fails_says_why() {
    for (text, expected) in [
        ("1/0 == 1", "division by zero"),
        ("1 % 0 == 1", "remainder by zero"),
        ("9223372036854775807 + 1 > 0", "out of range"),
        ("-9223372036854775807 - 2 > 0", "out of range"),
        ("(-9223372036854775807 - 1) / -1 > 0", "out of range"),
        ("9223372036854775807 * 2 > 0", "out of range"),
        ("int('9223372036854775808') > 0", "int"),
        ("int(1e19) > 0", "int"),
        ("uint(-1) > 0u", "uint"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s') > timestamp('2026-01-01T00:00:00Z')", "out of range"),
        ("timestamp('yesterday') > timestamp('2026-01-01T00:00:00Z')", "timestamp"),
        ("resource.kind > 1", "overload"),
        ("resource.kind && true", "overload"),
        ("resource.name.matches('[')", "matches"),
    ] {
        match evaluate(text, Place::Resource) {
            Err(EvalError::Failed { expression, message }) => {
                assert!(message.contains(expected), "{text}: {message}");
                assert_eq!(expression, text);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(
        evaluate("resource.kind", Place::Resource),
        Err(EvalError::NotACondition { expression: "resource.kind".to_owned(), found: "string".to_owned() })
    );
}

fn refused(text: &str, place: Place) -> SelectorError {
    match Selector::parse(text, place) {
        Err(error) => error,
        Ok(_) => panic!("taken: {}", &text[..text.len().min(80)]),
    }
}

#[test]
fn what_is_refused_says_where() {
    for (text, line, column, expected) in [
        ("", 1, 1, "unexpected end"),
        ("1 +", 1, 4, "unexpected end"),
        ("(", 1, 1, "`(` is not closed"),
        (")", 1, 1, "unexpected `)`"),
        ("resource.kind == 'x' &&\n  (true]", 2, 8, "unexpected `]`, expected `)`"),
        ("resource.kind == 'x", 1, 18, "not closed"),
        ("resource.kind = 'x'", 1, 15, "unexpected `=`"),
        ("resource kind", 1, 10, "unexpected `kind`"),
        ("has(int)", 1, 5, ""),
        ("'éé' == 'x' x", 1, 13, ""),
        ("'éé' == \n'é' x", 2, 5, ""),
        ("résource.kind == 'x'", 1, 2, "unexpected `é`"),
        ("'é' == 'é' && resorce.kind == 'x'", 1, 15, "unknown variable `resorce` (did you mean `resource`?)"),
        ("true &&\n environment.name == 'prod'", 2, 2, "unknown variable `environment`, expected one of `resource`"),
        ("resource.knid == 'x'", 1, 9, "`resource` has no field `knid` (did you mean `kind`?)"),
        ("resource['knid'] == 'x'", 1, 9, "has no field `knid`"),
        ("has(resource.labels)", 1, 4, "has no field `labels`"),
        ("a() || mispelt()", 1, 2, "unknown function `a`"),
        ("resource.kind.startWith('x')", 1, 24, "did you mean `startsWith`?"),
        ("'text'", 1, 1, "is always a string"),
        ("[true]", 1, 1, "is always a list"),
        ("Thing{a: 1} == 1", 1, 6, "messages such as `Thing{}`"),
        ("'\\q' == 'q'", 1, 1, "unexpected `'\\q`"),
        ("`a`", 1, 1, ""),
        ("a ? b", 1, 1, "is not complete"),
        ("99999999999999999999 == 1", 1, 1, ""),
    ] {
        let error = refused(text, Place::Resource);
        assert!(error.to_string().contains(expected), "{text}: {error}");
        assert_eq!(error.position, Some(Position { line, column }), "{text}: {error}");
    }
    // Every place refuses what only a wider one has.
    assert!(matches!(refused("version.tag == 'v1'", Place::Policy).problem, Problem::UnknownVariable { .. }));
}

#[test]
fn every_bound_bites_just_above_its_figure() {
    let chain = |links| format!("has(resource.config{}) || true", ".b".repeat(links));
    let nested = |depth| format!("{}true{}", "(".repeat(depth), ")".repeat(depth));
    let lists = |depth| format!("{}1{} == 1", "[".repeat(depth), "]".repeat(depth));
    let conditional = |depth| format!("{}true", "false ? false : ".repeat(depth));
    let row = |operators| format!("1{} > 0", " + 1".repeat(operators - 1));
    let literal = |entries: usize| format!("1 in [{}]", vec!["1"; entries].join(","));
    let comprehension =
        |depth: usize| (0..depth).fold("true".to_owned(), |inside, level| format!("[1].all(x{level}, {inside})"));
    let long = |bytes: usize| format!("true{}", " ".repeat(bytes - 4));
    type Make<'a> = &'a dyn Fn(usize) -> String;
    type IsExpected = fn(&Problem) -> bool;
    let cases: [(Make<'_>, usize, IsExpected); 8] = [
        (&long, bounds::LENGTH_BYTES_MAX, |problem| matches!(problem, Problem::TooLong { .. })),
        // `resource.config` is the first link of the chain.
        (&chain, bounds::CHAIN_MAX - 1, |problem| matches!(problem, Problem::ChainTooLong)),
        (&nested, bounds::NESTING_MAX, |problem| matches!(problem, Problem::TooDeep)),
        (&lists, bounds::NESTING_MAX, |problem| matches!(problem, Problem::TooDeep)),
        (&conditional, bounds::NESTING_MAX, |problem| matches!(problem, Problem::TooDeep)),
        (&row, bounds::OPERATORS_IN_A_ROW_MAX, |problem| matches!(problem, Problem::TooManyOperators)),
        (&literal, bounds::LITERAL_ENTRIES_MAX, |problem| matches!(problem, Problem::LiteralTooLong { .. })),
        (&comprehension, bounds::COMPREHENSIONS_NESTED_MAX, |problem| {
            matches!(problem, Problem::ComprehensionsTooDeep)
        }),
    ];
    for (make, bound, is_expected) in cases {
        let text = make(bound);
        assert!(Selector::parse(&text, Place::Resource).is_ok(), "{}", &text[..text.len().min(100)]);
        let problem = refused(&make(bound + 1), Place::Resource).problem;
        assert!(is_expected(&problem), "{problem:?}");
    }
}

#[test]
fn what_would_exhaust_the_stack_is_refused_or_answered() {
    for text in [
        format!("a{}", ".b".repeat(20_000)),
        format!("{} true", "true || ".repeat(100_000)),
        format!("a{}", ".b".repeat(4_000)),
        format!("a{}", "[0]".repeat(2_600)),
        format!("a{}", "()".repeat(4_000)),
        "(".repeat(8_000),
        "[".repeat(8_000),
        "{".repeat(8_000),
        "1+".repeat(4_000),
        "1 in ".repeat(1_600),
        "a?b:".repeat(2_000),
        "-".repeat(8_000),
        format!("{}1", "- ".repeat(4_000)),
    ] {
        assert!(Selector::parse(&text, Place::Resource).is_err(), "{}", &text[..40]);
    }
    // Long and flat is fine, on a thread with the smallest stack that the standard library gives out.
    let flat = format!("{}false", "resource.kind == 'a' || ".repeat(300));
    let signs = format!("{}true", "!".repeat(8_000));
    let deep = format!("{}resource.config.size{} == 3", "(0 + ".repeat(31), ")".repeat(31));
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(move || {
            for (text, expected) in [(flat, false), (signs, true), (deep, true)] {
                let expected = Match { matched: expected, absent: None };
                assert_eq!(evaluate(&text, Place::Resource), Ok(expected), "{}", &text[..40]);
            }
        })
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn fields_that_are_checked_are_the_fields_there_are() {
    let metadata = labels(&[]);
    let config = json!({});
    let resource = ResourceView {
        id: Uuid::nil(),
        identifier: "",
        name: "",
        kind: "",
        version: "",
        metadata: &metadata,
        config: &config,
    };
    let named = NamedView { id: Uuid::nil(), name: "", metadata: &metadata };
    let version = VersionView {
        id: Uuid::nil(),
        tag: "",
        name: "",
        status: "",
        metadata: &metadata,
        config: &config,
        created_at_millis: 0,
        created_by: Some(""),
    };
    for (source, fields) in [
        (Source::Resource(resource), RESOURCE_FIELDS),
        (Source::Named(named), NAMED_FIELDS),
        (Source::Version(version), VERSION_FIELDS),
    ] {
        assert!(fields.iter().all(|field| source.field(field).is_some()), "{fields:?}");
    }
    let end = VersionView { created_at_millis: i64::MAX, ..version };
    assert!(Source::Version(end).field("createdAt").is_none());
}

#[test]
fn json_in_and_json_out() {
    let variables = json!({"a": {"b": [1, 2.5, "x", null, true]}, "big": u64::MAX, "n": -3});
    for (text, expected) in [
        ("a.b[0] + 1", json!(2)),
        ("a.b[1]", json!(2.5)),
        ("a.b", json!([1, 2.5, "x", null, true])),
        ("a", json!({"b": [1, 2.5, "x", null, true]})),
        ("big", json!(u64::MAX)),
        ("n < 0 ? 'low' : 'high'", json!("low")),
        ("{'z': 1, 'a': [n]}", json!({"a": [-3], "z": 1})),
        ("timestamp('2026-03-02T08:00:00Z')", json!("2026-03-02T08:00:00+00:00")),
        ("null", Json::Null),
    ] {
        assert_eq!(evaluate_json(text, &variables), Ok(expected), "{text}");
    }
    for (text, expected) in [
        ("gone", "`gone` is not known here"),
        ("a.gone", "there is no `gone`"),
        ("1.0 / 0.0", "JSON cannot hold"),
        ("b'abc'", "gives a bytes"),
        ("duration('1s')", "gives a duration"),
        ("1 +", "line 1, column 4"),
        ("mispelt(1)", "unknown function `mispelt`"),
    ] {
        let error = evaluate_json(text, &variables).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(evaluate_json("1", &json!([])).expect_err("no object").contains("not a JSON object"));
    assert!(check("a.b > 1").is_ok() && check("mispelt()").is_err());
}

#[test]
fn every_function_in_the_list_is_one() {
    for name in FUNCTIONS {
        for text in [format!("{name}('1')"), format!("'1'.{name}()"), format!("optional.{name}('1')")] {
            check(&text).or_else(|error| if error.contains("unknown") { Err(error) } else { Ok(()) }).expect(&text);
        }
        let known = [
            format!("{name}(x)"),
            format!("x.{name}()"),
            format!("optional.{name}(x)"),
            format!("optional.{name}()"),
            format!("x.{name}(x)"),
            format!("x.{name}(x, x)"),
        ]
        .iter()
        .any(|text| match evaluate_json(text, &json!({"x": "1"})) {
            Ok(_) => true,
            Err(error) => !error.contains("is not known here"),
        });
        assert!(known, "{name}");
    }
}

/// Text that looks like CEL more often than random letters do.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "resource",
        "environment",
        ".",
        "metadata",
        "['env']",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ":",
        "?",
        "'x'",
        "\"",
        "'",
        "\\",
        "1",
        "-1",
        "1u",
        "0x",
        "1e",
        ".5",
        "9223372036854775807",
        "true",
        "null",
        "&&",
        "||",
        "!",
        "==",
        "<",
        "in",
        "+",
        "-",
        "/",
        "%",
        "has",
        "all",
        "exists",
        "map",
        "filter",
        "x",
        "size",
        "matches",
        "int",
        "uint",
        "timestamp",
        "duration",
        "b'",
        "r'",
        "'''",
        "//",
        "\n",
        " ",
        "é",
        "optional",
        "of",
        "?",
        "`",
        "\u{0}",
        "dyn",
        "type",
        "string",
        "double",
        "orValue",
        "config",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in prop_oneof![pieces(), any::<String>()]) {
        let variables = json!({"resource": {"metadata": {"env": "prod"}, "config": {"n": [1, "a", null]}}, "x": "1"});
        for place in [Place::Resource, Place::Policy, Place::Version] {
            if Selector::parse(&text, place).is_ok() {
                let _ = evaluate(&text, place);
            }
        }
        let _ = evaluate_json(&text, &variables);
    }

    #[test]
    fn equality_over_labels_is_what_the_labels_say(
        key in "[a-z]{1,3}", value in "[a-z]{0,2}", wanted in "[a-z]{0,2}", other in "[a-z]{1,3}",
    ) {
        let metadata = labels(&[(&key, &value)]);
        let config = json!({});
        let resource = ResourceView {
            id: Uuid::nil(), identifier: "", name: "", kind: "", version: "", metadata: &metadata, config: &config,
        };
        let selector = Selector::parse(&format!("resource.metadata['{other}'] == '{wanted}'"), Place::Resource)
            .expect("a selector");
        let found = selector.matches_or_absent(&Bindings::of_resource(resource)).expect("an answer");
        prop_assert_eq!(found.matched, metadata.get(&other) == Some(&wanted));
        prop_assert_eq!(found.absent.is_some(), other != key);
    }
}
