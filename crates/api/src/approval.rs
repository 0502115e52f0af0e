//! Approvals: calls of code that wait until a person has decided.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Moment;

/// A call that waits for a person. The code that makes it stands still meanwhile; nothing of it is run again afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// Its id.
    pub id: String,
    /// The sandbox whose code asks.
    pub sandbox_id: String,
    /// The JavaScript session that the code runs in; null: none.
    pub session: Option<String>,
    /// What is to be called: `github.delete_repository`.
    pub tool: String,
    /// With which arguments.
    #[schema(value_type = Value)]
    pub args: Value,
    /// Why a person is asked.
    pub why: String,
    /// The lines of code that make such a call, where the code names it.
    pub lines: Vec<CodeLine>,
    /// Since when it waits.
    pub asked_at: Moment,
    /// When it is denied if nobody has decided.
    pub ends_at: Moment,
}

/// A line of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CodeLine {
    /// Its number, from 1.
    pub line: u32,
    /// What it says.
    pub text: String,
}

/// The calls that wait, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalList {
    /// They.
    pub items: Vec<Approval>,
}

/// What a person decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ApprovalDecision {
    /// When approving: whether further calls of this tool by this session are made without asking.
    pub remember: bool,
    /// When denying: what the code is told.
    pub reason: Option<String>,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalEnd {
    /// The call was made, once.
    Approved,
    /// A person has refused it; the call was not made.
    Denied,
    /// Nobody has decided in time; the call was not made.
    NobodyAnswered,
    /// The code was ended before anybody decided; the call was not made.
    Gone,
}
