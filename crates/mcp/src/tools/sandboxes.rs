//! Sandboxes.

use cove_api::{CreateSandbox, SandboxId, SandboxQuery};
use serde_json::{Value, json};

use super::{Call, Done};
use crate::reply::Reply;

pub(super) async fn create(call: Call<'_>) -> Done {
    let wish: CreateSandbox = call.args.clone().parse()?;
    let made = call.bay().create_sandbox(&call.owner, wish, None).await?;
    let text = format!(
        "Made {} (profile {}, {}). Pass this id as `sandbox_id`.",
        made.id,
        made.profile,
        made.capabilities.join(", ")
    );
    Ok(Reply::new(text, to_value(&made)))
}

pub(super) async fn list(call: Call<'_>) -> Done {
    let query: SandboxQuery = call.args.clone().parse()?;
    let list = call.bay().list_sandboxes(&call.owner, query).await?;
    let mut text = String::new();
    for sandbox in &list.items {
        let status = to_value(&sandbox.status);
        let status = status.as_str().unwrap_or_default();
        text.push_str(&format!("{} {status} {} since {}\n", sandbox.id, sandbox.profile, sandbox.created_at));
    }
    if list.items.is_empty() {
        text.push_str("There is no sandbox.");
    }
    if let Some(cursor) = &list.next_cursor {
        text.push_str(&format!("There are more: pass cursor {cursor:?}."));
    }
    Ok(Reply::new(text, to_value(&list)))
}

pub(super) async fn delete(mut call: Call<'_>) -> Done {
    let id = call.args.take_id::<SandboxId>("sandbox_id")?;
    call.bay().delete_sandbox(&call.owner, &id).await?;
    call.server.forget(&id).await;
    Ok(Reply::new(format!("{id} is deleted."), json!({"id": id, "deleted": true})))
}

pub(super) fn profiles(mut call: Call<'_>) -> Done {
    let detail = call.args.take("detail").and_then(|value| value.as_bool()).unwrap_or(true);
    Ok(Reply::json(to_value(&call.bay().profiles(detail))))
}

pub(super) fn to_value(thing: &impl serde::Serialize) -> Value {
    serde_json::to_value(thing).unwrap_or_default()
}
