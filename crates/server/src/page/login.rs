//! Who is logged in to the page.
//!
//! A key is sent once and exchanged for a cookie that no script can read. A link logs in without the key being shown to
//! anybody: its token is in the fragment, which no browser sends, works once and for a minute. A shared link lets whoever
//! has it look at one sandbox, and do nothing, until it expires.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cove_api::{ErrorCode, SandboxId};
use serde::Deserialize;
use serde_json::json;

use super::origin;
use super::token::{Token, TokenKind};
use crate::app::App;
use crate::bounds::Bounded;
use crate::caller::{Caller, is_local};
use crate::extract::{Sent, whole};
use crate::failure::{Failure, Reply};
use crate::keys::{Identity, KeyRefusal};

/// How long a session lasts: a working day with its evening.
const SESSION_SECS: i64 = 12 * 3600;

/// How long a link that logs in may wait for its browser.
const LINK_SECS: i64 = 60;

/// How long a shared link lasts, unless said otherwise, and at most.
const SHARE_SECS: i64 = 24 * 3600;
const MAX_SHARE_SECS: i64 = 30 * 24 * 3600;

/// What the cookie's name begins with.
const COOKIE: &str = "cove-session-";

/// A login is a key or a token and little else.
const MAX_LOGIN_BYTES: usize = 8 << 10;

/// Tokens that are over before their time: links that were used, sessions that were left. The oldest are forgotten; they
/// come to their own end.
#[derive(Debug, Default)]
pub(crate) struct Spent(Mutex<VecDeque<String>>);

impl Spent {
    const MOST: usize = 4_096;

    /// Notes that a token is over; says whether it was not before.
    fn spend(&self, id: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().any(|one| one == id) {
            return false;
        }
        if all.len() == Self::MOST {
            all.pop_front();
        }
        all.push_back(id.to_owned());
        true
    }

    fn has(&self, id: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|one| one == id)
    }
}

/// Who a request of the page is from; `None`: from nobody who is logged in. `forwarded`: another Bay has checked that it
/// comes from the page.
pub(crate) fn identify(app: &App, request: &Request, forwarded: bool) -> Option<Result<Identity, KeyRefusal>> {
    let token = cookie_token(app, request.headers())?;
    let is_session = matches!(token.kind, TokenKind::Session | TokenKind::Share);
    let may_come = forwarded || (origin::is_own(request.headers()) && (token.key.is_some() || is_local(request)));
    (is_session && may_come).then(|| holder(app, &token, !forwarded))
}

/// Whether a request only looks at this sandbox: what a shared link may do.
pub(crate) fn only_reads(request: &Request, sandbox: &SandboxId) -> bool {
    let path = request.uri().path();
    let path = path.strip_prefix("/v1").unwrap_or(path);
    if path == "/page/session" {
        return true;
    }
    let inside = path.strip_prefix("/sandboxes/").and_then(|path| path.strip_prefix(sandbox.to_string().as_str()));
    request.method() == Method::GET
        && inside.is_some_and(|rest| {
            (rest.is_empty() || rest.starts_with('/'))
                && rest != "/terminal"
                && !rest.starts_with("/port_links")
                && !rest.starts_with("/ports/")
        })
}

/// Whose token it is.
fn holder(app: &App, token: &Token, counts: bool) -> Result<Identity, KeyRefusal> {
    let mut identity = match &token.key {
        Some(tag) => app.keys.admit_tag(tag, counts)?,
        None if app.options.allow_anonymous => Identity::anonymous(),
        None => return Err(KeyRefusal::Unknown),
    };
    identity.admin &= token.sandbox.is_none();
    identity.only.clone_from(&token.sandbox);
    Ok(identity)
}

/// What was sent to log in: a key, or the token of a link, or nothing where no key is needed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Login {
    key: Option<String>,
    token: Option<String>,
}

