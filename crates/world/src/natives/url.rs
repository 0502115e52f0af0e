//! URLs by the WHATWG rules: what `URL` and `URLSearchParams` stand on.

use rquickjs::{Object, Value};
use url::form_urlencoded::{Serializer, parse};
use url::{Url, quirks};

use super::put;
use crate::raw;

pub(super) fn install(natives: &Object<'_>) -> rquickjs::Result<()> {
    install_for(natives)
}

fn install_for<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(natives, "parseUrl", |text: Value<'js>, base: Value<'js>| -> Option<Vec<String>> {
        let text = raw::text(&text)?;
        let url = match raw::text(&base) {
            Some(base) => Url::parse(&base).ok()?.join(&text).ok()?,
            None => Url::parse(&text).ok()?,
        };
        Some(parts(&url))
    })?;
    put(natives, "changeUrl", |href: Value<'js>, part: String, value: Value<'js>| -> Option<Vec<String>> {
        let value = raw::text(&value)?;
        let mut url = Url::parse(&raw::text(&href)?).ok()?;
        match part.as_str() {
            "href" => url = Url::parse(&value).ok()?,
            "protocol" => quirks::set_protocol(&mut url, &value).ok()?,
            "username" => quirks::set_username(&mut url, &value).ok()?,
            "password" => quirks::set_password(&mut url, &value).ok()?,
            "host" => quirks::set_host(&mut url, &value).ok()?,
            "hostname" => quirks::set_hostname(&mut url, &value).ok()?,
            "port" => quirks::set_port(&mut url, &value).ok()?,
            "pathname" => quirks::set_pathname(&mut url, &value),
            "search" => quirks::set_search(&mut url, &value),
            "hash" => quirks::set_hash(&mut url, &value),
            _ => return None,
        }
        Some(parts(&url))
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

/// In the order of the prelude's getters.
fn parts(url: &Url) -> Vec<String> {
    [
        quirks::href(url),
        &quirks::origin(url),
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
