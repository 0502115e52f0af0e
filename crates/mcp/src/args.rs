//! The arguments of a call, as a model sends them.

use std::str::FromStr;

use cove_api::{BayError, ErrorCode, IdError, Misfit};
use cove_core::shorten_word;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// What was sent, without the name of the sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Args(JsonObject);

impl Args {
    pub(crate) fn new(given: Option<JsonObject>) -> Self {
        // Models write `null` for what they leave out, and 30.0 for 30. `input` is the guest's: it stays as it is.
        let kept = given.unwrap_or_default().into_iter().filter(|(name, value)| !value.is_null() || name == "input");
        let plain = |(name, value): (String, Value)| match (name.as_str(), whole(&value)) {
            (field, Some(number)) if field != "input" => (name, number.into()),
            _ => (name, value),
        };
        Self(kept.map(plain).collect())
    }

    /// Takes out a text; `None` when it is not there.
    pub(crate) fn take_text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Failure::args(format!("`{name}` must be a string"))),
        }
    }

    /// Takes out a text that must be there.
    pub(crate) fn take_required(&mut self, name: &str) -> Result<String, Failure> {
        self.take_text(name)?.ok_or_else(|| Failure::args(format!("`{name}` is missing")))
    }

    /// Takes out an id that must be there. One that has another form names nothing.
    pub(crate) fn take_id<T: FromStr<Err = IdError>>(&mut self, name: &str) -> Result<T, Failure> {
        id(&self.take_required(name)?)
    }

    /// Takes out any value.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Puts a value in, if there is none.
    pub(crate) fn or_insert(&mut self, name: &str, value: impl Into<Value>) {
        self.0.entry(name).or_insert_with(|| value.into());
    }

    /// All that is left, as one object.
    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// All that is left, as a request. What is unknown is left alone: models add some.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> Result<T, Failure> {
        let sent: Vec<String> = self.0.keys().take(5).map(|name| format!("`{name}`")).collect();
        serde_path_to_error::deserialize(self.into_value()).map_err(|error| {
            let (place, said) = (error.path().to_string(), error.inner().to_string());
            Failure::args(plainly(&place, &said, &sent))
        })
    }
}

/// What is wrong with an argument, in the words of one who sends it.
fn plainly(place: &str, said: &str, sent: &[String]) -> String {
    match Misfit::read(said) {
        Misfit::Missing(field) => {
            let sent = if sent.is_empty() { String::new() } else { format!("; you sent {}", sent.join(", ")) };
            format!("`{field}` is missing{sent}")
        }
        Misfit::Wrong { given, expected } | Misfit::UnknownWord { given, expected } if place != "." => {
            let expected = match expected {
                "u64" | "u32" | "usize" | "i64" | "i32" => "a whole number",
                other => other,
            };
            format!("`{place}` must be {expected}, not {given}")
        }
        _ if place == "." => said.to_owned(),
        _ => format!("`{place}`: {said}"),
    }
}

/// An id; one that has another form names nothing.
pub(crate) fn id<T: FromStr<Err = IdError>>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| {
        let shown = shorten_word(text);
        Failure::from(BayError::new(ErrorCode::NotFound, format!("{shown:?} is not an id: {error}")))
    })
}

/// The whole number that a number with a point is.
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64().filter(|_| value.is_f64())?;
    // Beyond this, not every whole number can be told from its neighbours.
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code)]
    struct Wish {
        code: String,
        timeout: Option<u64>,
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (given, expected) in [
            (json!({}), "`code` is missing"),
            (json!({"script": "1", "timeout": 5}), "`code` is missing; you sent `script`, `timeout`"),
            (json!({"code": 5}), "`code` must be a string, not integer `5`"),
            (json!({"code": "", "timeout": 1.5}), "`timeout` must be a whole number, not floating point `1.5`"),
        ] {
            let args = Args::new(given.as_object().cloned());
            assert_eq!(args.parse::<Wish>().unwrap_err().message, expected);
        }
    }

    #[test]
    fn numbers_and_nulls_as_models_write_them() {
        let given = json!({"code": "", "timeout": 30.0, "tags": null, "input": 2.0});
        let args = Args::new(given.as_object().cloned());
        assert_eq!(args.clone().into_value(), json!({"code": "", "timeout": 30, "input": 2.0}));
        assert_eq!(args.parse::<Wish>().unwrap().timeout, Some(30));
    }
}
