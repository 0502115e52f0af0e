//! Server-sent events: what happens in a sandbox, as it happens.

use std::convert::Infallible;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use cove_api::SandboxId;
use cove_api::{ErrorCode, Event, EventKind};
use futures_util::{Stream, StreamExt as _};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::Caller;
use crate::extract::{Asked, Named};
use crate::failure::{Failure, Reply};
use crate::limits;
use crate::shares::Kept;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::default().routes(routes!(stream_events))
}

/// Where to begin.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct AfterQuery {
    /// Only events after this number; default: new events only. The header `Last-Event-ID`, which a browser sends when it
    /// reconnects, has priority.
    #[param(minimum = 0)]
    after: Option<u64>,
}

impl Bounded for AfterQuery {}

/// An event of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used: the stream is written as it comes")]
struct SentEvent {
    /// Its number.
    id: String,
    /// Its kind.
    #[schema(inline)]
    event: EventKind,
    /// The whole event as JSON.
    #[schema(value_type = String, content_media_type = "application/json")]
    data: Event,
}

/// Stream a sandbox's events
///
/// A stream of server-sent events: `id` is the event's number, `event` its kind, `data` the whole event as JSON. Comments
/// keep a quiet stream open. A client that reconnects with the last number continues there; a `gap` event says that some were missed.
#[utoipa::path(get, path = "/sandboxes/{id}/events", tag = "events",
    params(AfterQuery, ("Last-Event-ID" = Option<u64>, Header, description = "Only events after this number")),
    responses((status = 200, body = SentEvent, content_type = "text/event-stream", description = "The events")))]
async fn stream_events(
    State(app): State<App>,
    Caller(owner): Caller,
    Named(id): Named<SandboxId>,
    Asked(query): Asked<AfterQuery>,
    headers: HeaderMap,
) -> Reply<(Extension<Kept>, Sse<impl Stream<Item = Result<SseEvent, Infallible>> + use<>>)> {
    let kept = app.streams.take(&owner)?;
    let after = match headers.get("last-event-id") {
        Some(value) => Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
            Failure::new(ErrorCode::ValidationError, "`Last-Event-ID` must be the number of an event")
        })?),
        None => query.after,
    };
    let events = app.ask(app.bay.events(&owner, &id, after)).await?;
    // Ended by Bay, also when the server ends: what it says last is still read.
    let events = events.map(|event| Ok(written(&event)));
    Ok((Extension(kept), Sse::new(events).keep_alive(KeepAlive::new().interval(limits::EVENT_KEEP_ALIVE))))
}

fn written(event: &Event) -> SseEvent {
    let kind = serde_json::to_value(event.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
    let sse = SseEvent::default().id(event.seq.to_string()).event(kind.unwrap_or_default());
    // An event of strings and JSON values always serialises.
    sse.data(serde_json::to_string(event).unwrap_or_default())
}
