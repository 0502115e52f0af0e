//! Releases: which candidate is in use.

use cove_api::{Moment, Promote, ReleaseInfo, ReleaseList, ReleaseQuery};

use super::bounded;
use crate::history::page_size;
use crate::{BayResult, Owner};
use cove_store::{ReleaseFilter, ReleaseRow, Store, StoreError};

pub(crate) async fn promote(store: &Store, owner: &Owner, id: &str, wish: &Promote) -> BayResult<ReleaseInfo> {
    bounded("upgrade_reason", wish.upgrade_reason.as_deref())?;
    bounded("change_summary", wish.change_summary.as_deref())?;
    Ok(store.promote(owner, id, wish, Moment::now()).await?)
}

pub(crate) async fn list_releases(store: &Store, owner: &Owner, query: &ReleaseQuery) -> BayResult<ReleaseList> {
    let filter = ReleaseFilter {
        skill_key: query.skill_key.as_deref(),
        active_only: query.active_only.unwrap_or(false),
        stage: query.stage,
        limit: page_size(query.limit)?,
        offset: query.offset.unwrap_or(0),
    };
    let (items, total) = store.releases(owner, &filter).await?;
    Ok(ReleaseList { items, total })
}

pub(crate) async fn release(store: &Store, owner: &Owner, id: &str) -> BayResult<ReleaseRow> {
    Ok(store.release(owner, id).await?.ok_or_else(|| StoreError::missing("release", id))?)
}
