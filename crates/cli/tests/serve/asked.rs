//! Calls by operation, each answer held against the OpenAPI document: a status that it does not list is a fault.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{KEY, Served};

/// What was seen of each operation.
#[derive(Default)]
pub(crate) struct Seen {
    answers: BTreeMap<String, BTreeSet<String>>,
}

/// An operation's method, its path, and the statuses that it can give.
pub(crate) fn operation(id: &str) -> (String, String, BTreeSet<u16>) {
    for (path, item) in cove_server::openapi()["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["operationId"] == id {
                let statuses = operation["responses"].as_object().unwrap().keys().map(|status| status.parse().unwrap());
                return (method.to_uppercase(), path.clone(), statuses.collect());
            }
        }
    }
    panic!("no operation {id}");
}

pub(crate) fn path_of(id: &str, names: &[(&str, &str)], query: &str) -> (String, String) {
    let (method, mut path, _) = operation(id);
    for (name, value) in names {
        path = path.replace(&format!("{{{name}}}"), value);
    }
    assert!(!path.contains('{'), "{id}: {path} lacks a name");
    (method, if query.is_empty() { path } else { format!("{path}?{query}") })
}

impl Seen {
    pub(crate) fn note(&mut self, id: &str, status: u16, body: &Value) {
        let (_, _, documented) = operation(id);
        assert!(documented.contains(&status), "{id} answered {status}, which its description does not list: {body}");
        let what = match (status, body["error"]["code"].as_str()) {
            (200..300, _) => "success".to_owned(),
            (_, Some(code)) => code.to_owned(),
            (_, None) => status.to_string(),
        };
        self.answers.entry(id.to_owned()).or_default().insert(what);
    }

    /// Asks, and holds the answer against what is expected: `success`, a code, or a status.
    pub(crate) async fn check(
        &mut self,
        served: &Served,
        id: &str,
        names: &[(&str, &str)],
        query: &str,
        body: Value,
        expected: &str,
    ) -> Value {
        let (method, path) = path_of(id, names, query);
        let mut request = served.request(KEY, &method, &path);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        assert!(response.headers().contains_key("x-request-id"), "{id}");
        let status = response.status().as_u16();
        let answer: Value = response.json().await.unwrap_or_default();
        self.note(id, status, &answer);
        let seen = match (status, answer["error"]["code"].as_str()) {
            (200..300, _) => "success".to_owned(),
            (_, Some(code)) => code.to_owned(),
            (_, None) => status.to_string(),
        };
        assert_eq!(seen, expected, "{method} {path} {body}: {status} {answer}");
        answer
    }

    /// Every operation was seen to succeed.
    pub(crate) fn complete(&self) {
        for (path, item) in cove_server::openapi()["paths"].as_object().unwrap() {
            for operation in item.as_object().unwrap().values() {
                let id = operation["operationId"].as_str().unwrap();
                let seen = self.answers.get(id).cloned().unwrap_or_default();
                assert!(seen.contains("success"), "{id} ({path}) was not seen to succeed: {seen:?}");
                if path.contains("{id}") {
                    assert!(seen.len() >= 2, "{id} was not seen to refuse anything: {seen:?}");
                }
            }
        }
    }
}
