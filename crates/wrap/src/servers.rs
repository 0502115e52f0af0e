//! The file that names the servers, in the forms that clients have made usual: `mcpServers` (Claude Desktop, Claude
//! Code, Cursor), `servers` (VS Code), `mcp.servers` (settings of VS Code).
//!
//! Read once, before anything is started. A mistake names the server and the field; a server that is turned off, or whose
//! transport is not spoken here, is left out and said to be, so that one bad entry does not cost the others.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::rules::{ApprovalRules, Rule};

/// How long one call may take, unless its server says otherwise. As long as the usual clients wait.
const CALL: Duration = Duration::from_secs(60);

/// What a call may take at most: the longest run of code.
const LONGEST_CALL_MS: u64 = 300_000;

/// Servers in one file.
const MAX_SERVERS: usize = 100;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// Its name in the file.
    pub name: String,
    /// How to reach it.
    pub reach: Reach,
    /// How long one call may take.
    pub timeout: Duration,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that we start; it speaks on its standard streams.
    Stdio {
        /// The program, looked up in `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables beside the ones that it inherits.
        env: Vec<(String, String)>,
        /// Where it starts.
        cwd: Option<PathBuf>,
    },
    /// A server at an address: streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of each request; they hold tokens, so nothing here prints them.
        headers: Vec<(String, String)>,
    },
}

impl std::fmt::Debug for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdio { command, .. } => f.debug_struct("Stdio").field("command", command).finish_non_exhaustive(),
            Self::Http { url, .. } => f.debug_struct("Http").field("url", url).finish_non_exhaustive(),
        }
    }
}

/// A server that is not used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

/// What a file says.
#[derive(Debug, Clone, Default)]
pub struct Servers {
    /// The servers, in the order of the file.
    pub servers: Vec<ServerSpec>,
    /// Those that are not used.
    pub left_out: Vec<LeftOut>,
    /// Which calls are made, refused, or shown to a person first (`approvals`).
    pub rules: ApprovalRules,
    /// Whether code is looked at before it runs (`check`).
    pub checks: bool,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ServersError(String);

/// One entry, as the clients write it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(alias = "bearer_token_env_var")]
    bearer_token_env_var: Option<String>,
    #[serde(default)]
    disabled: bool,
    enabled: Option<bool>,
    env_file: Option<String>,
    #[serde(alias = "timeout_ms")]
    timeout_ms: Option<u64>,
}

impl Servers {
    /// Reads a file's text. `env` answers for the variables that it names.
    pub fn parse(text: &str, env: impl Fn(&str) -> Option<String>) -> Result<Self, ServersError> {
        let root: Value = serde_json::from_str(&without_comments(text))
            .map_err(|error| ServersError(format!("the file is not JSON: {error}")))?;
        let list =
            ["/mcpServers", "/servers", "/mcp/servers", "/mcp/mcpServers"].iter().find_map(|at| root.pointer(at));
        let Some(list) = list.and_then(Value::as_object) else {
            let known = "`mcpServers` (Claude, Cursor) or `servers` (VS Code)";
            return Err(ServersError(format!("the file names no servers: it needs an object {known}")));
        };
        if list.len() > MAX_SERVERS {
            return Err(ServersError(format!("the file names {} servers; the limit is {MAX_SERVERS}", list.len())));
        }
        let rules: Vec<Rule> = match root.get("approvals") {
            None => Vec::new(),
            Some(rules) => serde_json::from_value(rules.clone())
                .map_err(|error| ServersError(format!("`approvals` cannot be read: {error}")))?,
        };
        let checks = match root.get("check") {
            None => true,
            Some(Value::Bool(checks)) => *checks,
            Some(_) => return Err(ServersError("`check` must be true or false".to_owned())),
        };
        let mut read = Self { rules: ApprovalRules::new(&rules).map_err(ServersError)?, checks, ..Self::default() };
        for (name, entry) in list {
            let told = |why: String| ServersError(format!("the server {name:?}: {why}"));
            let entry: Entry = serde_json::from_value(entry.clone()).map_err(|error| told(error.to_string()))?;
            match entry.spec(name, &env) {
                Ok(spec) => read.servers.push(spec),
                Err(No::NotHere(why)) => read.left_out.push(LeftOut { name: name.clone(), why }),
                Err(No::Mistake(why)) => return Err(told(why)),
            }
        }
        Ok(read)
    }
}

