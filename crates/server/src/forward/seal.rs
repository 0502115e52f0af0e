//! The seal on a request that one Bay forwards to another.
//!
//! A Bay that gets a sealed request does not forward it again, lets in an anonymous caller that the first Bay has checked,
//! and does not count it against its key a second time. So nobody but a Bay may make one: the seal is an HMAC with a
//! secret that only the shared database has, over the method, the address, the request's id, the Bay it is for and the
//! time. A header of that name from anybody else means nothing and is taken off.

use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use cove_api::ErrorCode;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::app::App;
use crate::envelope::REQUEST_ID;
use crate::failure::Failure;

/// Where the seal is.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("x-cove-forwarded");

/// A sealed request must be read within this time. Whoever sent it gives up on a silent Bay no sooner
/// ([`peers`](super::peers)): a Bay that was frozen and wakes does not begin what its caller was told has failed.
pub(super) const FRESH: Duration = Duration::from_secs(9);

/// A request that another Bay has forwarded to this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forwarded;

/// What the seal is over.
struct Sealed<'a> {
    method: &'a Method,
    target: &'a str,
    headers: &'a HeaderMap,
    instance_id: &'a str,
    at_ms: i64,
}

impl Sealed<'_> {
    fn mac(&self, secret: &[u8]) -> Option<Hmac<Sha256>> {
        let id = self.headers.get(REQUEST_ID).map(HeaderValue::as_bytes).unwrap_or_default();
        let at = self.at_ms.to_string();
        let parts =
            [self.method.as_str().as_bytes(), self.target.as_bytes(), id, self.instance_id.as_bytes(), at.as_bytes()];
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        for part in parts {
            // With its length before it, so that no two requests read the same.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Some(mac)
    }
}

/// The seal for a request to another Bay, whose headers are complete but for it.
pub(super) fn write(
    app: &App,
    method: &Method,
    target: &str,
    headers: &HeaderMap,
    instance_id: &str,
) -> Option<HeaderValue> {
    let at_ms = app.bay.agreed_now().micros() / 1_000;
    let sealed = Sealed { method, target, headers, instance_id, at_ms };
    let mac = sealed.mac(app.bay.peer_secret())?.finalize().into_bytes();
    HeaderValue::try_from(format!("1 {} {at_ms} {}", hex(instance_id.as_bytes()), hex(&mac))).ok()
}

/// Takes the seal off a request, and notes whether another Bay forwarded it. A request that a Bay has sealed, but not for
/// this one or too long ago, is refused: whoever sent it has given up, or was led astray, and would be led in circles.
pub(crate) fn take_off(app: &App, request: &mut Request) -> Result<Option<Forwarded>, Failure> {
    let Some(given) = request.headers_mut().remove(FORWARDED) else { return Ok(None) };
    // Removes all of several; a Bay sends one.
    if app.alone {
        return Ok(None);
    }
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let Some((instance_id, at_ms)) = read(app, &given, request.method(), target, request.headers()) else {
        tracing::debug!("a header that only Bays send came from somebody else and was ignored");
        return Ok(None);
    };
    let refuse = |message: &str| {
        Failure::new(ErrorCode::SessionNotReady, message).with("retry_after_ms", 1_000).with("may_have_begun", false)
    };
    if instance_id != app.bay.instance_id() {
        let message = "this request was forwarded to another server but reached this one; every server needs \
                       its own `server.advertise_url`";
        return Err(refuse(message));
    }
    let age_ms = (app.bay.agreed_now().micros() / 1_000).saturating_sub(at_ms).unsigned_abs();
    if age_ms > u64::try_from(FRESH.as_millis()).unwrap_or(u64::MAX) {
        return Err(refuse("this forwarded request is too old and was not started; try again"));
    }
    Ok(Some(Forwarded))
}

/// For which Bay a seal was made, and when; `None` for one that no Bay has made.
fn read(app: &App, given: &HeaderValue, method: &Method, target: &str, headers: &HeaderMap) -> Option<(String, i64)> {
    let mut words = given.to_str().ok()?.split(' ');
    let (version, instance, at, mac) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if version != "1" || words.next().is_some() {
        return None;
    }
    let (instance_id, at_ms) = (String::from_utf8(from_hex(instance)?).ok()?, at.parse().ok()?);
    let sealed = Sealed { method, target, headers, instance_id: &instance_id, at_ms };
    // Compared in constant time.
    sealed.mac(app.bay.peer_secret())?.verify_slice(&from_hex(mac)?).ok()?;
    Some((instance_id, at_ms))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever of a request is changed, its seal does not fit any more.
    #[test]
    fn a_seal_fits_one_request() {
        let (post, get, mut headers, other) = (Method::POST, Method::GET, HeaderMap::new(), HeaderMap::new());
        headers.insert(REQUEST_ID, HeaderValue::from_static("req-1"));
        let sealed = |method, target, headers, instance_id, at_ms| {
            let sealed = Sealed { method, target, headers, instance_id, at_ms };
            move |secret: &[u8]| sealed.mac(secret).unwrap().finalize().into_bytes().to_vec()
        };
        let own = sealed(&post, "/v1/x?y", &headers, "bay-1", 5)(b"secret");
        assert_eq!(own, sealed(&post, "/v1/x?y", &headers, "bay-1", 5)(b"secret"));
        for different in [
            sealed(&get, "/v1/x?y", &headers, "bay-1", 5)(b"secret"),
            sealed(&post, "/v1/x?z", &headers, "bay-1", 5)(b"secret"),
            sealed(&post, "/v1/x?y", &other, "bay-1", 5)(b"secret"),
            sealed(&post, "/v1/x?y", &headers, "bay-2", 5)(b"secret"),
            sealed(&post, "/v1/x?y", &headers, "bay-1", 6)(b"secret"),
            sealed(&post, "/v1/x?y", &headers, "bay-1", 5)(b"Secret"),
        ] {
            assert_ne!(own, different);
        }
        assert_eq!(from_hex(&hex(b"\x00bay\xff")).unwrap(), b"\x00bay\xff");
        for wrong in ["0", "0g", "+1", "é"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
