//! The door itself: which of the three interfaces a request is for, and which sandbox its traffic belongs to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use cove_api::{AmendSandbox, Moment, SandboxId, SandboxInfo};
use cove_bay::{Bay, BayResult, Owner};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::record::Record;
use crate::refusal::Refused;
use crate::signers::Signers;
use crate::{code, control, envd};

/// Which sandbox a request is for.
const SANDBOX_HEADER: &str = "e2b-sandbox-id";

/// Which port of it.
const PORT_HEADER: &str = "e2b-sandbox-port";

/// What carries a sandbox's token.
const TOKEN_HEADERS: [&str; 2] = ["x-access-token", "e2b-traffic-access-token"];

/// Processes and files.
const ENVD_PORT: u16 = 49_983;

/// Where files are; what a signature can admit to.
const FILES: &str = "/files";

/// The code interpreter.
const CODE_PORT: u16 = 49_999;

/// The door. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct E2bDoor {
    pub(crate) bay: Bay,
    /// Tokens of sandboxes that clients have met here: signed addresses carry a hash of one, and nothing else.
    signers: Arc<Mutex<Signers>>,
    /// One change of a sandbox's note at a time.
    notes: Arc<tokio::sync::Mutex<()>>,
}

impl std::fmt::Debug for E2bDoor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("E2bDoor").finish_non_exhaustive()
    }
}

/// Who a request is from, as far as the door itself can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Whoever has a key: the server knows.
    ByKey,
    /// Who has the token of a sandbox, or an address that is signed with it.
    ByToken(Owner, SandboxId),
    /// A token, or a signature, that is none.
    Refused(Refused),
}

/// The sandbox that traffic is for.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) owner: Owner,
    pub(crate) id: SandboxId,
    pub(crate) record: Record,
    pub(crate) info: SandboxInfo,
}

/// The sandbox that a signed address is for; in a request's extensions.
#[derive(Debug, Clone)]
struct Signed(SandboxId);

impl E2bDoor {
    /// A door to this Bay.
    pub fn new(bay: Bay) -> Self {
        Self { bay, signers: Arc::default(), notes: Arc::default() }
    }

    /// The sandbox that a request's headers name.
    pub fn sandbox_id(headers: &HeaderMap) -> Option<SandboxId> {
        headers.get(SANDBOX_HEADER)?.to_str().ok()?.parse().ok()
    }

    /// Whether a request carries something that only the door can check. Control is never reached by a sandbox's token.
    pub async fn admission(&self, request: &mut Request) -> Admission {
        if is_control(request.uri().path()) {
            return Admission::ByKey;
        }
        let headers = request.headers();
        let token = TOKEN_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
        match (token, Self::sandbox_id(headers)) {
            (Some(token), Some(id)) => match self.bay.noted_sandbox(&id).await {
                Ok(Some((owner, info))) => match Record::of(&info).filter(|record| record.has_token(token)) {
                    Some(record) => {
                        self.meet(&id, &record);
                        Admission::ByToken(owner, id)
                    }
                    None => Admission::Refused(Refused::new(
                        axum::http::StatusCode::UNAUTHORIZED,
                        "this access token is not the sandbox's",
                    )),
                },
                Ok(None) => Admission::Refused(Refused::gone(&id)),
                Err(error) => Admission::Refused(error.into()),
            },
            // Older clients that have connected again name no sandbox with its traffic; the token says which.
            (Some(token), None) => match self.signer_with(|known| known.as_bytes().ct_eq(token.as_bytes()).into()) {
                Some(id) => self.named(request, id).await,
                None => Admission::Refused(Refused::new(
                    axum::http::StatusCode::UNAUTHORIZED,
                    "this access token is of no sandbox that is known here; connect to the sandbox again",
                )),
            },
            (None, _) => match signature(request.uri()) {
                Some(signature) if request.uri().path().ends_with(FILES) => self.signed(request, &signature).await,
                _ => Admission::ByKey,
            },
        }
    }

    /// Who a signed address is from. It names no sandbox, so every token is tried that is known here.
    async fn signed(&self, request: &mut Request, signature: &Signature) -> Admission {
        let refused = |message: &str| Admission::Refused(Refused::new(axum::http::StatusCode::UNAUTHORIZED, message));
        if signature.expires.is_some_and(|at| at.saturating_mul(1_000_000) <= Moment::now().micros()) {
            return refused("this signed address has expired");
        }
        let operation = if request.method() == axum::http::Method::GET { "read" } else { "write" };
        match self.signer_with(|token| signature.is_by(token, operation)) {
            Some(id) => self.named(request, id).await,
            None => refused("this signature is of no sandbox that is known here"),
        }
    }

    /// The sandbox whose token this is; every token that is known here is looked at.
    fn signer_with(&self, is_it: impl Fn(&str) -> bool) -> Option<SandboxId> {
        self.signers.lock().unwrap_or_else(PoisonError::into_inner).find(is_it)
    }

