//! TypeScript declarations from JSON Schemas: what a model reads before it writes a call.
//!
//! A declaration says no less than the schema where that helps to write a call (names, types, what is optional, the words
//! about each argument), and stops where a schema goes on for pages. A schema is a stranger's text: its depth, its
//! references and its length are bounded, and its words cannot end a comment.

use serde_json::{Map, Value};

/// How deep a type is written out; below that it is `unknown`.
const MAX_DEPTH: usize = 6;

/// The longest type, in characters.
const MAX_CHARS: usize = 6_000;

/// Members of a union or an object that are written out.
const MAX_MEMBERS: usize = 60;

/// The type of a schema, as TypeScript writes it.
pub(crate) fn type_of(schema: &Value) -> String {
    let mut writer = Writer { root: schema, chars: 0 };
    writer.write(schema, 0, false)
}

/// The type of an argument object, with the words about each argument.
pub(crate) fn args_of(schema: &Value) -> String {
    let mut writer = Writer { root: schema, chars: 0 };
    writer.write(schema, 0, true)
}

/// The names of the arguments, those that are optional with a `?`.
pub(crate) fn arg_names(schema: &Map<String, Value>) -> Vec<String> {
    let required = required(schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let (must, may): (Vec<_>, Vec<_>) = properties.keys().partition(|name| required.contains(&name.as_str()));
    must.into_iter().cloned().chain(may.into_iter().map(|name| format!("{name}?"))).collect()
}

pub(crate) fn required(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// A name as a property is written.
pub(crate) fn property(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { Value::String(name.to_owned()).to_string() }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$')
}

/// Words for a comment: on one line, and nothing in them ends it.
pub(crate) fn comment(words: &str, most: usize) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}

struct Writer<'a> {
    root: &'a Value,
    chars: usize,
}

impl Writer<'_> {
    fn write(&mut self, schema: &Value, depth: usize, words: bool) -> String {
        if depth > MAX_DEPTH || self.chars > MAX_CHARS {
            return "unknown".to_owned();
        }
        let text = self.form(schema, depth, words);
        self.chars += text.len().checked_div(depth).unwrap_or_default();
        text
    }

    fn form(&mut self, schema: &Value, depth: usize, words: bool) -> String {
        let Some(schema) = schema.as_object() else { return "unknown".to_owned() };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|at| self.root.pointer(at)).cloned();
            return target.map_or("unknown".to_owned(), |target| self.write(&target, depth + 1, words));
        }
        if let Some(only) = schema.get("const") {
            return literal(only);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(literal));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                let choices: Vec<String> =
                    choices.iter().take(MAX_MEMBERS).map(|choice| self.write(choice, depth + 1, words)).collect();
                return union(choices.into_iter());
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let parts: Vec<String> = parts.iter().map(|part| self.write(part, depth + 1, words)).collect();
            return parts.join(" & ");
        }
        match schema.get("type") {
            Some(Value::Array(kinds)) => {
                let kinds: Vec<String> = kinds
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|kind| self.simple(kind, schema, depth, words))
                    .collect();
                union(kinds.into_iter())
            }
            Some(Value::String(kind)) => self.simple(kind, schema, depth, words),
            _ if schema.contains_key("properties") => self.object(schema, depth, words),
            _ => "unknown".to_owned(),
        }
    }

    fn simple(&mut self, kind: &str, schema: &Map<String, Value>, depth: usize, words: bool) -> String {
        match kind {
            "string" => "string".to_owned(),
            "number" | "integer" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => {
                if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
                    let items: Vec<String> = items.iter().map(|item| self.write(item, depth + 1, false)).collect();
                    return format!("[{}]", items.join(", "));
                }
                let item = schema.get("items").map_or("unknown".to_owned(), |item| self.write(item, depth + 1, words));
                if item.contains([' ', '|', '&']) && !item.starts_with('{') {
                    format!("({item})[]")
                } else {
                    format!("{item}[]")
                }
            }
            "object" => self.object(schema, depth, words),
            _ => "unknown".to_owned(),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize, words: bool) -> String {
        let properties = schema.get("properties").and_then(Value::as_object).filter(|known| !known.is_empty());
        let Some(properties) = properties else {
            return match schema.get("additionalProperties") {
                Some(values @ Value::Object(_)) => format!("Record<string, {}>", self.write(values, depth + 1, false)),
                Some(Value::Bool(false)) => "{}".to_owned(),
                _ if depth == 0 && schema.contains_key("properties") => "{}".to_owned(),
                _ => "Record<string, unknown>".to_owned(),
            };
        };
        let required = required(schema);
        let mut fields = Vec::new();
        for (name, property_schema) in properties.iter().take(MAX_MEMBERS) {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            let kind = self.write(property_schema, depth + 1, words);
            let about = property_schema.get("description").and_then(Value::as_str).filter(|_| words);
            let about = about.map(|about| format!("/** {} */ ", comment(about, 160))).unwrap_or_default();
            fields.push(format!("{about}{}{optional}: {kind}", property(name)));
        }
        if properties.len() > MAX_MEMBERS {
            fields.push(format!("/* and {} more */", properties.len() - MAX_MEMBERS));
        }
        format!("{{ {} }}", fields.join("; "))
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => comment(&value.to_string(), 80),
        _ => "unknown".to_owned(),
    }
}

fn union(members: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for member in members {
        if !seen.contains(&member) && seen.len() < MAX_MEMBERS {
            seen.push(member);
        }
    }
    if seen.is_empty() { "unknown".to_owned() } else { seen.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_written_as_types() {
        for (schema, expected) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["string", "null"]}), "string | null"),
            (json!({"enum": ["a", "b", 1]}), "\"a\" | \"b\" | 1"),
            (json!({"type": "array", "items": {"type": "integer"}}), "number[]"),
            (json!({"type": "array", "items": {"enum": ["a", "b"]}}), "(\"a\" | \"b\")[]"),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string | null"),
            (json!({"type": "object", "additionalProperties": {"type": "number"}}), "Record<string, number>"),
            (json!({"type": "object", "properties": {}}), "{}"),
            (
                json!({"type": "object", "properties": {"a-b": {"type": "string"}, "c": {}}, "required": ["a-b"]}),
                "{ \"a-b\": string; c?: unknown }",
            ),
            (json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}), "number"),
            (json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]}), "[string, number]"),
            (json!(true), "unknown"),
        ] {
            assert_eq!(type_of(&schema), expected, "{schema}");
        }
        let words = json!({"properties": {"a": {"type": "string", "description": "It ends */ here.\nSo."}}});
        assert_eq!(args_of(&words), "{ /** It ends * / here. So. */ a?: string }");
    }

    #[test]
    fn a_hostile_schema_ends() {
        let round = json!({"$ref": "#"});
        assert_eq!(type_of(&round), "unknown");
        let mut deep = json!({"type": "string"});
        for _ in 0..200 {
            deep = json!({"type": "object", "properties": {"a": deep.clone(), "b": {"$ref": "#"}}});
        }
        assert!(type_of(&deep).len() < 40_000);
        let wide: Map<String, Value> = (0..5_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
        assert!(type_of(&json!({"type": "object", "properties": wide})).contains("and 4940 more"));
    }

    #[test]
    fn names_of_arguments_say_what_may_be_left_out() {
        let schema = json!({"properties": {"b": {}, "a": {}}, "required": ["a"]});
        assert_eq!(arg_names(schema.as_object().unwrap()), ["a", "b?"]);
    }
}
