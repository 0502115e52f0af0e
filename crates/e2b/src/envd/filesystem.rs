//! The file system, as `filesystem.Filesystem` has it: done by small programs in the sandbox, with its user's rights.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::entries::{FORMAT, entries};
use super::process::check_user;
use crate::connect;
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::refusal::Refused;
use crate::scripts;

/// The deepest listing.
const MAX_DEPTH: u32 = 64;

const STAT: &str = "[ -e \"$1\" ] || [ -L \"$1\" ] || exit 44; exec find \"$1\" -maxdepth 0 -printf \"$2\"";
const LIST: &str = "[ -e \"$1\" ] || exit 44; [ -d \"$1\" ] || exit 40; \
                    exec find -H \"$1\" -mindepth 1 -maxdepth \"$2\" -printf \"$3\"";
const MAKE: &str = "[ -d \"$1\" ] && exit 49; [ -e \"$1\" ] && exit 40; mkdir -p -- \"$1\" || exit 1; \
                    exec find \"$1\" -maxdepth 0 -printf \"$2\"";
const MOVE: &str = "[ -e \"$1\" ] || [ -L \"$1\" ] || exit 44; mkdir -p -- \"$(dirname -- \"$2\")\" || exit 1; \
                    mv -T -- \"$1\" \"$2\" || exit 1; exec find \"$2\" -maxdepth 0 -printf \"$3\"";
const REMOVE: &str = "[ -e \"$1\" ] || [ -L \"$1\" ] || exit 44; exec rm -rf -- \"$1\"";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    path: String,
    depth: u32,
    source: String,
    destination: String,
}

async fn call(door: &E2bDoor, parts: &Parts, body: &[u8]) -> Result<(Guest, Asked), Refused> {
    check_user(&parts.headers)?;
    let guest = door.guest(parts).await?;
    let asked: Asked = connect::message(&parts.headers, body)?;
    if asked.path.contains('\0') || asked.source.contains('\0') || asked.destination.contains('\0') {
        return Err(Refused::invalid("a path holds a NUL character"));
    }
    Ok((guest, asked))
}

/// The one entry that a script tells of.
async fn one(
    door: &E2bDoor,
    guest: &Guest,
    script: &str,
    args: &[&str],
    place: &SandboxPath,
) -> Result<Value, Refused> {
    let said = scripts::run(&door.bay, guest, script, args).await;
    let said = said.map_err(|refused| shown(refused, place))?;
    let entry = entries(&said, place).into_iter().next();
    entry.ok_or_else(|| Refused::missing(format!("file not found: {}", place.shown)))
}

/// The refusal with the path that the client knows.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`, and comes back changed")]
fn shown(refused: Refused, place: &SandboxPath) -> Refused {
    let message = refused.message.replace(&place.inside, &place.shown);
    Refused { message, ..refused }
}

/// What is there.
pub(super) async fn stated(door: &E2bDoor, guest: &Guest, place: &SandboxPath) -> Result<Value, Refused> {
    one(door, guest, STAT, &[&place.inside, FORMAT], place).await
}

pub(super) async fn stat(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, asked) = call(&door, &parts, &body).await?;
        let place = SandboxPath::of(&asked.path);
        Ok(json!({"entry": stated(&door, &guest, &place).await?}))
    };
    connect::unary(done.await)
}

pub(super) async fn list_dir(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, asked) = call(&door, &parts, &body).await?;
        let place = SandboxPath::of(&asked.path);
        let depth = asked.depth.clamp(1, MAX_DEPTH).to_string();
        let said = scripts::run(&door.bay, &guest, LIST, &[&place.inside, &depth, FORMAT]).await;
        let mut all = entries(&said.map_err(|refused| shown(refused, &place))?, &place);
        all.sort_by(|one, other| one["path"].as_str().cmp(&other["path"].as_str()));
        Ok(json!({"entries": all}))
    };
    connect::unary(done.await)
}

pub(super) async fn make_dir(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, asked) = call(&door, &parts, &body).await?;
        let place = SandboxPath::of(&asked.path);
        Ok(json!({"entry": one(&door, &guest, MAKE, &[&place.inside, FORMAT], &place).await?}))
    };
    connect::unary(done.await)
}

pub(super) async fn rename(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, asked) = call(&door, &parts, &body).await?;
        let (source, place) = (SandboxPath::of(&asked.source), SandboxPath::of(&asked.destination));
        let args = [&*source.inside, &*place.inside, FORMAT];
        let entry = one(&door, &guest, MOVE, &args, &place).await;
        Ok(json!({"entry": entry.map_err(|refused| shown(refused, &source))?}))
    };
    connect::unary(done.await)
}

pub(super) async fn remove(State(door): State<E2bDoor>, parts: Parts, body: Bytes) -> Response {
    let done = async {
        let (guest, asked) = call(&door, &parts, &body).await?;
        let place = SandboxPath::of(&asked.path);
        if place.in_workspace() == Some(".") {
            return Err(Refused::invalid("the home itself cannot be removed; remove what is in it"));
        }
        let removed = scripts::run(&door.bay, &guest, REMOVE, &[&place.inside]).await;
        removed.map_err(|refused| shown(refused, &place))?;
        Ok(json!({}))
    };
    connect::unary(done.await)
}
