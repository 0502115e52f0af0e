//! The page's files on their way out.

use std::collections::HashMap;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use cove_api::ErrorCode;
use cove_page::{FILES, INDEX, PageFile};
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;

/// Nothing runs but the page's own files, nothing is asked but this server, nobody shows the page in a frame, and no text
/// becomes HTML or script by assignment (`require-trusted-types-for`). Pictures of guests are blobs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// `/`: the page for people, the list of endpoints for programs.
pub(super) async fn index(headers: HeaderMap) -> Response {
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut response = match PageFile::find(INDEX) {
        Some(page) if accepted.any(|kinds| kinds.contains("text/html")) => give(page, &headers),
        _ => Redirect::to("/docs").into_response(),
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// `/page/{name}`
pub(super) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match PageFile::find(&name) {
        Some(file) if file.name != INDEX => give(file, &headers),
        _ => Failure::new(ErrorCode::NotFound, "the page has no such file").into_response(),
    }
}

fn give(file: &'static PageFile, asked: &HeaderMap) -> Response {
    let tag = tag(file);
    let own = |value: &'static str| HeaderValue::from_static(value);
    let known = asked.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let packed = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let packed = packed.is_some_and(|names| names.split(',').any(|name| name.trim().starts_with("gzip")));
    let mut response = if known.is_some_and(|tags| tags.split(',').any(|one| one.trim() == tag)) {
        StatusCode::NOT_MODIFIED.into_response()
    } else if packed {
        ([(header::CONTENT_ENCODING, "gzip")], file.gzip).into_response()
    } else {
        match file.unpacked() {
            Ok(bytes) => bytes.into_response(),
            Err(_) => return Failure::new(ErrorCode::InternalError, "the page is damaged").into_response(),
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, own(file.media_type()));
    headers.insert(header::CONTENT_SECURITY_POLICY, own(POLICY));
    headers.insert(header::X_FRAME_OPTIONS, own("DENY"));
    headers.insert(header::REFERRER_POLICY, own("no-referrer"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), own("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), own("same-origin"));
    // Names stay the same from version to version: a browser asks each time, and is mostly told that it has the file.
    headers.insert(header::CACHE_CONTROL, own("no-cache"));
    headers.insert(header::VARY, own("accept-encoding"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// A file's version: its content. Weak, because the packed and the plain bytes have the same.
fn tag(file: &'static PageFile) -> &'static str {
    static TAGS: OnceLock<HashMap<&'static str, String>> = OnceLock::new();
    let tags = TAGS.get_or_init(|| {
        let short = |file: &PageFile| {
            let digest = Sha256::digest(file.gzip);
            digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        FILES.iter().map(|file| (file.name, format!("W/\"{}\"", short(file)))).collect()
    });
    tags.get(file.name).map_or("", String::as_str)
}
