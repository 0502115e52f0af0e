//! One sandbox: shown, connected to, given time, paused, ended.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use cove_api::Moment;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::create::{check_network, check_timeout};
use crate::door::{E2bDoor, Guest};
use crate::refusal::Refused;

/// The time that a connection gives when it asks for none, in seconds.
const USUAL_TIMEOUT: i64 = 300;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Time {
    timeout: Option<i64>,
    duration: Option<i64>,
}

pub(super) async fn show(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<Json<Value>, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    let mut shown = super::listed(&door, &guest.info, &guest.record);
    shown["envdAccessToken"] = json!(guest.record.token);
    shown["domain"] = json!(door.bay.ports_domain());
    let on_timeout = if guest.record.pauses { "pause" } else { "kill" };
    shown["lifecycle"] = json!({"autoResume": guest.record.wakes, "onTimeout": on_timeout});
    if guest.record.is_paused(Moment::now()) {
        // What runs in it ends with a pause.
        shown["pauseMode"] = json!("filesystem");
    }
    Ok(Json(shown))
}

pub(super) async fn kill(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<StatusCode, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    door.forget(&guest.id);
    let bay = door.bay.clone();
    // To its end, even when the client goes away.
    let ended = tokio::spawn(async move { bay.delete_sandbox(&guest.owner, &guest.id).await }).await;
    ended.map_err(|_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "the work was ended"))??;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives time at least until so long from now; one that is paused goes on.
pub(super) async fn connect(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    bytes: Bytes,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    let time: Time = super::body(&bytes)?;
    let seconds = check_timeout(time.timeout.unwrap_or(USUAL_TIMEOUT))?;
    let was_paused = guest.record.is_paused(Moment::now());
    let guest = at_least(&door, guest, seconds).await?;
    door.meet(&guest.id, &guest.record);
    let status = if was_paused { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(super::admitted(&door, &guest))))
}

/// Never takes time away from one that runs.
async fn at_least(door: &E2bDoor, guest: Guest, seconds: i64) -> Result<Guest, Refused> {
    let is_paused = guest.record.is_paused(Moment::now());
    let left = (guest.record.end(&guest.info).micros() - Moment::now().micros()) / 1_000_000;
    if !is_paused && left >= seconds { Ok(guest) } else { door.wake(guest, Some(seconds)).await }
}

pub(super) async fn resume(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    bytes: Bytes,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    if !guest.record.is_paused(Moment::now()) {
        let message = format!("The sandbox {} runs already", guest.id);
        return Err(Refused::new(StatusCode::CONFLICT, message));
    }
    let time: Time = super::body(&bytes)?;
    let seconds = check_timeout(time.timeout.unwrap_or(USUAL_TIMEOUT))?;
    let guest = door.wake(guest, Some(seconds)).await?;
    Ok((StatusCode::CREATED, Json(super::admitted(&door, &guest))))
}

/// Ends what runs in it; its files stay, without an end, until it is resumed or killed.
pub(super) async fn pause(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    _bytes: Bytes,
) -> Result<StatusCode, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    if guest.record.is_paused(Moment::now()) {
        let message = format!("The sandbox {} is paused already", guest.id);
        return Err(Refused::new(StatusCode::CONFLICT, message));
    }
    let paused = door.change(guest, |record| {
        record.paused = true;
        record.pauses_at = None;
        // Interpreters end with it.
        record.contexts.clear();
        Some(0)
    });
    let guest = paused.await?;
    door.bay.stop_sandbox(&guest.owner, &guest.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Exactly so much time from now on.
pub(super) async fn timeout(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    bytes: Bytes,
) -> Result<StatusCode, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    let time: Time = super::body(&bytes)?;
    let seconds = match time.timeout.ok_or_else(|| Refused::invalid("`timeout` is missing"))? {
        // The end, now.
        0 => 1,
        seconds => check_timeout(seconds)?,
    };
    if guest.record.is_paused(Moment::now()) {
        return Err(Refused::new(StatusCode::CONFLICT, format!("The sandbox {} is paused; connect to it", guest.id)));
    }
    door.wake(guest, Some(seconds)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn refresh(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    bytes: Bytes,
) -> Result<StatusCode, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    let time: Time = super::body(&bytes)?;
    at_least(&door, guest, check_timeout(time.duration.unwrap_or(USUAL_TIMEOUT))?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes rules for the network that hold already; a sandbox's network is its profile's and stays as it is.
pub(super) async fn network(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
    bytes: Bytes,
) -> Result<StatusCode, Refused> {
    let guest = super::guest(&door, &parts, &id).await?;
    let mut rules: Map<String, Value> = super::body(&bytes)?;
    let allowed = rules.remove("allow_internet_access").and_then(|value| value.as_bool());
    check_network(&rules, allowed, door.bay.opens_network(&guest.info.profile))?;
    Ok(StatusCode::NO_CONTENT)
}
