//! A new sandbox.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use cove_api::{CreateSandbox, IdempotencyKey};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::door::{E2bDoor, Guest};
use crate::record::{BASE, CODE_INTERPRETER, Record};
use crate::refusal::Refused;

/// The time of a sandbox that asks for none, in seconds.
const USUAL_TIMEOUT: i64 = 300;

/// The longest time.
const MAX_TIMEOUT: i64 = 30 * 24 * 3600;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wish {
    #[serde(rename = "templateID")]
    template_id: String,
    timeout: Option<i64>,
    auto_pause: bool,
    auto_resume: Option<AutoResume>,
    metadata: Option<BTreeMap<String, String>>,
    env_vars: Option<BTreeMap<String, String>>,
    mcp: Option<Value>,
    network: Option<Value>,
    #[serde(rename = "allow_internet_access")]
    allow_internet_access: Option<bool>,
    iam: Option<Value>,
    volume_mounts: Option<Vec<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AutoResume {
    enabled: bool,
}

impl Wish {
    /// Refuses what this door cannot hold: a wish that is passed over in silence would be worse.
    fn check(&self, opens_network: bool) -> Result<(), Refused> {
        if self.mcp.as_ref().is_some_and(|mcp| !mcp.is_null()) {
            return Err(Refused::unsupported("there is no MCP gateway in sandboxes; Cove's own tools are at `/mcp`"));
        }
        if self.volume_mounts.as_ref().is_some_and(|mounts| !mounts.is_empty()) {
            return Err(Refused::unsupported(super::refused::VOLUMES));
        }
        if self.iam.as_ref().is_some_and(|iam| !iam.is_null()) {
            return Err(Refused::unsupported("sandboxes have no workload identity; leave out `iam`"));
        }
        let rules = self.network.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        check_network(&rules, self.allow_internet_access, opens_network)
    }
}

/// Refuses rules that do not hold already: a sandbox's network is its profile's.
pub(super) fn check_network(
    rules: &Map<String, Value>,
    allow_internet_access: Option<bool>,
    opens_network: bool,
) -> Result<(), Refused> {
    if allow_internet_access == Some(false) && opens_network {
        return Err(Refused::unsupported(
            "this template's profile opens the network, and a sandbox cannot close it: take a profile without network",
        ));
    }
    let holds = |(name, value): (&String, &Value)| match name.as_str() {
        _ if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => true,
        "denyOut" => !opens_network,
        // Ports are private in any case.
        "allowPublicTraffic" => *value == Value::Bool(false),
        _ => false,
    };
    match rules.iter().find(|rule| !holds(*rule)) {
        Some((name, _)) => Err(Refused::unsupported(format!(
            "`network.{name}` is not supported: which addresses a sandbox reaches is said by its profile"
        ))),
        None => Ok(()),
    }
}

pub(super) fn check_timeout(seconds: i64) -> Result<i64, Refused> {
    match seconds {
        1..=MAX_TIMEOUT => Ok(seconds),
        _ => Err(Refused::invalid(format!("the timeout is {seconds}; it must be 1 to {MAX_TIMEOUT} seconds"))),
    }
}

/// The profile that a template's name means.
pub(super) fn profile(door: &E2bDoor, template: &str) -> Result<String, Refused> {
    let name = template.split(':').next().unwrap_or_default();
    if matches!(name, "" | BASE | CODE_INTERPRETER) {
        return Ok(CreateSandbox::default().profile);
    }
    let profiles = door.bay.profiles(false).items;
    match profiles.iter().find(|profile| profile.id == name) {
        Some(profile) => Ok(profile.id.clone()),
        None => {
            let known: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
            let shown: String = name.chars().take(64).collect();
            Err(Refused::missing(format!(
                "template {shown:?} not found; here are {BASE}, {CODE_INTERPRETER} and the profiles {}",
                known.join(", ")
            )))
        }
    }
}

pub(super) async fn create(
    State(door): State<E2bDoor>,
    parts: Parts,
    bytes: Bytes,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let owner = super::owner(&parts)?;
    let wish: Wish = super::body(&bytes)?;
    let profile = profile(&door, &wish.template_id)?;
    wish.check(door.bay.opens_network(&profile))?;
    let timeout = check_timeout(wish.timeout.unwrap_or(USUAL_TIMEOUT))?;
    let mut random = [0; 24];
    getrandom::fill(&mut random).map_err(|error| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the system gave no random bytes: {error}"))
    })?;
    let mut record = Record {
        token: random.iter().map(|byte| format!("{byte:02x}")).collect(),
        template: if wish.template_id.is_empty() { BASE.to_owned() } else { wish.template_id.clone() },
        envs: wish.env_vars.unwrap_or_default(),
        paused: false,
        pauses: wish.auto_pause,
        pauses_at: None,
        wakes: wish.auto_resume.unwrap_or_default().enabled,
        timeout,
        contexts: Vec::new(),
    };
    let ttl = record.give(timeout);
    let key = parts.headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    let key = key.map(IdempotencyKey::parse).transpose()?;
    let wish = CreateSandbox {
        profile,
        ttl: Some(ttl),
        metadata: wish.metadata.unwrap_or_default(),
        keep_session: true,
        note: Some(record.note()),
        session_ends_at: record.session_end(),
        ..CreateSandbox::default()
    };
    let (bay, made_by) = (door.bay.clone(), owner.clone());
    // To its end, even when the client goes away: half a creation helps nobody.
    let made = tokio::spawn(async move { bay.create_sandbox(&made_by, wish, key.as_ref()).await }).await;
    let info = made.map_err(|_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "the work was ended"))??;
    // An answer that was given before is told without its note: it is the record's.
    let guest = match Record::of(&info) {
        Some(record) => Guest { owner, id: info.id.clone(), record, info },
        None => door.known(owner, info.id).await?,
    };
    door.meet(&guest.id, &guest.record);
    Ok((StatusCode::CREATED, Json(super::admitted(&door, &guest))))
}
