//! Resources: pictures and files of sandboxes that a client can fetch by address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cove_bay::Owner;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::files::{collect, is_text, media_type};
use crate::server::CoveMcp;
use crate::uri::{self, ResourceUri};

/// The pictures of the server's own sandbox. Those of others are named by the answers that made them.
pub(crate) async fn list(server: &CoveMcp, owner: &Owner) -> Vec<Resource> {
    let Some(id) = server.own_sandbox().await else { return Vec::new() };
    let Ok(artifacts) = server.inner.bay.list_artifacts(owner, &id).await else { return Vec::new() };
    let resource = |info: &cove_api::ArtifactInfo| {
        let mut resource = Resource::new(uri::artifact(&id, &info.name), info.name.clone());
        resource.mime_type = Some(info.media_type.clone());
        resource.size = Some(info.size);
        resource
    };
    artifacts.items.iter().map(resource).collect()
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("cove://sandboxes/{sandbox_id}/artifacts/{name}", "artifact")
            .with_description("A picture that JavaScript drew in a sandbox."),
        ResourceTemplate::new("cove://sandboxes/{sandbox_id}/files/{+path}", "file")
            .with_description("A file of a sandbox's workspace; `path` is relative to /workspace."),
    ]
}

pub(crate) async fn read(server: &CoveMcp, owner: &Owner, address: &str) -> Result<ReadResourceResult, ErrorData> {
    let bay = &server.inner.bay;
    let download = match uri::parse(address) {
        Some(ResourceUri::Artifact { sandbox_id, name }) => bay.artifact(owner, &sandbox_id, &name).await,
        Some(ResourceUri::File { sandbox_id, path }) => bay.download(owner, &sandbox_id, &path).await,
        None => {
            return Err(ErrorData::resource_not_found(format!("unknown resource URI {address:?}"), None));
        }
    };
    let not_found = |error: cove_api::BayError| ErrorData::resource_not_found(error.to_string(), None);
    let download = download.map_err(not_found)?;
    let name = download.name.clone();
    let bytes = collect(download).await.map_err(not_found)?;
    let media = media_type(&name, &bytes);
    let contents = match String::from_utf8(bytes) {
        Ok(text) if is_text(media) => ResourceContents::text(text, address),
        Ok(text) => ResourceContents::blob(STANDARD.encode(text), address),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.as_bytes()), address),
    };
    Ok(ReadResourceResult::new(vec![contents.with_mime_type(media)]))
}
