//! Templates: what sandboxes are made of. Here they are Bay's profiles.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::request::Parts;
use cove_api::Moment;
use serde_json::{Value, json};

use super::create::profile;
use super::megabytes;
use crate::door::E2bDoor;
use crate::envd::VERSION;
use crate::record::{BASE, CODE_INTERPRETER};
use crate::refusal::Refused;

pub(super) async fn list(State(door): State<E2bDoor>, parts: Parts) -> Result<Json<Vec<Value>>, Refused> {
    super::owner(&parts)?;
    let usual = profile(&door, BASE)?;
    let all = door.bay.profiles(false).items.into_iter().map(|one| {
        let mut aliases = vec![one.id.clone()];
        if one.id == usual {
            aliases.extend([BASE.to_owned(), CODE_INTERPRETER.to_owned()]);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few processors")]
        let cpus = one.resources.cpus.ceil().max(1.0) as u64;
        let made = Moment::from_micros(0);
        json!({
            "templateID": one.id, "buildID": one.id, "cpuCount": cpus,
            "memoryMB": megabytes(&one.resources.memory), "diskSizeMB": 1024, "public": true,
            "aliases": aliases, "names": aliases, "createdAt": made, "updatedAt": made, "createdBy": null,
            "lastSpawnedAt": null, "spawnCount": 0, "buildCount": 1, "envdVersion": VERSION, "buildStatus": "ready",
        })
    });
    Ok(Json(all.collect()))
}

pub(super) async fn alias(
    State(door): State<E2bDoor>,
    Path(alias): Path<String>,
    parts: Parts,
) -> Result<Json<Value>, Refused> {
    super::owner(&parts)?;
    Ok(Json(json!({"templateID": profile(&door, &alias)?, "public": true})))
}
