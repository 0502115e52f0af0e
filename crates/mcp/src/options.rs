//! What a server is told.

use std::sync::Arc;

use cove_wrap::Wrap;

use crate::audience::Answers;
use crate::catalog::ToolSet;

/// The usual length of an answer, in tokens. Clients begin to warn at this size, and models to lose the thread.
pub const DEFAULT_MAX_TOKENS: usize = 10_000;

/// How to serve.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// Which tools are listed; every other one is not there.
    pub tools: Vec<ToolSet>,
    /// How long an answer may be, in tokens of four characters.
    pub max_tokens: usize,
    /// The profile of the sandbox that the server makes on first use for calls that name none; none: every call must
    /// name its sandbox.
    pub own_profile: Option<String>,
    /// Why the server's own sandbox has no browser, where none can be had.
    pub no_browser: Option<String>,
    /// What an answer is made of.
    pub answers: Answers,
    /// Other servers, whose tools code calls: then there are `run_code`, `search_tools` and `describe_tools`, too.
    pub wrap: Option<Arc<Wrap>>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            tools: vec![ToolSet::Default],
            max_tokens: DEFAULT_MAX_TOKENS,
            own_profile: None,
            no_browser: None,
            answers: Answers::Auto,
            wrap: None,
        }
    }
}

impl McpOptions {
    pub(crate) fn max_chars(&self) -> usize {
        self.max_tokens.clamp(250, 1_000_000) * 4
    }
}
