//! 422: what was sent does not parse, or does not fit its schema; with the place of each problem.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cove_api::{Misfit, SchemaErrors, SchemaProblem};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// Problems of one body or query.
#[derive(Debug)]
pub(crate) struct Problems {
    place: &'static str,
    found: Vec<SchemaProblem>,
    /// If all that is wrong is a word that a field does not know: the word, and what the field knows.
    unknown_word: Option<String>,
}

impl Problems {
    /// None yet, in the `body`, the `query` or the `path`.
    pub(crate) fn at(place: &'static str) -> Self {
        Self { place, found: Vec::new(), unknown_word: None }
    }

    /// One about a field; none: about the whole.
    pub(crate) fn add(&mut self, field: Option<&str>, kind: &str, msg: impl Into<String>) {
        let loc = std::iter::once(self.place).chain(field).map(Value::from).collect();
        self.found.push(SchemaProblem { loc, msg: msg.into(), kind: kind.to_owned() });
    }

    /// A number that must be within bounds.
    pub(crate) fn range<N: PartialOrd + std::fmt::Display + Copy>(&mut self, field: &str, value: N, min: N, max: N) {
        if value < min {
            self.add(Some(field), "greater_than_equal", format!("must be at least {min}, and is {value}"));
        } else if value > max {
            self.add(Some(field), "less_than_equal", format!("must be at most {max}, and is {value}"));
        }
    }

    /// A text that must say something.
    pub(crate) fn filled(&mut self, field: &str, text: &str) {
        if text.is_empty() {
            self.add(Some(field), "string_too_short", "must not be empty");
        }
    }

    /// A list that must hold something.
    pub(crate) fn some<T>(&mut self, field: &str, list: &[T]) {
        if list.is_empty() {
            self.add(Some(field), "too_short", "must not be empty");
        }
    }

    /// `Err` once there is one.
    pub(crate) fn verdict(self) -> Result<(), Self> {
        if self.found.is_empty() { Ok(()) } else { Err(self) }
    }

    /// If all that is wrong is a word that one of these fields does not know: which, and what it knows.
    pub(crate) fn unknown_word(&self, fields: &[&str]) -> Option<String> {
        let [problem] = self.found.as_slice() else { return None };
        let field = problem.loc.get(1)?.as_str().filter(|field| fields.contains(field))?;
        Some(format!("unknown `{field}` {}", self.unknown_word.as_ref()?))
    }

    fn parse(place: &'static str, path: &Path, message: &str) -> Self {
        let mut loc = vec![Value::from(place)];
        loc.extend(path.iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(Value::from(*index)),
            Segment::Map { key } => Some(Value::from(key.as_str())),
            Segment::Enum { variant } => Some(Value::from(variant.as_str())),
            Segment::Unknown => None,
        }));
        let mut unknown_word = None;
        let (kind, msg) = match Misfit::read(message) {
            // The place of a field that is not there is the object around it.
            Misfit::Missing(field) => {
                if loc.last().and_then(Value::as_str) != Some(field) || loc.len() == 1 {
                    loc.push(field.into());
                }
                ("missing", "this field is required".to_owned())
            }
            misfit => {
                if let Misfit::UnknownWord { given, expected } = misfit {
                    unknown_word = Some(format!("{given}, expected {expected}"));
                }
                ("value_error", message.to_owned())
            }
        };
        Self { place, found: vec![SchemaProblem { loc, msg, kind: kind.to_owned() }], unknown_word }
    }
}

impl IntoResponse for Problems {
    fn into_response(self) -> Response {
        (StatusCode::UNPROCESSABLE_ENTITY, axum::Json(SchemaErrors { detail: self.found })).into_response()
    }
}

