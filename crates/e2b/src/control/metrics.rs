//! What a sandbox uses, and what was done in it.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use cove_api::{HistoryEntry, HistoryQuery, Moment};
use serde_json::{Value, json};

use super::megabytes;
use crate::door::{E2bDoor, Guest};
use crate::refusal::Refused;

/// Between the two looks that give the use of processors.
const BETWEEN: Duration = Duration::from_millis(50);

/// Sandboxes whose metrics may be asked for at once.
const MAX_SEVERAL: usize = 100;

/// Entries of the history that are told as logs.
const MAX_ENTRIES: u32 = 500;

async fn measured(door: &E2bDoor, guest: &Guest) -> Option<Value> {
    let first = door.bay.sandbox_usage(&guest.id).await?;
    tokio::time::sleep(BETWEEN).await;
    let second = door.bay.sandbox_usage(&guest.id).await?;
    let listed = super::listed(door, &guest.info, &guest.record);
    let profiles = door.bay.profiles(false);
    let profile = profiles.items.iter().find(|profile| profile.id == guest.info.profile);
    let memory_mb = profile.map_or(512, |profile| megabytes(&profile.resources.memory));
    #[expect(clippy::cast_precision_loss, reason = "milliseconds fit")]
    let cpu = second.cpu_ms.saturating_sub(first.cpu_ms) as f64 / BETWEEN.as_millis() as f64 * 100.0;
    let cargo = door.bay.cargo(&guest.owner, &guest.info.cargo_id).await.ok()?;
    let used = door.bay.cargo_bytes(&cargo).await;
    let now = Moment::now();
    Some(json!({
        "timestamp": now,
        "timestampUnix": now.micros() / 1_000_000,
        "cpuCount": listed["cpuCount"],
        "cpuUsedPct": cpu,
        "memUsed": second.memory_bytes,
        "memTotal": memory_mb << 20,
        "memCache": 0,
        "diskUsed": used.unwrap_or(0),
        "diskTotal": u64::from(cargo.size_limit_mb) << 20,
    }))
}

/// As it is now: what was before is not kept.
pub(super) async fn metrics(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<Json<Vec<Value>>, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    Ok(Json(measured(&door, &guest).await.into_iter().collect()))
}

pub(super) async fn of_several(State(door): State<E2bDoor>, parts: Parts) -> Result<Json<Value>, Refused> {
    let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
    let ids: Vec<String> = query.filter(|(name, _)| name == "sandbox_ids").map(|(_, ids)| ids.into_owned()).collect();
    let ids: Vec<&str> = ids.iter().flat_map(|ids| ids.split(',')).take(MAX_SEVERAL).collect();
    let mut all = serde_json::Map::new();
    for id in ids {
        if let Ok(guest) = super::guest(&door, &parts, id).await
            && let Some(figures) = measured(&door, &guest).await
        {
            all.insert(id.to_owned(), figures);
        }
    }
    Ok(Json(json!({"sandboxes": all})))
}

/// What of the history is asked for.
#[derive(Debug, Default)]
struct AskedLogs {
    limit: usize,
    /// In milliseconds since 1970; entries of one side of it.
    cursor: Option<i64>,
    newest_first: bool,
    level: Option<String>,
    search: Option<String>,
}

impl AskedLogs {
    fn of(parts: &Parts) -> Result<Self, Refused> {
        let mut asked = Self { limit: MAX_ENTRIES as usize, ..Self::default() };
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            let number = || value.parse().map_err(|_| Refused::invalid(format!("`{name}` must be a number")));
            match &*name {
                "limit" => asked.limit = usize::try_from(number()?).unwrap_or(0).min(asked.limit),
                "cursor" | "start" => asked.cursor = Some(number()?),
                "direction" => asked.newest_first = value == "backward",
                "level" => asked.level = Some(value.into_owned()),
                "search" => asked.search = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(asked)
    }

    fn wants(&self, entry: &HistoryEntry) -> bool {
        let at = entry.created_at.micros() / 1_000;
        self.cursor.is_none_or(|cursor| if self.newest_first { at < cursor } else { at >= cursor })
            && self.search.as_ref().is_none_or(|text| entry.code.contains(text.as_str()))
            // A level names the least that is wanted; what failed is an error, and all else is information.
            && (!entry.success || matches!(self.level.as_deref(), None | Some("debug" | "info")))
    }
}

/// What was done in a sandbox, the oldest first unless asked for otherwise.
async fn entries(door: &E2bDoor, parts: &Parts, id: &str) -> Result<Vec<Value>, Refused> {
    let guest = super::guest(door, parts, id).await?;
    let asked = AskedLogs::of(parts)?;
    let query = HistoryQuery { limit: Some(MAX_ENTRIES), ..HistoryQuery::default() };
    let mut found = door.bay.history(&guest.owner, &guest.id, query).await?.entries;
    if !asked.newest_first {
        found.reverse();
    }
    let told = found.iter().filter(|entry| asked.wants(entry)).take(asked.limit).map(|entry| {
        let (level, how) = if entry.success { ("info", "ended well") } else { ("error", "failed") };
        let begin: String = entry.code.chars().take(200).collect();
        json!({
            "timestamp": entry.created_at,
            "level": level,
            "message": format!("{} {how}: {begin}", entry.exec_type.as_str()),
            "fields": {"executionID": entry.id, "type": entry.exec_type},
        })
    });
    Ok(told.collect())
}

pub(super) async fn logs(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<Json<Value>, Refused> {
    let entries = entries(&door, &parts, &id).await?;
    let lines: Vec<Value> =
        entries.iter().map(|entry| json!({"timestamp": entry["timestamp"], "line": entry["message"]})).collect();
    Ok(Json(json!({"logs": lines, "logEntries": entries})))
}

pub(super) async fn logs_in_entries(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<Json<Value>, Refused> {
    Ok(Json(json!({"logs": entries(&door, &parts, &id).await?})))
}
