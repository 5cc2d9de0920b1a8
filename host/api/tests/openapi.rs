//! The OpenAPI document: committed as it is served, whole, and with every way to refuse.

use std::collections::BTreeSet;

use serde_json::Value;

fn document() -> Value {
    serde_json::from_str(api::openapi_text()).expect("the document is JSON")
}

/// Every (path, method, operation).
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths
        .iter()
        .flat_map(|(path, item)| {
            let item = item.as_object().expect("an item");
            item.iter().map(move |(method, operation)| (path.clone(), method.to_uppercase(), operation.clone()))
        })
        .collect()
}

#[test]
fn the_committed_document_is_the_one_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, api::openapi_text()).expect("the document can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == api::openapi_text(), "host/api/openapi.json is not up to date: run this test with UPDATE=1");
}

#[test]
fn every_route_of_the_table_is_described_and_nothing_else() {
    let table: BTreeSet<String> = api::summaries().iter().map(ToString::to_string).collect();
    let described: BTreeSet<String> =
        operations(&document()).iter().map(|(path, method, _)| format!("{method} {path}")).collect();
    assert_eq!(table, described);
    assert!(table.len() >= 40, "{}", table.len());
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let pointer = reference.strip_prefix('#').expect("a reference within the document");
                    assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                members.values().for_each(|member| check(member, document));
            }
            Value::Array(items) => items.iter().for_each(|item| check(item, document)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document();
    check(&document, &document);
}

#[test]
fn operations_are_whole() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let name = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().expect("an id").to_owned()), "{name}: id twice");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name} has no summary");
        assert!(operation["tags"].as_array().is_some_and(|tags| tags.len() == 1), "{name} has not one tag");
        let empty = Vec::new();
        let parameters = operation["parameters"].as_array().unwrap_or(&empty);
        let named: BTreeSet<&str> =
            parameters.iter().filter(|p| p["in"] == "path").filter_map(|p| p["name"].as_str()).collect();
        let in_path: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        assert_eq!(named, in_path, "{name}: parameters of the path");
        let responses = operation["responses"].as_object().expect("responses");
        assert!(responses.keys().any(|status| status.starts_with('2')), "{name} has no success");
        for (status, response) in responses {
            let is_problem = !response["content"]["application/problem+json"].is_null();
            assert_eq!(is_problem, !status.starts_with('2'), "{name}: {status}");
        }
    }
}

#[test]
fn keys_are_asked_for_where_the_table_says_so() {
    let document = document();
    for route in api::summaries() {
        let operation = &document["paths"][&route.path][route.method.to_lowercase()];
        let schemes = operation["security"].as_array().expect("security");
        match route.needs {
            api::Needs::Nothing => assert!(schemes.is_empty(), "{route}"),
            api::Needs::AnyOf(_) => {
                assert_eq!(schemes.len(), 2, "{route}");
                assert!(
                    !operation["responses"]["401"].is_null() && !operation["responses"]["403"].is_null(),
                    "{route}"
                );
            }
        }
        let takes_body = route.sends != api::Sends::Nothing;
        assert_eq!(!operation["requestBody"].is_null(), takes_body, "{route}");
        assert_eq!(!operation["responses"]["415"].is_null(), takes_body, "{route}");
        for code in &route.refuses {
            let response = &operation["responses"][code.status().as_str()];
            let about = response["description"].as_str().unwrap_or_default();
            assert!(about.contains(code.name()), "{route}: {} is not described", code.name());
        }
    }
}

#[test]
fn the_schema_of_a_problem_has_every_member_of_one() {
    let document = document();
    let schema = document["components"]["schemas"]["Problem"]["properties"].as_object().expect("properties");
    let problem = api::problem::Problem::new(api::problem::Code::Conflict, "x").document(Some("r"));
    let of_schema: BTreeSet<&String> = schema.keys().collect();
    let of_problem: BTreeSet<&String> = problem.as_object().expect("an object").keys().collect();
    assert_eq!(of_schema, of_problem);
}

#[test]
fn every_route_is_in_the_reference_with_its_role() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/api.md");
    let text = std::fs::read_to_string(path).expect("the reference is in the repository");
    for route in api::summaries() {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{route}` |")));
        let row = row.unwrap_or_else(|| panic!("docs/reference/api.md has no row for {route}"));
        let role = match route.needs {
            api::Needs::Nothing => "none".to_owned(),
            api::Needs::AnyOf(roles) => {
                let names: Vec<String> = roles.iter().map(|role| format!("`{}`", role.name())).collect();
                names.join(" or ")
            }
        };
        assert!(row.ends_with(&format!("| {role} |")), "{row}");
    }
    let rows = text.lines().filter(|line| line.starts_with("| `") && line.contains(" /")).count();
    assert_eq!(rows, api::summaries().len(), "docs/reference/api.md has a row without a route");
}
