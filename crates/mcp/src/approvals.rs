//! Questions to the client's user: calls of code that wait for a person, as elicitations of the protocol.
//!
//! Asked only where the client says that it can show such a question, and where it can be answered: over HTTP each request
//! stands alone. Everywhere else the same question waits at Bay's other interfaces. Whoever answers first decides.

use std::sync::Arc;

use cove_api::{Approval, ApprovalDecision};
use cove_bay::{ApprovalSink, Bay, Owner};
use cove_core::shorten_chars;
use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema};
use rmcp::service::{ElicitationMode, Peer, RequestContext};
use serde_json::{Value, json};

/// How much of a call's arguments a question shows.
const ARGS_CHARS: usize = 2_000;

/// Shows questions to the client's user; `None`: the client cannot.
pub(crate) fn asker(bay: &Bay, owner: &Owner, context: &RequestContext<RoleServer>) -> Option<ApprovalSink> {
    let over_http = context.extensions.get::<http::request::Parts>().is_some();
    if over_http || !context.peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
        return None;
    }
    let (bay, owner, peer) = (bay.clone(), owner.clone(), context.peer.clone());
    Some(Arc::new(move |approval| {
        let (bay, owner, peer, approval) = (bay.clone(), owner.clone(), peer.clone(), approval.clone());
        tokio::spawn(async move {
            if let Some((approve, decision)) = ask(&peer, &approval).await {
                // Somebody else may have decided, or the code has ended meanwhile.
                let _ = bay.decide_approval(&owner, &approval.id, approve, decision);
            }
        });
    }))
}

/// What the user decides; `None`: the question was not understood, and waits elsewhere.
async fn ask(peer: &Peer<RoleServer>, approval: &Approval) -> Option<(bool, ApprovalDecision)> {
    let schema = json!({
        "type": "object",
        "properties": {
            "remember": {
                "type": "boolean", "default": false, "title": "For this session",
                "description": "Do not ask again for this tool in this session.",
            },
        },
    });
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let params =
        ElicitRequestParams::FormElicitationParams { meta: None, message: question(approval), requested_schema };
    let answer = peer.create_elicitation(params).await.ok()?;
    let remember = answer.content.as_ref().and_then(|content| content.get("remember")).and_then(Value::as_bool);
    Some(match answer.action {
        ElicitationAction::Accept => (true, ApprovalDecision { remember: remember.unwrap_or_default(), reason: None }),
        _ => (false, ApprovalDecision::default()),
    })
}

/// Who wants what, with which arguments, and in which line.
fn question(approval: &Approval) -> String {
    let args = shorten_chars(&approval.args.to_string(), ARGS_CHARS);
    let mut text =
        format!("Code wants to call {} with {args}.\nYou are asked because {}.", approval.tool, approval.why);
    for line in approval.lines.iter().take(5) {
        text.push_str(&format!("\n{} | {}", line.line, shorten_chars(&line.text, 200)));
    }
    text.push_str("\nIt waits until you decide.");
    text
}
