//! Who reads an answer.
//!
//! A result carries text and pictures for a model and fields for programs. Some clients, once fields are there, show
//! their model nothing but the fields as JSON: Claude Code leaves the text out, Codex the pictures too. A model there would
//! see neither the marks around a stranger's words as they are meant nor a drawing at all. Those clients get the content
//! alone.

use http::header;
use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

/// What an answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// As the client shows it best: content and fields, unless it is known to show its model one form only. No output
    /// schemas: most clients put them before their model, which reads answers without them.
    #[default]
    Auto,
    /// Content and fields, and an output schema for each tool: for programs that check answers or write code for them.
    Both,
    /// Content alone: text, pictures, links.
    Content,
}

/// Clients that show their model the fields in place of the content, by the name that they give themselves.
/// Seen with Claude Code 2.1 and Codex 0.166.
const FIELDS_ONLY: [&str; 2] = ["claude-code", "codex-mcp-client"];

impl Answers {
    /// All names.
    pub const NAMES: [&str; 3] = ["auto", "both", "content"];

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "both" => Self::Both,
            "content" => Self::Content,
            _ => return None,
        })
    }

    /// Whether this client gets fields. Its address may say so (`/mcp?answers=both`), else the server's option, else its
    /// name decides.
    pub(crate) fn with_fields(self, context: &RequestContext<RoleServer>) -> bool {
        let parts = context.extensions.get::<Parts>();
        match self.asked(context) {
            Self::Both => true,
            Self::Content => false,
            Self::Auto => !names(context, parts).iter().any(|name| shows_fields_only(name)),
        }
    }

    /// Whether this client is shown what the fields of each tool are.
    pub(crate) fn with_schemas(self, context: &RequestContext<RoleServer>) -> bool {
        self.asked(context) == Self::Both
    }

    fn asked(self, context: &RequestContext<RoleServer>) -> Self {
        context.extensions.get::<Parts>().and_then(wished).unwrap_or(self)
    }
}

fn shows_fields_only(name: &str) -> bool {
    FIELDS_ONLY.contains(&name)
}

/// What the client calls itself: in the request, in the handshake, or over HTTP in its header.
fn names(context: &RequestContext<RoleServer>, parts: Option<&Parts>) -> Vec<String> {
    let in_request = context.meta.client_info().map(|info| info.name);
    let in_handshake = context.peer.peer_info().map(|info| info.client_info.name.clone());
    let in_header = parts.and_then(product);
    [in_request, in_handshake, in_header].into_iter().flatten().collect()
}

/// The product that `User-Agent` begins with.
fn product(parts: &Parts) -> Option<String> {
    let agent = parts.headers.get(header::USER_AGENT)?.to_str().ok()?;
    agent.split(['/', ' ']).next().map(str::to_owned)
}

/// What an address asks for; a name that is none asks for nothing.
fn wished(parts: &Parts) -> Option<Answers> {
    let pairs = parts.uri.query()?.split('&');
    pairs.filter_map(|pair| pair.strip_prefix("answers=")).find_map(Answers::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(address: &str, agent: &str) -> Parts {
        let request = http::Request::builder().uri(address).header("user-agent", agent);
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn clients_are_known_by_their_header() {
        for (agent, expected) in [
            ("claude-code/2.1.197 (sdk-cli)", true),
            ("codex-mcp-client/0.166.0", true),
            ("node", false),
            ("python-httpx/1.0 claude-code/2", false),
        ] {
            let name = product(&parts("/mcp", agent)).unwrap();
            assert_eq!(shows_fields_only(&name), expected, "{agent}");
        }
    }

    #[test]
    fn an_address_may_ask_for_a_form() {
        assert_eq!(wished(&parts("/mcp", "x")), None);
        assert_eq!(wished(&parts("/mcp?tools=core&answers=content", "x")), Some(Answers::Content));
        assert_eq!(wished(&parts("/mcp?answers=both", "x")), Some(Answers::Both));
        assert_eq!(wished(&parts("/mcp?answers=loud", "x")), None);
        for name in Answers::NAMES {
            assert!(Answers::parse(name).is_some(), "{name}");
        }
    }
}