    /// Admits to a sandbox that the request itself does not name.
    async fn named(&self, request: &mut Request, id: SandboxId) -> Admission {
        match self.bay.noted_sandbox(&id).await {
            Ok(Some((owner, _))) => {
                request.extensions_mut().insert(Signed(id.clone()));
                Admission::ByToken(owner, id)
            }
            Ok(None) => Admission::Refused(Refused::gone(&id)),
            Err(error) => Admission::Refused(error.into()),
        }
    }

    /// Remembers whose signatures it may see.
    pub(crate) fn meet(&self, id: &SandboxId, record: &Record) {
        self.signers.lock().unwrap_or_else(PoisonError::into_inner).meet(id, &record.token);
    }

    pub(crate) fn forget(&self, id: &SandboxId) {
        self.signers.lock().unwrap_or_else(PoisonError::into_inner).forget(id);
    }

    /// Everything behind the door. Each request's extensions must have its [`Owner`].
    pub fn router(&self) -> Router {
        let interfaces = Interfaces {
            control: control::router(self.clone()),
            envd: envd::router(self.clone()),
            code: code::router(self.clone()),
        };
        Router::new().fallback(move |request: Request| {
            let interfaces = interfaces.clone();
            async move { interfaces.answer(request).await }
        })
    }

    /// The sandbox that a request's traffic is for, if it takes any.
    pub(crate) async fn guest(&self, request: &axum::http::request::Parts) -> Result<Guest, Refused> {
        let owner = request.extensions.get::<Owner>().cloned();
        let owner =
            owner.ok_or_else(|| Refused::new(axum::http::StatusCode::UNAUTHORIZED, "this request needs a key"))?;
        let id = request.extensions.get::<Signed>().map(|signed| signed.0.clone());
        let id = id.or_else(|| Self::sandbox_id(&request.headers));
        let id = id.ok_or_else(|| Refused::gone("with this id"))?;
        let guest = self.known(owner, id).await.map_err(|refused| match refused.status.as_u16() {
            404 => Refused::new(axum::http::StatusCode::BAD_GATEWAY, refused.message),
            _ => refused,
        })?;
        if !guest.record.is_paused(Moment::now()) {
            return Ok(guest);
        }
        if guest.record.wakes {
            return self.wake(guest, None).await;
        }
        let message = format!("The sandbox {} is paused; connect to it again to resume it", guest.id);
        Err(Refused::new(axum::http::StatusCode::BAD_GATEWAY, message))
    }

    /// A sandbox of this owner that came in by this door.
    pub(crate) async fn known(&self, owner: Owner, id: SandboxId) -> Result<Guest, Refused> {
        let missing = || Refused::missing(format!("The sandbox {id} was not found"));
        let found = self.bay.noted_sandbox(&id).await?;
        let (_, info) = found.filter(|(other, _)| *other == owner).ok_or_else(missing)?;
        let record = Record::of(&info).ok_or_else(missing)?;
        Ok(Guest { owner, id, record, info })
    }

    /// Gives a sandbox time from now on, and takes its pause off.
    pub(crate) async fn wake(&self, guest: Guest, seconds: Option<i64>) -> Result<Guest, Refused> {
        let seconds = seconds.unwrap_or(guest.record.timeout);
        let _turn = self.notes.lock().await;
        let mut fresh = self.known(guest.owner, guest.id).await?;
        if fresh.record.is_paused(Moment::now()) {
            // Its time may be over only just now: whatever ran until then is not met again.
            self.bay.stop_sandbox(&fresh.owner, &fresh.id).await?;
            fresh.record.contexts.clear();
        }
        let ttl = fresh.record.give(seconds);
        self.write(fresh, Some(ttl)).await
    }

    /// Changes what is kept with a sandbox; what `change` gives is its new lifetime in seconds.
    pub(crate) async fn change(
        &self,
        guest: Guest,
        change: impl FnOnce(&mut Record) -> Option<i64>,
    ) -> Result<Guest, Refused> {
        let _turn = self.notes.lock().await;
        // As it is now: another change may have come in between.
        let mut fresh = self.known(guest.owner, guest.id).await?;
        let ttl = change(&mut fresh.record);
        self.write(fresh, ttl).await
    }

    /// Writes a sandbox's note; its session ends as that says.
    async fn write(&self, mut guest: Guest, ttl: Option<i64>) -> Result<Guest, Refused> {
        let session_ends_at = Some(guest.record.session_end());
        let amendment = AmendSandbox { ttl, metadata: None, note: Some(guest.record.note()), session_ends_at };
        guest.info = self.bay.amend_sandbox(&guest.owner, &guest.id, amendment).await?;
        Ok(guest)
    }
}

