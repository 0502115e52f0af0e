//! From a skill's name to the browser commands that it runs.

use cove_api::{BayError, ErrorCode, ReleaseInfo};
use serde_json::Value;

use super::{candidates, payloads};
use crate::{BayResult, Owner};
use cove_runtime_api::MAX_COMMANDS;
use cove_store::Store;

pub(crate) async fn skill_to_replay(
    store: &Store,
    owner: &Owner,
    skill_key: &str,
    canary_percent: u8,
) -> BayResult<(ReleaseInfo, Vec<String>)> {
    // Existing clients look for these words.
    let none = || BayError::new(ErrorCode::NotFound, format!("No active release found for the skill `{skill_key}`"));
    let release = store.release_to_replay(owner, skill_key, canary_percent).await?.ok_or_else(none)?;
    let candidate = candidates::candidate(store, owner, &release.candidate_id).await?;
    let commands = match candidate.payload_ref.as_deref() {
        Some(reference) => commands_to_replay(&payloads::held(store, owner, reference).await?.body),
        None => recorded(store, owner, &candidate.source_execution_ids).await?,
    };
    match commands {
        Some(commands) if (1..=MAX_COMMANDS).contains(&commands.len()) => Ok((release, commands)),
        _ => {
            let message = format!("the skill `{skill_key}` has no browser commands that could be replayed");
            Err(BayError::new(ErrorCode::Conflict, message).with("release_id", release.id.as_str()))
        }
    }
}

/// Without a payload, what its executions ran: one command, or a batch with a command on each line.
pub(super) async fn recorded(store: &Store, owner: &Owner, sources: &[String]) -> BayResult<Option<Vec<String>>> {
    let mut commands = Vec::new();
    for id in sources {
        match store.source(owner, id).await? {
            Some(source) if source.exec_type.is_browser() => {
                commands.extend(source.code.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(commands))
}

/// The commands in a payload: a list, or an object with one under `commands` or `steps`, of texts or of `{cmd}`.
pub(crate) fn commands_to_replay(payload: &Value) -> Option<Vec<String>> {
    let list = match payload {
        Value::Object(map) => map.get("commands").or_else(|| map.get("steps"))?,
        list => list,
    };
    let command = |step: &Value| step.as_str().or_else(|| step.get("cmd")?.as_str()).map(str::to_owned);
    list.as_array()?.iter().map(command).collect()
}
