//! The guard on the wire: what agent-browser may ask of the browser.
//!
//! Commands are checked at the door for a clear answer; this is the check that holds whatever the command was: no
//! address but the web's, no file but those of the private folder, no second way into the browser.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::address::is_visitable;
use crate::link::OWN_IDS;

/// Calls that would end the browser, open it to others, or reach past the page.
const REFUSED: &[&str] = &[
    "Browser.close",
    "Browser.crash",
    "Browser.crashGpuProcess",
    "Browser.executeBrowserCommand",
    "Extensions.loadUnpacked",
    "Page.setDownloadBehavior",
    "Target.attachToBrowserTarget",
    "Target.exposeDevToolsProtocol",
    "Target.setRemoteLocations",
    "Tethering.bind",
    "Tracing.setCDMContentProvider",
];

/// A client's message, as far as it is read.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    id: Option<i64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params {
    url: Option<String>,
    files: Vec<String>,
    download_path: Option<String>,
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on, in this session if it names one.
    Pass(Option<String>),
    /// It is answered with this refusal instead.
    Answer(Refusal),
    /// It is no message at all; whoever sends such a thing is cut off.
    Drop,
}

/// The answer to a message that is not passed on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// As the client gets it.
    pub(crate) answer: String,
    /// Whether the browser was to be sent to an address that it may not visit.
    pub(crate) of_address: bool,
}

/// Looks at a message. `private_folder` is the only folder whose files may be named.
pub(crate) fn look(text: &str, private_folder: &Path) -> Verdict {
    let Ok(message) = serde_json::from_str::<Message<'_>>(text) else { return Verdict::Drop };
    let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else { return Verdict::Drop };
    let session = message.session.as_deref();
    if !(0..i64::from(OWN_IDS)).contains(&id)
        || session.is_some_and(|session| !session.chars().all(char::is_alphanumeric))
    {
        return Verdict::Drop;
    }
    match objection(method, message.params, private_folder) {
        None => Verdict::Pass(session.map(str::to_owned)),
        Some(Objection { why, of_address }) => {
            let mut answer =
                serde_json::json!({ "id": id, "error": { "code": -32000, "message": format!("Cove: {why}") } });
            if let (Some(session), Some(object)) = (session, answer.as_object_mut()) {
                object.insert("sessionId".to_owned(), session.into());
            }
            Verdict::Answer(Refusal { answer: answer.to_string(), of_address })
        }
    }
}

/// What is said against a message.
struct Objection {
    why: String,
    of_address: bool,
}

impl From<String> for Objection {
    fn from(why: String) -> Self {
        Self { why, of_address: false }
    }
}

fn objection(method: &str, params: Option<&RawValue>, private_folder: &Path) -> Option<Objection> {
    if REFUSED.contains(&method) {
        return Some(format!("{method} is not available in a sandbox").into());
    }
    let read = || -> Result<Params, String> {
        params.map_or(Ok(Params::default()), |raw| {
            serde_json::from_str(raw.get()).map_err(|_| format!("{method} cannot be read"))
        })
    };
    let inside = |path: &str| {
        let path = Path::new(path);
        path.starts_with(private_folder)
            && !path.components().any(|part| matches!(part, std::path::Component::ParentDir))
    };
    match method {
        "Page.navigate" | "Target.createTarget" => match read() {
            Ok(Params { url: Some(url), .. }) if !is_visitable(&url) => {
                Some(Objection { why: "this address is not allowed".to_owned(), of_address: true })
            }
            Ok(_) => None,
            Err(why) => Some(why.into()),
        },
        "DOM.setFileInputFiles" => match read() {
            Ok(params) if params.files.iter().all(|file| inside(file)) => None,
            Ok(_) => Some("this file is not the sandbox's".to_owned().into()),
            Err(why) => Some(why.into()),
        },
        "Browser.setDownloadBehavior" => match read() {
            Ok(params) if params.download_path.as_deref().is_none_or(inside) => None,
            Ok(_) => Some("downloads go to the sandbox's own folder".to_owned().into()),
            Err(why) => Some(why.into()),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_looked_at() {
        let private_folder = Path::new("/tmp/private");
        let passes = |text: &str| matches!(look(text, private_folder), Verdict::Pass(_));
        let refused = |text: &str| matches!(look(text, private_folder), Verdict::Answer(_));
        assert!(passes(r#"{"id":1,"method":"Page.navigate","params":{"url":"https://a.org/"}}"#));
        assert!(passes(r#"{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}"#));
        assert!(passes(r#"{"id":1,"method":"DOM.setFileInputFiles","params":{"files":["/tmp/private/in/a"]}}"#));
        assert!(passes(r#"{"id":1,"method":"Browser.setDownloadBehavior","params":{"behavior":"deny"}}"#));
        for text in [
            r#"{"id":1,"method":"Page.navigate","params":{"url":"file:///etc/passwd"}}"#,
            r#"{"id":1,"method":"Page.navigate","params":{"url":"x","url":"chrome://version"},"sessionId":"A"}"#,
            r#"{"id":1,"method":"Page.n\u0061vigate","params":{"url":"file:///x"}}"#,
            r#"{"id":1,"method":"Target.createTarget","params":{"url":"chrome://settings"}}"#,
            r#"{"id":1,"method":"DOM.setFileInputFiles","params":{"files":["/etc/passwd"]}}"#,
            r#"{"id":1,"method":"DOM.setFileInputFiles","params":{"files":["/tmp/private/../x"]}}"#,
            r#"{"id":1,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/root"}}"#,
            r#"{"id":1,"method":"Target.exposeDevToolsProtocol","params":{}}"#,
            r#"{"id":1,"method":"Browser.close"}"#,
        ] {
            assert!(refused(text), "{text}");
        }
        let of_address =
            |text: &str| matches!(look(text, private_folder), Verdict::Answer(Refusal { of_address: true, .. }));
        assert!(of_address(r#"{"id":1,"method":"Page.navigate","params":{"url":"file:///etc/passwd"}}"#));
        assert!(!of_address(r#"{"id":1,"method":"Browser.close"}"#));
        for text in [
            "",
            "[]",
            "{}",
            r#"{"id":1600000000,"method":"X.y"}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"method":"X","sessionId":"\""}"#,
        ] {
            assert_eq!(look(text, private_folder), Verdict::Drop, "{text}");
        }
    }
}
