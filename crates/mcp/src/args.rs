//! The arguments of a call, as a model sends them.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// What was sent, without the name of the sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Args(JsonObject);

impl Args {
    pub(crate) fn new(given: Option<JsonObject>) -> Self {
        // Models write `null` for what they leave out.
        let kept = given.unwrap_or_default().into_iter().filter(|(name, value)| !value.is_null() || name == "input");
        Self(kept.collect())
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
        serde_json::from_value(self.into_value()).map_err(|error| Failure::args(error.to_string()))
    }
}
