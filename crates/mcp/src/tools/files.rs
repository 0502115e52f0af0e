//! Files of the workspace.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use cove_api::SandboxId;
use cove_files::{FileErrorCode, FileTool};
use serde_json::{Value, json};

use super::sandboxes::to_value;
use super::{Call, Done};
use crate::advice;
use crate::failure::Failure;
use crate::files::{collect, is_picture, is_text, media_type};
use crate::reply::Reply;
use crate::server::KEPT_STRANGERS;
use crate::uri;

/// A text up to this size is shown by `download_file`.
const SHOWN_BYTES: usize = 64 << 10;

/// One of the six.
pub(super) async fn tool(call: Call<'_>, id: &SandboxId, tool: FileTool) -> Done {
    let args = call.args.clone().into_value();
    let named = args["path"].as_str().is_some_and(|path| path.contains(KEPT_STRANGERS));
    let mut answer = match call.bay().file_tool(&call.owner, id, tool, args).await {
        Ok(answer) => answer,
        Err(error) => {
            // The tool's own code, where it has one, says more than Bay's.
            let own = error.details.get("code").and_then(Value::as_str).map(str::to_owned);
            let mut failure = Failure::from(error);
            if let Some(own) = own {
                if let Some(step) = FileErrorCode::from_name(&own).and_then(advice::files::next_step) {
                    failure.next_step = step.to_owned();
                }
                failure.code = own;
            }
            return Err(failure);
        }
    };
    let mut text = String::new();
    let mut reply = Reply::default();
    for block in answer["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("image") => {
                let word = |name: &str| block[name].as_str().unwrap_or_default();
                reply.encoded_picture(word("data"), word("mimeType"));
            }
            _ => text.push_str(block["text"].as_str().unwrap_or_default()),
        }
    }
    let pictures = reply.pictures();
    reply.structured =
        [("text".to_owned(), text.clone().into()), ("images".to_owned(), pictures.into())].into_iter().collect();
    let details = answer["details"].take();
    if !details.is_null() {
        reply.structured.insert("details".to_owned(), details);
    }
    if named || text.contains(KEPT_STRANGERS) {
        reply.stranger = Some("an answer that was kept, of a web page or another stranger");
    }
    reply.text = text;
    Ok(reply)
}

pub(super) async fn upload(mut call: Call<'_>, id: &SandboxId) -> Done {
    let path = call.args.take_required("path")?;
    let bytes = match (call.args.take_text("content_base64")?, call.args.take_text("content")?) {
        (Some(encoded), None) => {
            let plain: String = encoded.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            STANDARD
                .decode(plain)
                .map_err(|error| Failure::args(format!("`content_base64` is not valid base64: {error}")))?
        }
        (None, Some(text)) => text.into_bytes(),
        _ => return Err(Failure::args("give either `content_base64` or `content`")),
    };
    let pieces = futures_util::stream::iter([Ok(Bytes::from(bytes))]);
    let done = call.bay().upload(&call.owner, id, uri::inside(&path), Box::pin(pieces)).await?;
    Ok(Reply::new(format!("Wrote {}, {} bytes.", done.path, done.size), to_value(&done)))
}

pub(super) async fn download(mut call: Call<'_>, id: &SandboxId) -> Done {
    let path = call.args.take_required("path")?;
    let path = uri::inside(&path);
    let download = call.bay().download(&call.owner, id, path).await?;
    let bytes = collect(download).await?;
    let (media, address) = (media_type(path, &bytes), uri::file(id, path));
    let mut reply = Reply::new(
        format!("{path}: {media}, {} bytes.", bytes.len()),
        json!({"path": path, "size": bytes.len(), "media_type": media, "uri": address}),
    );
    if is_picture(media) {
        reply.picture(&bytes, media);
    } else if is_text(media) && bytes.len() <= SHOWN_BYTES {
        reply.text = String::from_utf8_lossy(&bytes).into_owned();
    }
    reply.link(address, path, media, Some(bytes.len() as u64));
    Ok(reply)
}
