//! Handing a request on to the Bay where the sandbox's session lives.
//!
//! Several Bays may share one store. A session is a group of processes on one machine; whoever else gets a call for it
//! passes the call on, whole and as it comes, and the answer back. A request that was handed on once is not handed on
//! again: the one who gets it works on it or refuses it.

use std::sync::OnceLock;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, IdKind};
use hyper_util::rt::TokioIo;

use crate::app::App;
use crate::envelope::REQUEST_ID;
use crate::failure::Failure;
use crate::keys::Identity;
use crate::routes::terminal::is_websocket;

/// Says that a request was handed on.
pub(crate) const FORWARDED: HeaderName = HeaderName::from_static("x-cove-forwarded");

/// The way to other Bays, made when it is first needed.
#[derive(Default)]
pub(crate) struct Away {
    client: OnceLock<Option<reqwest::Client>>,
}

impl Away {
    fn client(&self) -> Option<&reqwest::Client> {
        let made = self.client.get_or_init(|| {
            // Fails only where a provider is there already, which is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let builder = reqwest::Client::builder()
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(std::time::Duration::from_secs(5));
            builder.build().ok()
        });
        made.as_ref()
    }
}

/// Passes a sandbox's request on if its session lives elsewhere.
pub(crate) async fn hand_on(State(app): State<App>, request: Request, next: Next) -> Response {
    if app.alone || request.headers().contains_key(FORWARDED) {
        return next.run(request).await;
    }
    let (Some(id), Some(identity)) = (sandbox_id(request.uri().path()), request.extensions().get::<Identity>()) else {
        return next.run(request).await;
    };
    let (id, owner) = (id.to_owned(), identity.owner.clone());
    match app.ask(app.bay.home_elsewhere(&owner, &id)).await {
        Ok(Some(base)) => pass(&app, &base, request).await.unwrap_or_else(IntoResponse::into_response),
        Err(late) if late.code() == ErrorCode::Timeout => late.into_response(),
        // Whatever is wrong with the sandbox, the verb says it better.
        Ok(None) | Err(_) => next.run(request).await,
    }
}

/// The sandbox that a path is about.
fn sandbox_id(path: &str) -> Option<&str> {
    let mut segments = path.split('/').skip_while(|segment| *segment != "sandboxes").skip(1);
    segments.next().filter(|id| IdKind::Sandbox.fits(id))
}

pub(crate) async fn pass(app: &App, base: &str, mut request: Request) -> Result<Response, Failure> {
    let unreachable = || {
        Failure::new(ErrorCode::SessionNotReady, "the Bay that has this sandbox's session cannot be reached")
            .with("retry_after_ms", 1_000)
    };
    let client = app.away.client().ok_or_else(unreachable)?;
    let caller = is_websocket(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let url = format!("{}{target}", base.trim_end_matches('/'));
    let mut headers = end_to_end(&parts.headers);
    headers.remove(header::HOST);
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    if caller.is_some() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    let body = reqwest::Body::wrap_stream(body.into_data_stream());
    let sent = client.request(parts.method, url).headers(headers).body(body).send().await;
    let answer = sent.map_err(|error| {
        tracing::warn!(%base, %error, "a request could not be handed on");
        unreachable()
    })?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = answer.status();
    *response.headers_mut() = end_to_end(answer.headers());
    response.headers_mut().remove(REQUEST_ID);
    if let (StatusCode::SWITCHING_PROTOCOLS, Some(caller)) = (answer.status(), caller) {
        for name in [header::CONNECTION, header::UPGRADE] {
            response.headers_mut().extend(answer.headers().get(&name).map(|value| (name, value.clone())));
        }
        let closing = app.closing.clone();
        tokio::spawn(async move {
            // Silence, a long day and the session's end are looked after where the terminal is.
            let (Ok(caller), Ok(mut there)) = (caller.await, answer.upgrade().await) else { return };
            let mut caller = TokioIo::new(caller);
            tokio::select! {
                _ = tokio::io::copy_bidirectional(&mut caller, &mut there) => {}
                () = closing.cancelled() => {}
            }
        });
        return Ok(response);
    }
    *response.body_mut() = Body::from_stream(answer.bytes_stream());
    Ok(response)
}

/// Without the headers that are about one connection only.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::TE, header::TRAILER, header::UPGRADE] {
        kept.remove(name);
    }
    kept.remove("keep-alive");
    kept
}

#[cfg(test)]
mod tests {
    use super::sandbox_id;

    #[test]
    fn the_sandbox_is_found_in_either_form_of_path() {
        let id = "sandbox-0123456789ab";
        assert_eq!(sandbox_id(&format!("/v1/sandboxes/{id}/python/exec")), Some(id));
        assert_eq!(sandbox_id(&format!("/sandboxes/{id}")), Some(id));
        assert_eq!(sandbox_id("/v1/sandboxes"), None);
        assert_eq!(sandbox_id("/v1/sandboxes/../x"), None);
        assert_eq!(sandbox_id("/v1/cargos/ws-0123456789ab"), None);
    }
}