/// Why an entry gives no server.
enum No {
    /// It is written wrongly: the file is refused, so that somebody sees it.
    Mistake(String),
    /// It cannot be used here and now: it is left out, and the others are not.
    NotHere(String),
}

impl Entry {
    fn spec(self, name: &str, env: &impl Fn(&str) -> Option<String>) -> Result<ServerSpec, No> {
        let not_here = |why: &str| Err(No::NotHere(why.to_owned()));
        let mistake = |why: &str| Err(No::Mistake(why.to_owned()));
        let filled = |field: &str, text: &str| fill(text, env).map_err(|why| No::NotHere(format!("`{field}`: {why}")));
        let timeout = match self.timeout_ms {
            None => CALL,
            Some(ms @ 1..=LONGEST_CALL_MS) => Duration::from_millis(ms),
            Some(ms) => return mistake(&format!("`timeout_ms` is {ms}; it must be from 1 to {LONGEST_CALL_MS}")),
        };
        if self.disabled || self.enabled == Some(false) {
            return not_here("it is turned off in the file");
        }
        let reach = match (self.command, self.url) {
            (Some(command), None) => {
                if self.env_file.is_some() {
                    return not_here("it has an `envFile`, which Cove does not read: write its variables into `env`");
                }
                Reach::Stdio {
                    command: filled("command", &command)?,
                    args: self.args.iter().map(|arg| filled("args", arg)).collect::<Result<_, _>>()?,
                    env: pairs("env", &self.env, env)?,
                    cwd: self.cwd.as_deref().map(|cwd| filled("cwd", cwd).map(PathBuf::from)).transpose()?,
                }
            }
            (None, Some(url)) => {
                if self.kind.as_deref() == Some("sse") {
                    return not_here(
                        "it speaks the older SSE transport, which the protocol has given up and Cove's client does \
                         not speak: use its streamable HTTP address with \"type\": \"http\"",
                    );
                }
                let mut headers = pairs("headers", &self.headers, env)?;
                if let Some(variable) = self.bearer_token_env_var {
                    let token = fill(&format!("${{{variable}}}"), env)
                        .map_err(|why| No::NotHere(format!("`bearerTokenEnvVar`: {why}")))?;
                    headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
                }
                Reach::Http { url: filled("url", &url)?, headers }
            }
            (Some(_), Some(_)) => return mistake("it has both `command` and `url`; it needs one of them"),
            (None, None) => return mistake("it needs a `command` (a program) or a `url` (an address)"),
        };
        Ok(ServerSpec { name: name.to_owned(), reach, timeout })
    }
}

fn pairs(
    field: &str,
    pairs: &Map<String, Value>,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, No> {
    let one = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => fill(text, env).map_err(|why| No::NotHere(format!("`{field}.{name}`: {why}")))?,
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return Err(No::Mistake(format!("`{field}.{name}` must be a string"))),
        };
        Ok((name.clone(), text))
    };
    pairs.iter().map(one).collect()
}

