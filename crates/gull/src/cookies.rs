//! Cookies that outlive the browser: read after every command, given back at the next launch.
//!
//! The browser itself writes its cookies down every half minute and forgets those without a date, which is what most
//! logins are made of. A sandbox that comes back logged out has lost the user's work, so its cookies are kept here, in a
//! file of the browser's state that only its owner can read.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::cargo::Cargo;
use crate::link::{Link, LinkError};

/// Where they lie, in the folder of the browser's state.
const FILE: &str = "cookies.json";

/// The largest file that is read back. A browser keeps some 180 cookies per site and 3300 in all, of 4 KiB each.
const MAX_BYTES: u64 = 16 << 20;

const STEP: Duration = Duration::from_secs(3);

/// Asks the browser for its cookies, as the text of the file.
pub(crate) async fn ask(link: &Link) -> Result<String, LinkError> {
    let answer: Value = link.call(None, "Storage.getCookies", json!({}), STEP).await?;
    Ok(answer.get("cookies").unwrap_or(&Value::Null).to_string())
}

/// Writes the file.
pub(crate) fn keep(cargo: &Cargo, text: &str) -> io::Result<()> {
    cargo.write(FILE, 0o600, |file| file.write_all(text.as_bytes()))
}

/// Gives the kept cookies to a new browser. A file that cannot be read is no reason not to start.
pub(crate) async fn restore(link: &Link, cargo: &Cargo) {
    let Some(kept) = read(cargo) else { return };
    if link.call::<Value>(None, "Storage.clearCookies", json!({}), STEP).await.is_err() {
        return;
    }
    let cookies: Vec<Value> = kept.iter().filter_map(param).collect();
    let all = link.call::<Value>(None, "Storage.setCookies", json!({ "cookies": cookies }), STEP).await;
    if all.is_err() {
        // One that the browser does not take must not cost the others.
        for cookie in cookies {
            let _ = link.call::<Value>(None, "Storage.setCookies", json!({ "cookies": [cookie] }), STEP).await;
        }
    }
}

fn read(cargo: &Cargo) -> Option<Vec<Value>> {
    let mut text = String::new();
    cargo.read(FILE).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// A cookie as the browser tells it, in the form in which it takes one.
fn param(cookie: &Value) -> Option<Value> {
    let text = |name: &str| cookie.get(name).and_then(Value::as_str);
    let mut param = Map::new();
    for name in [
        "name",
        "value",
        "path",
        "secure",
        "httpOnly",
        "sameSite",
        "priority",
        "sourceScheme",
        "sourcePort",
        "partitionKey",
    ] {
        if let Some(value) = cookie.get(name) {
            param.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(expires) = cookie.get("expires").and_then(Value::as_f64).filter(|expires| *expires > 0.0) {
        param.insert("expires".to_owned(), json!(expires));
    }
    let domain = text("domain")?;
    if domain.starts_with('.') {
        param.insert("domain".to_owned(), domain.into());
    } else {
        // A cookie of one host only: naming a domain would give it to the hosts below, too.
        let scheme = if cookie.get("secure").and_then(Value::as_bool) == Some(true) { "https" } else { "http" };
        let host = if domain.contains(':') { format!("[{domain}]") } else { domain.to_owned() };
        param.insert("url".to_owned(), format!("{scheme}://{host}{}", text("path").unwrap_or("/")).into());
    }
    Some(Value::Object(param))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_keep_their_reach() {
        let host_only =
            json!({ "name": "a", "value": "1", "domain": "x.org", "path": "/p", "expires": -1, "secure": true });
        let expected = json!({ "name": "a", "value": "1", "path": "/p", "secure": true, "url": "https://x.org/p" });
        assert_eq!(param(&host_only), Some(expected));
        let wide =
            json!({ "name": "a", "value": "1", "domain": ".x.org", "path": "/", "expires": 9.5, "secure": false });
        let expected =
            json!({ "name": "a", "value": "1", "path": "/", "secure": false, "expires": 9.5, "domain": ".x.org" });
        assert_eq!(param(&wide), Some(expected));
        assert_eq!(param(&json!({ "name": "a" })), None);
    }
}
