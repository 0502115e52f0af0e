//! Control: sandboxes made, found, prolonged, paused and ended, as E2B's REST interface has it.

mod create;
mod lifecycle;
mod list;
mod metrics;
mod refused;
mod templates;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::request::Parts;
use axum::routing::{any, get, post, put};
use cove_api::{Moment, SandboxId, SandboxInfo};
use cove_bay::Owner;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::door::{E2bDoor, Guest};
use crate::envd::VERSION;
use crate::record::Record;
use crate::refusal::Refused;

/// The largest body.
const MAX_BODY_BYTES: usize = 2 << 20;

/// Everything without a sandbox's header.
pub(crate) fn router(door: E2bDoor) -> Router {
    Router::new()
        .route("/health", get(async || "OK"))
        .route("/sandboxes", post(create::create).get(list::first))
        .route("/v2/sandboxes", post(create::create).get(list::second))
        .route("/sandboxes/metrics", get(metrics::of_several))
        .route("/sandboxes/{id}", get(lifecycle::show).delete(lifecycle::kill))
        .route("/sandboxes/{id}/connect", post(lifecycle::connect))
        .route("/v2/sandboxes/{id}/connect", post(lifecycle::connect))
        .route("/sandboxes/{id}/resume", post(lifecycle::resume))
        .route("/sandboxes/{id}/pause", post(lifecycle::pause))
        .route("/sandboxes/{id}/timeout", post(lifecycle::timeout))
        .route("/sandboxes/{id}/refreshes", post(lifecycle::refresh))
        .route("/sandboxes/{id}/network", put(lifecycle::network))
        .route("/sandboxes/{id}/metrics", get(metrics::metrics))
        .route("/sandboxes/{id}/logs", get(metrics::logs))
        .route("/v2/sandboxes/{id}/logs", get(metrics::logs_in_entries))
        .route("/sandboxes/{id}/snapshots", any(refused::snapshots))
        .route("/snapshots", any(refused::snapshots))
        .route("/sandboxes/{id}/fork", any(refused::fork))
        .route("/templates", get(templates::list).post(refused::build))
        .route("/v2/templates", get(templates::list).post(refused::build))
        .route("/v3/templates", post(refused::build))
        .route("/default-templates", get(templates::list))
        .route("/templates/aliases/{alias}", get(templates::alias))
        .route("/templates/{*rest}", any(refused::build))
        .route("/v2/templates/{*rest}", any(refused::build))
        .route("/volumes", any(refused::volumes))
        .route("/volumes/{*rest}", any(refused::volumes))
        .route("/secrets", any(refused::secrets))
        .route("/secrets/{*rest}", any(refused::secrets))
        .fallback(refused::unknown)
        .method_not_allowed_fallback(refused::unknown)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(door)
}

/// Who calls.
fn owner(parts: &Parts) -> Result<Owner, Refused> {
    let owner = parts.extensions.get::<Owner>().cloned();
    owner.ok_or_else(|| Refused::new(axum::http::StatusCode::UNAUTHORIZED, "this request needs a key"))
}

/// A sandbox of the caller's, by its id in the path.
async fn guest(door: &E2bDoor, parts: &Parts, id: &str) -> Result<Guest, Refused> {
    let parsed: Result<SandboxId, _> = id.parse();
    let shown: String = id.chars().take(64).collect();
    let id = parsed.map_err(|_| Refused::missing(format!("The sandbox {shown} was not found")))?;
    door.known(owner(parts)?, id).await
}

/// A JSON body; none at all is an empty object.
fn body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refused> {
    let bytes = if bytes.is_empty() { b"{}" } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| Refused::invalid(format!("the body cannot be read: {error}")))
}

/// A sandbox with what its traffic needs.
fn admitted(door: &E2bDoor, guest: &Guest) -> Value {
    json!({
        "templateID": guest.info.profile,
        "alias": guest.record.template,
        "sandboxID": guest.id,
        "clientID": "cove",
        "envdVersion": VERSION,
        "envdAccessToken": guest.record.token,
        "trafficAccessToken": guest.record.token,
        "domain": door.bay.ports_domain(),
    })
}

/// What lists tell of a sandbox.
fn listed(door: &E2bDoor, info: &SandboxInfo, record: &Record) -> Value {
    let profiles = door.bay.profiles(false);
    let resources = profiles.items.iter().find(|profile| profile.id == info.profile).map(|one| &one.resources);
    let memory_mb = resources.map_or(512, |resources| megabytes(&resources.memory));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few processors")]
    let cpus = resources.map_or(1, |resources| resources.cpus.ceil().max(1.0) as u64);
    let state = if record.is_paused(Moment::now()) { "paused" } else { "running" };
    json!({
        "templateID": info.profile,
        "alias": record.template,
        "sandboxID": info.id,
        "clientID": "cove",
        "startedAt": info.created_at,
        "endAt": record.end(info),
        "cpuCount": cpus,
        "memoryMB": memory_mb,
        "diskSizeMB": 1024,
        "state": state,
        "envdVersion": VERSION,
        "metadata": info.metadata,
    })
}

/// `512m`, `1g` and the like.
fn megabytes(text: &str) -> u64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().unwrap_or(512);
    match text.trim_start_matches(|c: char| c.is_ascii_digit()).chars().next() {
        Some('g' | 'G') => number << 10,
        Some('k' | 'K') => number >> 10,
        _ => number,
    }
}
