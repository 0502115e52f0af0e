//! What was probably meant: a name that is not there, and the nearest that is.

use cove_api::{ErrorCode, SandboxQuery};
use cove_client::{Client, ClientError};

use crate::terminal::{DIM, PLAIN, note};

/// Says what a refused name was probably meant to be. Only a hint: where it cannot be found, nothing is said.
pub(super) async fn hint(bay: &Client, error: &ClientError) {
    let ClientError::Refused { error, .. } = error else { return };
    match error.code {
        ErrorCode::NotFound => {
            let Some(asked) = error.details.get("id").and_then(serde_json::Value::as_str) else { return };
            let query = SandboxQuery { limit: Some(200), ..SandboxQuery::default() };
            let Ok(page) = bay.list_sandboxes(&query).await else { return };
            match nearest(asked, page.items.iter().map(|item| item.id.as_str())) {
                Some(id) => note!("{DIM}hint:{PLAIN} did you mean {id}?"),
                None => note!("{DIM}hint:{PLAIN} `cove sandbox list` lists the existing ones"),
            }
        }
        ErrorCode::ValidationError => {
            let Some(known) = error.details.get("available").and_then(serde_json::Value::as_array) else { return };
            let known: Vec<&str> = known.iter().filter_map(serde_json::Value::as_str).collect();
            note!("{DIM}hint:{PLAIN} there are {}", known.join(", "));
        }
        _ => {}
    }
}

/// The one that begins or ends with what was typed, or differs from it in two letters at most.
fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let short = asked.trim_start_matches("sandbox-");
    let score = |id: &str| {
        let own = id.trim_start_matches("sandbox-");
        let part = short.len() >= 3 && (own.starts_with(short) || own.ends_with(short));
        if part { 0 } else { strsim::levenshtein(own, short) }
    };
    known.map(|id| (score(id), id)).filter(|(score, _)| *score <= 2).min().map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_is_near() {
        let known = ["sandbox-0123456789ab", "sandbox-ffffffffffff"];
        let check = |asked: &str, expected: Option<&str>| {
            assert_eq!(nearest(asked, known.into_iter()), expected, "{asked}");
        };
        check("sandbox-0123456789ac", Some(known[0]));
        check("sandbox-0123456789a", Some(known[0]));
        check("0123", Some(known[0]));
        check("ffff", Some(known[1]));
        check("sandbox-000000000000", None);
        check("nonsense", None);
        check("", None);
    }
}
