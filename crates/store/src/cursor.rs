//! Where a page of a list ends and the next begins.

use cove_api::{BayError, ErrorCode, Moment};

/// The last thing of a page. Lists go from the newest to the oldest, so what comes next is before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    created_at: Moment,
    id: String,
}

impl Cursor {
    pub(crate) fn after(created_at: Moment, id: &str) -> Self {
        Self { created_at, id: id.to_owned() }
    }

    /// Reads what a client sends back; `None` is the first page.
    pub fn parse(text: Option<&str>) -> Result<Option<Self>, BayError> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        text.split_once('.')
            .filter(|(_, id)| id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
            .and_then(|(micros, id)| Some((i64::from_str_radix(micros, 16).ok()?, id)))
            .map(|(micros, id)| Some(Self::after(Moment::from_micros(micros), id)))
            .ok_or_else(|| {
                BayError::new(ErrorCode::ValidationError, "invalid `cursor`: pass the `next_cursor` of an earlier list")
            })
    }

    /// What to compare with; without a cursor, later than anything.
    pub(crate) fn bounds(cursor: Option<&Self>) -> (i64, &str) {
        cursor.map_or((i64::MAX, ""), |cursor| (cursor.created_at.micros(), &cursor.id))
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:x}.{}", self.created_at.micros(), self.id)
    }
}

/// A page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// Newest first.
    pub items: Vec<T>,
    /// For the next page; none: this was the last.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// From up to one more than fit: that one says that there is a next page.
    pub(crate) fn cut(mut items: Vec<T>, limit: u32, cursor: impl Fn(&T) -> Cursor) -> Self {
        let limit = limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(cursor) } else { None };
        Self { items, next }
    }
}
