//! What code gives to the functions that it calls, in the forms that models write.

use cove_core::ToolError;
use serde_json::{Map, Value};

use crate::catalog::Entry;
use crate::types::required;
use crate::wrap::coded;

/// The arguments of a call: an object, or the one value that the tool needs.
pub(crate) fn arguments(entry: &Entry, mut given: Vec<Value>) -> Result<Map<String, Value>, ToolError> {
    while matches!(given.last(), Some(Value::Null)) {
        given.pop();
    }
    let needed = required(&entry.input);
    match (given.len(), needed.as_slice()) {
        (0, _) => Ok(Map::new()),
        (1, _) if given.first().is_some_and(Value::is_object) => match given.remove(0) {
            Value::Object(args) => Ok(args),
            _ => Ok(Map::new()),
        },
        (1, [name]) => Ok([((*name).to_owned(), given.remove(0))].into_iter().collect()),
        _ => Err(coded("invalid_args", format!("{} takes one object: {}", entry.full_name(), entry.signature()))),
    }
}

pub(crate) fn search_args(args: &[Value]) -> Result<(String, Option<usize>), ToolError> {
    let limit = |value: Option<&Value>| value.and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    match args {
        [Value::String(query)] => Ok((query.clone(), None)),
        [Value::String(query), Value::Object(options), ..] => Ok((query.clone(), limit(options.get("limit")))),
        [Value::String(query), most, ..] => Ok((query.clone(), limit(Some(most)))),
        [Value::Object(options), ..] if options.get("query").is_some_and(Value::is_string) => {
            let query = options.get("query").and_then(Value::as_str).unwrap_or_default();
            Ok((query.to_owned(), limit(options.get("limit"))))
        }
        _ => Err(ToolError::new("search_tools takes words: `await search_tools(\"create issue\")`")),
    }
}

pub(crate) fn names_of(args: &[Value]) -> Vec<String> {
    let one = |value: &Value| -> Vec<String> {
        match value {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::Object(options) => {
                let names = options.get("names").and_then(Value::as_array);
                names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    };
    args.iter().flat_map(one).collect()
}
