//! URLs by the WHATWG rules: what `URL` and `URLSearchParams` stand on.

use data_url::DataUrl;
use rquickjs::{Ctx, Object, Value};
use url::form_urlencoded::{Serializer, parse};
use url::{Position, Url, quirks};

use super::file_url::{FileUrl, is_file};
use super::put;
use crate::raw;

pub(super) fn install(natives: &Object<'_>) -> rquickjs::Result<()> {
    install_for(natives)
}

fn install_for<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(natives, "parseUrl", |text: Value<'js>, base: Value<'js>| -> Option<Vec<String>> {
        read(&raw::text(&text)?, raw::text(&base).as_deref())
    })?;
    put(natives, "changeUrl", |href: Value<'js>, part: String, value: Value<'js>| -> Option<Vec<String>> {
        let (href, value) = (raw::text(&href)?, raw::text(&value)?);
        if part == "href" {
            return read(&value, None);
        }
        if is_file(&href, None)
            && let Some(changed) = change_file(&href, &part, &value)
        {
            return Some(changed);
        }
        let mut url = Url::parse(&href).ok()?;
        match part.as_str() {
            "protocol" => quirks::set_protocol(&mut url, &value).ok()?,
            "username" => quirks::set_username(&mut url, &value).ok()?,
            "password" => quirks::set_password(&mut url, &value).ok()?,
            "host" => quirks::set_host(&mut url, &value).ok()?,
            "hostname" if is_rootless(&url) => url = with_host(&url, &value)?,
            "hostname" => quirks::set_hostname(&mut url, &value).ok()?,
            "port" => quirks::set_port(&mut url, &value).ok()?,
            "pathname" if url.is_special() || url.cannot_be_a_base() => quirks::set_pathname(&mut url, &value),
            "pathname" => url = with_path(&url, &value)?,
            "search" => quirks::set_search(&mut url, &value),
            "hash" => quirks::set_hash(&mut url, &value),
            _ => return None,
        }
        Some(parts(&url))
    })?;
    // The type and the bytes of a `data:` address; nothing if it has none.
    put(natives, "dataOf", |ctx: Ctx<'js>, href: Value<'js>| -> rquickjs::Result<Option<Vec<Value<'js>>>> {
        let read = || {
            let href = raw::text(&href)?;
            let url = DataUrl::process(&href).ok()?;
            Some((url.mime_type().to_string(), url.decode_to_vec().ok()?.0))
        };
        let Some((kind, bytes)) = read() else { return Ok(None) };
        let kind = rquickjs::String::from_str(ctx.clone(), &kind)?;
        Ok(Some(vec![kind.into_value(), raw::uint8_array(&ctx, &bytes)?]))
    })?;
    put(natives, "parseQuery", |text: Value<'js>| -> Vec<Vec<String>> {
        let text = raw::text(&text).unwrap_or_default();
        parse(text.as_bytes()).map(|(key, value)| vec![key.into_owned(), value.into_owned()]).collect()
    })?;
    put(natives, "writeQuery", |pairs: Vec<Vec<Value<'js>>>| -> String {
        let mut out = Serializer::new(String::new());
        for pair in pairs {
            if let [key, value] = pair.as_slice() {
                out.append_pair(&raw::text(key).unwrap_or_default(), &raw::text(value).unwrap_or_default());
            }
        }
        out.finish()
    })
}

/// The parts of an address; `None` if it is none.
fn read(text: &str, base: Option<&str>) -> Option<Vec<String>> {
    if is_file(text, base) {
        let base = match base.filter(|base| is_file(base, None)) {
            Some(base) => Some(FileUrl::parse(base, None)?),
            // Not needed, but it must be an address.
            None => {
                base.map(Url::parse).transpose().ok()?;
                None
            }
        };
        return FileUrl::parse(text, base.as_ref()).map(|url| url.parts());
    }
    let url = match base {
        Some(base) => Url::parse(base).ok()?.join(text).ok()?,
        None => Url::parse(text).ok()?,
    };
    Some(parts(&url))
}

/// Changes an address of a file; `None` where that is as with other addresses.
fn change_file(href: &str, part: &str, value: &str) -> Option<Vec<String>> {
    let mut url = FileUrl::parse(href, None)?;
    match part {
        "pathname" => url.set_path(value),
        "search" => url.set_query(value),
        "hash" => url.set_fragment(value),
        _ => return None,
    }
    Some(url.parts())
}

/// Whether an address has no host and a path that begins with an empty part: `a:/.//b`.
fn is_rootless(url: &Url) -> bool {
    !url.is_special() && !url.has_authority() && url.path().starts_with("//")
}

/// An address of no special scheme with another path. The `url` crate takes two slashes at its beginning for a host.
fn with_path(url: &Url, value: &str) -> Option<Url> {
    // It has a host, so that its path may be empty or begin with two slashes.
    let mut donor = Url::parse("a://h/").ok()?;
    quirks::set_pathname(&mut donor, value);
    let path = donor.path();
    let before = match url.has_authority() {
        true => format!("//{}{path}", &url[Position::BeforeUsername..Position::BeforePath]),
        false if path.is_empty() => "/".to_owned(),
        false if path.starts_with("//") => format!("/.{path}"),
        false => path.to_owned(),
    };
    Url::parse(&format!("{}:{before}{}", url.scheme(), &url[Position::AfterPath..])).ok()
}

fn with_host(url: &Url, value: &str) -> Option<Url> {
    let mut donor = Url::parse("a://h/").ok()?;
    quirks::set_hostname(&mut donor, value).ok()?;
    let host = quirks::hostname(&donor);
    Url::parse(&format!("{}://{host}{}{}", url.scheme(), url.path(), &url[Position::AfterPath..])).ok()
}

/// The origin of `blob:` is that of the page which made it, and that is a page of the web.
fn origin(url: &Url) -> String {
    let inner = || Url::parse(url.path()).ok().filter(|inner| matches!(inner.scheme(), "http" | "https"));
    if url.scheme() == "blob" && inner().is_none() { "null".to_owned() } else { quirks::origin(url) }
}

/// In the order of the prelude's getters.
fn parts(url: &Url) -> Vec<String> {
    [
        quirks::href(url),
        &origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .map(str::to_owned)
    .to_vec()
}