/// `POST /page/session`
pub(super) async fn enter(State(app): State<App>, request: Request) -> Reply<Response> {
    if !origin::is_own(request.headers()) {
        return Err(Failure::new(ErrorCode::Unauthorized, "only the page itself logs in here"));
    }
    let local = is_local(&request);
    let (parts, body) = request.into_parts();
    let body = whole(&parts.headers, None, body, MAX_LOGIN_BYTES, &app.options).await?;
    let login: Login =
        if body.is_empty() { Login::default() } else { serde_json::from_slice(&body).unwrap_or_default() };
    let unknown = |message: &str| Failure::new(ErrorCode::Unauthorized, message);
    let (key, sandbox, secs) = match (login.key, login.token) {
        (Some(key), _) => {
            let tag = app.keys.tag(key.trim()).ok_or_else(|| unknown("invalid API key"))?;
            (Some(tag), None, SESSION_SECS)
        }
        (None, Some(text)) => {
            let over = || unknown("this link has been used or has expired; make a new one");
            let token = Token::read(&app, &text).filter(|token| token.kind != TokenKind::Session).ok_or_else(over)?;
            holder(&app, &token, false).map_err(|_| over())?;
            let left = (token.expires_at().micros() - cove_api::Moment::now().micros()) / 1_000_000;
            match token.kind {
                TokenKind::Share => (token.key, token.sandbox, left.clamp(1, SESSION_SECS)),
                _ if app.spent.spend(&token.id) => (token.key, None, SESSION_SECS),
                _ => return Err(over()),
            }
        }
        (None, None) if app.options.allow_anonymous && local => (None, None, SESSION_SECS),
        (None, None) => return Err(unknown("this server needs a key")),
    };
    let kind = if sandbox.is_some() { TokenKind::Share } else { TokenKind::Session };
    let token = Token::new(kind, key, sandbox, secs);
    let text = token.as_ref().and_then(|token| token.write(&app));
    let (Some(token), Some(text)) = (token, text) else {
        return Err(Failure::new(ErrorCode::InternalError, "the system gave no random bytes for a session"));
    };
    let identity = holder(&app, &token, false).map_err(|_| unknown("invalid API key"))?;
    let mut response = Json(described(&identity)).into_response();
    set_cookie(&mut response, &parts.headers, &text, secs);
    Ok(response)
}

/// `GET /page/session`
pub(super) async fn show(State(_): State<App>, identity: axum::Extension<Identity>) -> Response {
    Json(described(&identity)).into_response()
}

/// `DELETE /page/session`
pub(super) async fn leave(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(token) = cookie_token(&app, &headers) {
        app.spent.spend(&token.id);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &headers, "", 0);
    response
}

/// A link to make: without a sandbox one that logs in once, with one that lets people look at it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LinkWish {
    sandbox_id: Option<SandboxId>,
    seconds: Option<i64>,
}

impl Bounded for LinkWish {
    fn check(&self, problems: &mut crate::schema::Problems) {
        if let Some(seconds) = self.seconds {
            problems.range("seconds", seconds, 1, MAX_SHARE_SECS);
        }
    }
}

/// `POST /page/links`
pub(super) async fn make_link(
    State(app): State<App>,
    Caller(owner): Caller,
    axum::Extension(identity): axum::Extension<Identity>,
    Sent(wish): Sent<LinkWish>,
) -> Reply<Response> {
    let (kind, secs) = match &wish.sandbox_id {
        Some(id) => {
            // That it is there, and the caller's.
            app.ask(app.bay.sandbox(&owner, id)).await?;
            (TokenKind::Share, wish.seconds.unwrap_or(SHARE_SECS))
        }
        None => (TokenKind::Link, LINK_SECS),
    };
    let token = Token::new(kind, identity.tag, wish.sandbox_id, secs);
    let text = token.as_ref().and_then(|token| token.write(&app));
    let (Some(token), Some(text)) = (token, text) else {
        return Err(Failure::new(ErrorCode::InternalError, "the system gave no random bytes for a link"));
    };
    Ok(Json(json!({ "path": format!("/#/open/{text}"), "expires_at": token.expires_at() })).into_response())
}

fn described(identity: &Identity) -> serde_json::Value {
    json!({
        "owner": identity.owner.as_str(),
        "admin": identity.admin,
        "sandbox_id": identity.only.as_ref().map(ToString::to_string),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// The cookie's name. Cookies do not know ports: two servers on one machine need two names.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port =
        host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("{COOKIE}{}", port.unwrap_or("0"))
}

/// The first cookie of ours that one of this store's Bays has written and nobody has left. Its name does not matter: another
/// Cove's does not fit the signature, and a request that was forwarded has the name of the Bay that it came to first.
fn cookie_token(app: &App, headers: &HeaderMap) -> Option<Token> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(name, _)| name.starts_with(COOKIE));
    ours.find_map(|(_, value)| Token::read(app, value).filter(|token| !app.spent.has(&token.id)))
}

fn set_cookie(response: &mut Response, asked: &HeaderMap, value: &str, secs: i64) {
    let secure = asked.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes() == b"https")
        || asked.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let name = cookie_name(asked);
    let secure = if secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={secs}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(text) = HeaderValue::try_from(text) {
        response.headers_mut().insert(header::SET_COOKIE, text);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
