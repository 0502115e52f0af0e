//! Payloads: JSON that skills are made of.

use cove_api::{CreatePayload, Moment, PayloadInfo, PayloadRef};

use super::{invalid, named};
use crate::{BayResult, Owner};
use cove_core::shorten_word;
use cove_store::{BlobRow, NewBlob, Store, StoreError, blob_id, blob_ref};

pub(crate) async fn create_payload(store: &Store, owner: &Owner, wish: CreatePayload) -> BayResult<PayloadRef> {
    named("kind", &wish.kind)?;
    if !wish.payload.is_object() && !wish.payload.is_array() {
        return Err(invalid("`payload` must be an object or an array".to_owned()));
    }
    let new = NewBlob { sandbox_id: None, execution_id: None, kind: &wish.kind, body: &wish.payload };
    let id = store.keep_blob(owner, &new, Moment::now()).await?;
    Ok(PayloadRef { payload_ref: blob_ref(&id), kind: wish.kind })
}

pub(crate) async fn payload(store: &Store, owner: &Owner, payload_ref: &str) -> BayResult<PayloadInfo> {
    let blob = held(store, owner, payload_ref).await?;
    Ok(PayloadInfo { payload_ref: blob_ref(&blob.id), kind: blob.kind, payload: blob.body })
}

/// The blob behind a reference of ours. A reference of another kind (`s3:…`) is a value that cannot be read here, which
/// existing clients tell from one of ours that leads nowhere.
pub(super) async fn held(store: &Store, owner: &Owner, payload_ref: &str) -> BayResult<BlobRow> {
    let missing = || StoreError::missing("payload", payload_ref);
    let id = match blob_id(payload_ref) {
        Some(id) => id,
        None if payload_ref.starts_with("blob:") => return Err(missing().into()),
        None => {
            let shown = shorten_word(payload_ref);
            return Err(invalid(format!("Unsupported payload_ref {shown:?}: only `blob:…` references can be read")));
        }
    };
    Ok(store.blob(owner, &id).await?.ok_or_else(missing)?)
}