/// Puts in variables: `${NAME}`, `${env:NAME}`, `${NAME:-default}`.
fn fill(text: &str, env: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let name = &rest[at + 2..at + end];
        filled.push_str(&rest[..at]);
        rest = &rest[at + end + 1..];
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (name, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        if let Some(input) = name.strip_prefix("input:") {
            return Err(format!(
                "`${{input:{input}}}` asks a person, which cannot be done here: write `${{env:NAME}}` and set NAME"
            ));
        }
        let name = if name == "userHome" { "HOME" } else { name };
        match env(name).filter(|value| !value.is_empty()).or_else(|| default.map(str::to_owned)) {
            Some(value) => filled.push_str(&value),
            None => return Err(format!("the environment variable {name} is not set")),
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// JSON as editors allow it: without comments and without a comma before a closing bracket. Positions stay.
fn without_comments(text: &str) -> String {
    let mut kept: Vec<u8> = text.bytes().collect();
    let (mut at, mut in_string, mut comma) = (0, false, None);
    while at < kept.len() {
        match kept[at] {
            b'\\' if in_string => at += 1,
            b'"' => {
                in_string = !in_string;
                comma = None;
            }
            _ if in_string => {}
            b'/' if matches!(kept.get(at + 1), Some(b'/' | b'*')) => {
                let line = kept[at + 1] == b'/';
                let rest = &kept[at + 2..];
                let ends = |window: &[u8]| if line { window[0] == b'\n' } else { window == b"*/" };
                let length = rest.windows(if line { 1 } else { 2 }).position(ends);
                let end = length.map_or(kept.len(), |length| at + 2 + length + if line { 0 } else { 2 });
                kept[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    kept[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole characters were replaced, by blanks.
    String::from_utf8(kept).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("t0".to_owned()),
            "HOME" => Some("/home/a".to_owned()),
            _ => None,
        }
    }

    fn one(text: &str) -> Result<Servers, String> {
        Servers::parse(text, env).map_err(|error| error.to_string())
    }

    #[test]
    fn every_clients_form_is_read() {
        let stdio = Reach::Stdio {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "/home/a/x".to_owned()],
            env: vec![("KEY".to_owned(), "t0".to_owned())],
            cwd: None,
        };
        let http = Reach::Http {
            url: "https://mcp.example.com/mcp".to_owned(),
            headers: vec![("Authorization".to_owned(), "Bearer t0".to_owned())],
        };
        for (text, reach) in [
            (r#"{"mcpServers":{"a":{"command":"npx","args":["-y","${HOME}/x"],"env":{"KEY":"${TOKEN}"}}}}"#, &stdio),
            (
                "{\n // VS Code\n \"servers\":{\"a\":{\"type\":\"stdio\",\"command\":\"npx\",\
                 \"args\":[\"-y\",\"${userHome}/x\",],/* */\"env\":{\"KEY\":\"${env:TOKEN}\"},},},}",
                &stdio,
            ),
            (
                r#"{"mcpServers":{"a":{"url":"https://mcp.example.com/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#,
                &http,
            ),
            (
                r#"{"mcp":{"servers":{"a":{"type":"http","url":"https://${HOST:-mcp.example.com}/mcp","bearerTokenEnvVar":"TOKEN"}}}}"#,
                &http,
            ),
        ] {
            let read = one(text).unwrap();
            assert_eq!((&read.servers[0].reach, read.servers[0].name.as_str()), (reach, "a"), "{text}");
            assert!(!format!("{read:?}").contains("t0"), "no secret is printed");
        }
    }

    #[test]
    fn a_mistake_names_the_server_and_the_field() {
        for (text, word) in [
            ("{", "not JSON"),
            ("{}", "`mcpServers`"),
            (r#"{"mcpServers":{"a":{}}}"#, "\"a\": it needs a `command`"),
            (r#"{"mcpServers":{"a":{"command":"x","url":"y"}}}"#, "both"),
            (r#"{"mcpServers":{"a":{"command":"x","env":{"K":[]}}}}"#, "`env.K` must be a string"),
            (r#"{"mcpServers":{"a":{"command":"x"}},"check":"no"}"#, "`check`"),
            (r#"{"mcpServers":{"a":{"command":"x","timeout_ms":0}}}"#, "`timeout_ms`"),
            (r#"{"mcpServers":{"a":{"command":1}}}"#, "string"),
            (r#"{"mcpServers":{},"approvals":[{"tool":"a.*","do":"maybe"}]}"#, "`approvals`"),
        ] {
            let error = one(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_not_used_is_said_and_the_others_are() {
        for (entry, word) in [
            (r#"{"command":"x","disabled":true}"#, "turned off"),
            (r#"{"type":"sse","url":"http://h/sse"}"#, "SSE"),
            (r#"{"command":"x","env":{"K":"${NONE}"}}"#, "`env.K`: the environment variable NONE"),
            (r#"{"command":"${input:x}"}"#, "asks a person"),
            (r#"{"command":"x","envFile":".env"}"#, "`envFile`"),
            (r#"{"url":"http://h","bearerTokenEnvVar":"NONE"}"#, "`bearerTokenEnvVar`: the environment variable NONE"),
        ] {
            let read = one(&format!(r#"{{"mcpServers":{{"b":{entry},"a":{{"command":"x"}}}}}}"#)).unwrap();
            assert_eq!((read.servers.len(), read.left_out[0].name.as_str()), (1, "b"), "{entry}");
            assert!(read.left_out[0].why.contains(word), "{entry}: {}", read.left_out[0].why);
        }
        assert!(!one(r#"{"mcpServers":{},"check":false}"#).unwrap().checks);
    }

    #[test]
    fn comments_leave_texts_as_they_are() {
        let text = r#"{"a": "// no, /* \" */ ,]", "b": [1, 2,], } // é"#;
        let read: Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(read, serde_json::json!({"a": "// no, /* \" */ ,]", "b": [1, 2]}));
    }
}
