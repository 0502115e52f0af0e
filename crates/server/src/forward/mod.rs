//! Forwarding a request to the Bay where the sandbox's session lives.
//!
//! Several Bays may share one store. A session is a group of processes on one machine; another Bay that gets a call for it
//! forwards the call, whole and as it arrives, and passes the answer back. A request is forwarded at most once: the Bay that
//! gets it works on it or refuses it. That it was forwarded is sealed with a secret that only the Bays share.

mod peers;
mod request;
pub(crate) mod seal;

use axum::extract::{FromRequestParts as _, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, SandboxId};

use crate::app::App;
use crate::keys::Identity;

pub(crate) use peers::Peers;
pub(crate) use request::{ForwardError, forward};
pub(crate) use seal::Forwarded;

/// Forwards a sandbox's request if its session lives in another Bay.
pub(crate) async fn forward_if_elsewhere(State(app): State<App>, request: Request, next: Next) -> Response {
    if app.alone || request.extensions().get::<Forwarded>().is_some() {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    let id = sandbox_id(&mut parts).await;
    let request = Request::from_parts(parts, body);
    let (Some(id), Some(identity)) = (id, request.extensions().get::<Identity>()) else {
        return next.run(request).await;
    };
    let owner = identity.owner.clone();
    match app.ask(app.bay.session_elsewhere(&owner, &id)).await {
        Ok(Some(home)) => {
            let safe = request::is_safe_to_repeat(&request);
            // What is for a program in there is passed on as it comes.
            let streams =
                request.extensions().get::<MatchedPath>().is_some_and(|path| path.as_str().contains("/ports/{port}"));
            match forward(&app, &home, request, streams.then_some(request::MAX_SECS)).await {
                Ok(response) => response,
                Err(lost) => lost.failure(safe).into_response(),
            }
        }
        Err(late) if late.code() == ErrorCode::Timeout => late.into_response(),
        // Whatever is wrong with the sandbox, the verb says it better.
        Ok(None) | Err(_) => next.run(request).await,
    }
}

/// The sandbox that a request is about, as its handler will read it: what is encoded in the path is decoded once, by the
/// same code.
async fn sandbox_id(parts: &mut Parts) -> Option<SandboxId> {
    let route = parts.extensions.get::<MatchedPath>()?;
    if !route.as_str().contains("/sandboxes/{id}") {
        return None;
    }
    let names = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    names.iter().find(|(name, _)| *name == "id")?.1.parse().ok()
}