/// Reads JSON; an empty body is `{}`, so that a request whose every field has a default needs none.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problems> {
    let text: &[u8] = if bytes.iter().all(u8::is_ascii_whitespace) { b"{}" } else { bytes };
    // Every body is an object; left alone, serde would also take a list of its fields.
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok() {
        let mut problems = Problems::at("body");
        problems.add(None, "value_error", "must be an object");
        return Err(problems);
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, inner) = (error.path().clone(), error.into_inner());
        if inner.is_data() {
            let message = inner.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(sentence, _)| sentence);
            Problems::parse("body", &path, message)
        } else {
            let mut problems = Problems::at("body");
            problems.add(None, "json_invalid", format!("not JSON: {inner}"));
            problems
        }
    })?;
    reader.end().map_err(|error| {
        let mut problems = Problems::at("body");
        problems.add(None, "json_invalid", format!("not JSON: {error}"));
        problems
    })?;
    Ok(value)
}

/// Reads a query.
pub(crate) fn read_query<T: DeserializeOwned>(query: &str) -> Result<T, Problems> {
    let reader = serde_urlencoded::Deserializer::new(form_urlencoded(query));
    serde_path_to_error::deserialize(reader).map_err(|error| {
        let path = error.path().clone();
        Problems::parse("query", &path, &error.into_inner().to_string())
    })
}

fn form_urlencoded(query: &str) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(query.as_bytes())
}

#[cfg(test)]
mod tests {
    use cove_api::{BrowserBatchRequest, Promote, PythonExecRequest, ReleaseQuery, SandboxQuery};
    use serde_json::{Value, json};

    use super::*;

    fn first(result: Result<impl Sized, Problems>) -> (Value, String) {
        let Err(problems) = result else { panic!("was taken") };
        let problem = &problems.found[0];
        (problem.loc.clone().into(), problem.kind.clone())
    }

    /// What is sent, where the finger points, and the kind of problem.
    #[test]
    fn problems_point_at_their_place() {
        let check = |text: &str, loc: Value, kind: &str| {
            assert_eq!(first(read_json::<PythonExecRequest>(text.as_bytes())), (loc, kind.to_owned()), "{text}");
        };
        check("", json!(["body", "code"]), "missing");
        check("{}", json!(["body", "code"]), "missing");
        check("{", json!(["body"]), "json_invalid");
        check("{\"code\":\"1\"} x", json!(["body"]), "json_invalid");
        check("[\"print(1)\"]", json!(["body"]), "value_error");
        check("3", json!(["body"]), "value_error");
        check("{\"code\": 3}", json!(["body", "code"]), "value_error");
        check("{\"code\": \"1\", \"timeout\": \"x\"}", json!(["body", "timeout"]), "value_error");
        let batch = read_json::<BrowserBatchRequest>(br#"{"commands": ["a", 1]}"#);
        assert_eq!(first(batch), (json!(["body", "commands", 1]), "value_error".to_owned()));
        let query = read_query::<SandboxQuery>("limit=x");
        assert_eq!(first(query), (json!(["query", "limit"]), "value_error".to_owned()));
        assert_eq!(read_query::<SandboxQuery>("limit=3&other=1").unwrap().limit, Some(3));
    }

    /// Only the unknown word of a named field: what is of another type, or another field's, stays a misfit.
    #[test]
    fn unknown_words_are_told_from_misfits() {
        let check = |result: Result<Promote, Problems>, expected: Option<&str>| {
            let Err(problems) = result else { panic!("was taken") };
            assert_eq!(problems.unknown_word(&["stage"]).as_deref(), expected);
            assert_eq!(problems.unknown_word(&["status"]), None);
        };
        let said = "unknown `stage` `x`, expected `canary` or `stable`";
        check(read_json(br#"{"stage": "x"}"#), Some(said));
        check(read_json(br#"{"stage": 3}"#), None);
        check(read_json(br#"{"upgrade_reason": 3}"#), None);
        check(read_json(b"{"), None);
        let Err(problems) = read_query::<ReleaseQuery>("stage=x") else { panic!("was taken") };
        assert_eq!(problems.unknown_word(&["stage"]).as_deref(), Some(said));
    }
}