/// Whose sandbox this is, if the token is the one that admits to its traffic.
pub async fn traffic_owner(bay: &Bay, id: &SandboxId, token: &str) -> BayResult<Option<Owner>> {
    let found = bay.noted_sandbox(id).await?;
    Ok(found.filter(|(_, info)| Record::of(info).is_some_and(|record| record.has_token(token))).map(|(owner, _)| owner))
}

#[derive(Clone)]
struct Interfaces {
    control: Router,
    envd: Router,
    code: Router,
}

impl Interfaces {
    async fn answer(mut self, request: Request) -> Response {
        let headers = request.headers();
        let signed = request.extensions().get::<Signed>().is_some();
        let port = match headers.get(PORT_HEADER) {
            None => Some(ENVD_PORT),
            Some(port) => port.to_str().ok().and_then(|port| port.parse().ok()),
        };
        // Older clients name a sandbox with everything that they ask.
        let is_traffic = (headers.contains_key(SANDBOX_HEADER) || signed) && !is_control(request.uri().path());
        let chosen = match (is_traffic, port) {
            (false, _) => &mut self.control,
            (true, Some(ENVD_PORT)) => &mut self.envd,
            (true, Some(CODE_PORT)) => &mut self.code,
            (true, Some(port)) => {
                let message = format!(
                    "port {port} of a sandbox is not reached through this address; here are {ENVD_PORT} (processes and \
                     files) and {CODE_PORT} (the code interpreter)"
                );
                return Refused::unsupported(message).into_response();
            }
            (true, None) => return Refused::invalid("`E2b-Sandbox-Port` must be a port number").into_response(),
        };
        use tower_service::Service as _;
        let answered: Result<Response<Body>, std::convert::Infallible> = chosen.call(request).await;
        answered.unwrap_or_else(|never| match never {})
    }
}

/// Whether a path is one of control's, with `/e2b` before it or without.
fn is_control(path: &str) -> bool {
    let path = path.strip_prefix("/e2b").unwrap_or(path);
    let mut parts = path.split('/').skip(1).skip_while(|part| matches!(*part, "v1" | "v2" | "v3"));
    matches!(
        parts.next(),
        Some("sandboxes" | "snapshots" | "templates" | "default-templates" | "volumes" | "secrets" | "teams" | "nodes")
    )
}

/// What a signed address says of itself.
struct Signature {
    hash: Vec<u8>,
    path: String,
    user: String,
    expires: Option<i64>,
}

/// The signature in an address, if it has one.
fn signature(uri: &Uri) -> Option<Signature> {
    let query = form_urlencoded::parse(uri.query()?.as_bytes()).collect::<HashMap<_, _>>();
    let text = query.get("signature")?.strip_prefix("v1_").unwrap_or_default();
    let hash = STANDARD_NO_PAD.decode(text).unwrap_or_default();
    let word = |name: &str| query.get(name).map(ToString::to_string).unwrap_or_default();
    // Without a path the form's own names would decide.
    query.get("path").filter(|path| !path.is_empty())?;
    let expires = query.get("signature_expiration").map(|text| text.parse().unwrap_or(0));
    Some(Signature { hash, path: word("path"), user: word("username"), expires })
}

impl Signature {
    fn is_by(&self, token: &str, operation: &str) -> bool {
        let mut text = format!("{}:{operation}:{}:{token}", self.path, self.user);
        if let Some(expires) = self.expires {
            text.push_str(&format!(":{expires}"));
        }
        bool::from(Sha256::digest(text.as_bytes()).as_slice().ct_eq(&self.hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_is_told_from_traffic_by_its_path() {
        for path in ["/e2b/sandboxes", "/sandboxes/x/connect", "/e2b/v2/sandboxes", "/v3/templates", "/e2b/secrets/a"] {
            assert!(is_control(path), "{path}");
        }
        for path in ["/e2b/files", "/files", "/e2b/process.Process/List", "/e2b/execute", "/health", "/e2b/contexts/a"]
        {
            assert!(!is_control(path), "{path}");
        }
    }

    #[test]
    fn a_signature_is_for_one_path_one_direction_and_one_token() {
        let text = "a.txt:read::token:1700000000";
        let hash = STANDARD_NO_PAD.encode(Sha256::digest(text.as_bytes()));
        let hash = hash.replace('+', "%2B").replace('/', "%2F");
        let address = format!("/files?path=a.txt&signature=v1_{hash}&signature_expiration=1700000000");
        let signature = signature(&address.parse().unwrap()).unwrap();
        assert!(signature.is_by("token", "read"));
        assert!(!signature.is_by("token", "write") && !signature.is_by("other", "read"));
        let other = super::signature(&address.replace("a.txt", "b.txt").parse().unwrap()).unwrap();
        assert!(!other.is_by("token", "read"));
        assert!(super::signature(&address.replace("path=a.txt", "path=").parse().unwrap()).is_none());
    }
}
