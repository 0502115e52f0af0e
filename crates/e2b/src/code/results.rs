//! Results of Python, in the words of the code interpreter.

use std::collections::BTreeMap;

use cove_api::PythonResult;
use serde_json::{Map, Value, json};

/// Forms that clients know by a name of their own.
const NAMES: [(&str, &str); 10] = [
    ("text/plain", "text"),
    ("text/html", "html"),
    ("text/markdown", "markdown"),
    ("image/svg+xml", "svg"),
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("application/pdf", "pdf"),
    ("text/latex", "latex"),
    ("application/json", "json"),
    ("application/javascript", "javascript"),
];

const CHART: &str = "application/vnd.cove.chart+json";

/// One result as a line.
pub(super) fn result(one: &PythonResult) -> Value {
    line(&one.data, one.main)
}

/// A line of these forms.
fn line(data: &BTreeMap<String, Value>, main: bool) -> Value {
    let mut line = Map::new();
    line.insert("type".to_owned(), json!("result"));
    let mut extra = Map::new();
    for (form, value) in data {
        let name = NAMES.iter().find(|(known, _)| known == form).map(|(_, name)| *name);
        match name {
            // Clients take these for objects.
            Some("json") if !value.is_object() => drop(extra.insert(form.clone(), value.clone())),
            Some(name) => drop(line.insert(name.to_owned(), value.clone())),
            None if form == CHART => drop(line.insert("chart".to_owned(), value.clone())),
            None => drop(extra.insert(form.clone(), value.clone())),
        }
    }
    line.insert("is_main_result".to_owned(), json!(main));
    if !extra.is_empty() {
        line.insert("extra".to_owned(), Value::Object(extra));
    }
    Value::Object(line)
}

/// A value of another language.
pub(super) fn value(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut data = BTreeMap::from([("text/plain".to_owned(), json!(text))]);
    if value.is_object() {
        data.insert("application/json".to_owned(), value.clone());
    }
    line(&data, true)
}
