//! The OpenAPI document: committed, complete, and readable.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Place;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[test]
fn the_committed_document_is_the_codes_own() {
    let now = cove_server::openapi_text();
    if std::env::var_os("COVE_REFRESH").is_some() {
        std::fs::write(FILE, &now).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        committed == now,
        "docs/openapi.json is not what the code says; refresh it: cove openapi > docs/openapi.json"
    );
}

fn operations() -> Vec<(String, String, Value)> {
    let paths = cove_server::openapi()["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.clone(), path.clone(), operation.clone()))
    });
    all.collect()
}

#[test]
fn every_operation_says_what_it_can_answer() {
    let document = cove_server::openapi();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    let all = operations();
    for (method, path, operation) in &all {
        let at = format!("{method} {path}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{at}: its id is taken");
        assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{at}");
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with('2')), "{at}");
        if path != "/health" {
            for status in ["401", "429"] {
                assert!(responses.contains_key(status), "{at} lacks {status}");
            }
        }
        for (status, response) in responses {
            let shared = response["$ref"].as_str().map(|path| document.pointer(path.trim_start_matches('#')).unwrap());
            let response = shared.unwrap_or(response);
            assert!(!response["description"].as_str().unwrap().is_empty(), "{at} {status}");
            assert!(status == "204" || response["content"].is_object(), "{at} {status} has no shape");
        }
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let named = operation["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["name"] == name && one["in"] == "path");
            assert!(named, "{at} does not name {name}");
        }
    }
    assert!(all.len() >= 50, "{} operations", all.len());
}

/// Every link leads to an operation that asks for what it carries.
#[test]
fn every_link_leads_to_an_operation() {
    let all = operations();
    let mut seen = 0;
    for (_, path, operation) in &all {
        for response in operation["responses"].as_object().unwrap().values() {
            for link in response["links"].as_object().into_iter().flat_map(serde_json::Map::values) {
                let to = all.iter().find(|(_, _, other)| other["operationId"] == link["operationId"]);
                let (_, there, _) = to.unwrap_or_else(|| panic!("{path}: {link}"));
                for name in link["parameters"].as_object().unwrap().keys() {
                    assert!(there.contains(&format!("{{{name}}}")), "{path}: {link}");
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Every `$ref` leads somewhere.
#[test]
fn every_reference_leads_somewhere() {
    fn walk(document: &Value, value: &Value, seen: &mut usize) {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
                    *seen += 1;
                }
                fields.values().for_each(|value| walk(document, value, seen));
            }
            Value::Array(items) => items.iter().for_each(|value| walk(document, value, seen)),
            _ => {}
        }
    }
    let mut seen = 0;
    walk(cove_server::openapi(), cove_server::openapi(), &mut seen);
    assert!(seen > 100, "{seen}");
}

/// Every operation is there, with and without the version, and behind the gate.
#[tokio::test]
async fn every_operation_answers_and_is_behind_the_gate() {
    let place = Place::new().await;
    for (method, path, _) in operations() {
        if path == "/health" {
            continue;
        }
        let concrete = path.replace("{id}", "sandbox-0123456789ab").replace(['{', '}'], "");
        for path in [concrete.clone(), concrete.trim_start_matches("/v1").to_owned()] {
            let status = place.without_key(&method.to_uppercase(), &path).send().await.unwrap().status();
            assert_eq!(status, 401, "{method} {path}");
        }
    }
    place.server.close().await;
}

#[tokio::test]
async fn the_page_needs_nothing_from_elsewhere() {
    let place = Place::new().await;
    let response = place.without_key("GET", "/docs").send().await.unwrap();
    assert!(response.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    let page = response.text().await.unwrap();
    assert!(page.contains("/v1/sandboxes/{id}/python/exec") && page.contains("SandboxInfo"));
    for outside in ["src=", "<script", "url(", "@import", "href=\"http", "href=http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let document: Value = place.without_key("GET", "/openapi.json").send().await.unwrap().json().await.unwrap();
    assert_eq!(&document, cove_server::openapi());
    place.server.close().await;
}
