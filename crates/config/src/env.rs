//! The environment on top of the file: `BAY_SERVER__PORT=9000` is `server.port`.

use serde_json::Value;

use crate::load::{ConfigError, known_words, nearest, strict};
use crate::{Config, Secret};

/// Variables that are no words of the configuration.
const OTHERS: [&str; 2] = ["BAY_CONFIG_FILE", "BAY_API_KEY"];

/// Lays the variables over a configuration; what is unknown becomes a warning.
pub(crate) fn overlay(
    mut config: Config,
    vars: impl Iterator<Item = (String, String)>,
    warnings: &mut Vec<String>,
) -> Result<Config, ConfigError> {
    let known = known_words();
    let mut vars: Vec<_> = vars.filter(|(name, value)| name.starts_with("BAY_") && !value.is_empty()).collect();
    vars.sort();
    for (name, text) in vars {
        if name == "BAY_API_KEY" {
            config.security.api_key = Some(Secret::new(text));
            continue;
        }
        if OTHERS.contains(&name.as_str()) {
            continue;
        }
        let words: Vec<String> = name["BAY_".len()..].split("__").map(str::to_ascii_lowercase).collect();
        if let Some((at, nearest)) = unknown(&known, &words) {
            let hint = nearest.map(|word| format!("; did you mean {word}?")).unwrap_or_default();
            if let Some(reason) = strict(&words, &hint) {
                return Err(ConfigError::value(&name, &reason));
            }
            warnings.push(format!("{name}: unknown setting {:?}{hint}", words[at]));
            continue;
        }
        let tree = serde_json::to_value(&config).map_err(|error| ConfigError::value(&name, &error.to_string()))?;
        // A number, a truth value, a list or a map as YAML has it; else the text as it is.
        let read = serde_saphyr::from_str::<Value>(&text).ok().filter(|value| !value.is_null());
        let tries = read.into_iter().chain([Value::String(text.clone())]);
        let mut first = None;
        let laid = tries
            .map(|value| {
                let mut tree = tree.clone();
                set(&mut tree, &words, value);
                serde_json::from_value::<Config>(tree)
            })
            .find_map(|result| result.map_err(|error| first.get_or_insert(error.to_string()).len()).ok());
        config = laid.ok_or_else(|| ConfigError::value(&name, &first.unwrap_or_default()))?;
    }
    Ok(config)
}

fn set(tree: &mut Value, words: &[String], value: Value) {
    let Some((first, rest)) = words.split_first() else {
        *tree = value;
        return;
    };
    if !tree.is_object() {
        *tree = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(fields) = tree {
        set(fields.entry(first.clone()).or_insert(Value::Null), rest, value);
    }
}

/// The first word that is not known, and the nearest that is.
fn unknown(known: &Value, words: &[String]) -> Option<(usize, Option<String>)> {
    let mut here = known;
    for (at, word) in words.iter().enumerate() {
        match here {
            Value::Object(fields) if !fields.is_empty() => match fields.get(word) {
                Some(field) => here = field,
                None => return Some((at, nearest(word, fields.keys()))),
            },
            // Whatever is in here is the driver's own affair.
            Value::Null => return None,
            Value::Object(_) => return None,
            _ => return Some((at, None)),
        }
    }
    None
}
