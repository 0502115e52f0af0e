//! Contexts: interpreters of their own, kept apart by an id.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use cove_api::PythonExecRequest;
use cove_bay::Timed;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

use super::Language;
use crate::door::{E2bDoor, Guest};
use crate::paths::SandboxPath;
use crate::record::Context;
use crate::refusal::Refused;

/// Contexts of one sandbox besides the usual ones.
const MAX_CONTEXTS: usize = 8;

/// How long an interpreter may take to begin in its folder.
const BEGIN: Duration = Duration::from_secs(60);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wish {
    language: Option<String>,
    cwd: Option<String>,
}

/// The contexts that a client finds without having made them: one for each language, by its name.
pub(super) fn usual(language: Language) -> Context {
    Context { id: language.as_str().to_owned(), language: language.as_str().to_owned(), cwd: "/home/user".to_owned() }
}

/// The context with this id.
pub(super) fn find(guest: &Guest, id: &str) -> Result<Context, Refused> {
    let made = guest.record.contexts.iter().find(|context| context.id == id).cloned();
    let usual = || Language::named(id).ok().filter(|language| language.as_str() == id).map(usual);
    let missing = || Refused::missing(format!("Context {} not found", id.chars().take(64).collect::<String>()));
    made.or_else(usual).ok_or_else(missing)
}

fn shown(context: &Context) -> Value {
    json!({"id": context.id, "language": context.language, "cwd": context.cwd})
}

pub(super) async fn list(State(door): State<E2bDoor>, parts: Parts) -> Result<Json<Vec<Value>>, Refused> {
    let guest = door.guest(&parts).await?;
    let usual = usual(Language::Python);
    Ok(Json(std::iter::once(&usual).chain(&guest.record.contexts).map(shown).collect()))
}

pub(super) async fn create(
    State(door): State<E2bDoor>,
    parts: Parts,
    bytes: Bytes,
) -> Result<(StatusCode, Json<Value>), Refused> {
    let guest = door.guest(&parts).await?;
    let wish: Wish = serde_json::from_slice(&bytes)
        .map_err(|error| Refused::invalid(format!("the body cannot be read: {error}")))?;
    let language = Language::named(wish.language.as_deref().unwrap_or_default())?;
    let place = SandboxPath::of(wish.cwd.as_deref().unwrap_or_default());
    if guest.record.contexts.len() >= MAX_CONTEXTS {
        let message = format!("a sandbox has {MAX_CONTEXTS} contexts at most; remove one first");
        return Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, message));
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| {
        Refused::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the system gave no random bytes: {error}"))
    })?;
    let id = random.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let context = Context { id, language: language.as_str().to_owned(), cwd: place.shown.clone() };
    if language == Language::Python {
        begin(&door, &guest, &context, &place).await?;
    }
    let made = context.clone();
    door.change(guest, |record| {
        record.contexts.push(made);
        None
    })
    .await?;
    Ok((StatusCode::OK, Json(shown(&context))))
}

/// Starts a context's interpreter in its folder.
async fn begin(door: &E2bDoor, guest: &Guest, context: &Context, place: &SandboxPath) -> Result<(), Refused> {
    let path = serde_json::to_string(&place.inside).unwrap_or_default();
    let code = format!("import os; os.chdir({path}); del os");
    let request = PythonExecRequest { code, session: Some(context.id.clone()), ..PythonExecRequest::default() };
    let done = door.bay.exec_python(&guest.owner, &guest.id, Timed::new(request, BEGIN)).await?;
    match done.success {
        true => Ok(()),
        false => Err(Refused::invalid(format!("the context cannot begin in {}", place.shown))),
    }
}

pub(super) async fn remove(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<StatusCode, Refused> {
    let guest = door.guest(&parts).await?;
    let context = find(&guest, &id)?;
    end(&door, &guest, &context).await?;
    door.change(guest, |record| {
        record.contexts.retain(|other| other.id != context.id);
        None
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn restart(
    State(door): State<E2bDoor>,
    Path(id): Path<String>,
    parts: Parts,
) -> Result<StatusCode, Refused> {
    let guest = door.guest(&parts).await?;
    let context = find(&guest, &id)?;
    end(&door, &guest, &context).await?;
    if context.language == Language::Python.as_str() && context != usual(Language::Python) {
        begin(&door, &guest, &context, &SandboxPath::of(&context.cwd)).await?;
    }
    Ok(StatusCode::OK)
}

/// Ends what a context remembers.
async fn end(door: &E2bDoor, guest: &Guest, context: &Context) -> Result<(), Refused> {
    let (owner, id) = (&guest.owner, &guest.id);
    let is_usual = Language::named(&context.id).is_ok();
    match Language::named(&context.language)? {
        Language::Python if is_usual => door.bay.end_python(owner, id, None).await?,
        Language::Python => match door.bay.end_python(owner, id, Some(&context.id)).await {
            // Its interpreter ended with an earlier session: there is nothing to end.
            Err(error) if error.code == cove_api::ErrorCode::FileNotFound => {}
            ended => ended?,
        },
        Language::JavaScript | Language::TypeScript => {
            door.bay.reset_javascript(owner, id, Some(&super::execute::session(context))).await?;
        }
        // Each piece is a shell of its own.
        Language::Bash => {}
    }
    Ok(())
}
