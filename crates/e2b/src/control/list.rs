//! Lists of sandboxes: the first interface has them whole, the second in pages.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use cove_api::{Moment, SandboxInfo, SandboxQuery};
use serde_json::Value;

use crate::door::E2bDoor;
use crate::record::Record;
use crate::refusal::Refused;

/// Where the next page begins.
const NEXT_TOKEN: HeaderName = HeaderName::from_static("x-next-token");

/// A page of a client that names no size.
const USUAL_PAGE: usize = 100;

/// What Bay is asked for at once.
const STEP: u32 = 200;

/// The most that the first interface lists.
const MAX_WHOLE: usize = 1_000;

#[derive(Debug, Default)]
struct Asked {
    metadata: BTreeMap<String, String>,
    states: Vec<String>,
    template: Option<String>,
    started_after: Option<i64>,
    oldest_first: bool,
    limit: Option<usize>,
    next: Option<String>,
}

impl Asked {
    fn of(parts: &Parts) -> Result<Self, Refused> {
        let mut asked = Self::default();
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                // Pairs in a query of their own, whose words are escaped once more.
                "metadata" => asked.metadata.extend(
                    form_urlencoded::parse(value.as_bytes()).map(|(key, value)| (unescaped(&key), unescaped(&value))),
                ),
                "state" => asked.states.extend(value.split(',').map(str::to_owned)),
                "template" => asked.template = Some(value.into_owned()),
                "startedAfter" => {
                    let at: Result<jiff::Timestamp, _> = value.parse();
                    let at = at.map_err(|_| Refused::invalid("`startedAfter` must be a date"))?;
                    asked.started_after = Some(at.as_microsecond());
                }
                "order" => asked.oldest_first = value == "asc",
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_WHOLE).contains(limit));
                    asked.limit = Some(limit.ok_or_else(|| Refused::invalid("`limit` must be 1 to 1000"))?);
                }
                "nextToken" => asked.next = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(asked)
    }

    fn wants(&self, info: &SandboxInfo, record: &Record) -> bool {
        let state = if record.is_paused(Moment::now()) { "paused" } else { "running" };
        let has = |(key, value): (&String, &String)| info.metadata.get(key) == Some(value);
        self.metadata.iter().all(has)
            && (self.states.is_empty() || self.states.iter().any(|wanted| wanted == state))
            && self.template.as_ref().is_none_or(|name| *name == record.template || *name == info.profile)
            && self.started_after.is_none_or(|after| info.created_at.micros() > after)
    }
}

/// A word of a query in a query.
fn unescaped(text: &str) -> String {
    let whole = format!("={}", text.replace('+', "%2B"));
    form_urlencoded::parse(whole.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Everything that is wanted, the newest first; it ends where Bay has no more, or after `most` and one.
async fn found(
    door: &E2bDoor,
    parts: &Parts,
    asked: &Asked,
    most: usize,
) -> Result<Vec<(SandboxInfo, Record)>, Refused> {
    let owner = super::owner(parts)?;
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let query = SandboxQuery { limit: Some(STEP), cursor, ..SandboxQuery::default() };
        let page = door.bay.list_sandboxes(&owner, query).await?;
        let alive = page.items.into_iter().filter(|info| info.expires_at.is_none_or(|end| end > Moment::now()));
        let ours = alive.filter_map(|info| Record::of(&info).map(|record| (info, record)));
        found.extend(ours.filter(|(info, record)| asked.wants(info, record)));
        cursor = page.next_cursor;
        if cursor.is_none() || (found.len() > most && !asked.oldest_first) {
            return Ok(found);
        }
    }
}

/// Running ones, all at once.
pub(super) async fn first(State(door): State<E2bDoor>, parts: Parts) -> Result<Json<Vec<Value>>, Refused> {
    let mut asked = Asked::of(&parts)?;
    if asked.states.is_empty() {
        asked.states.push("running".to_owned());
    }
    let found = found(&door, &parts, &asked, MAX_WHOLE).await?;
    Ok(Json(found.iter().take(MAX_WHOLE).map(|(info, record)| super::listed(&door, info, record)).collect()))
}

/// A page. Its token is the id of its last sandbox, and the moment at which that was made.
pub(super) async fn second(
    State(door): State<E2bDoor>,
    parts: Parts,
) -> Result<(HeaderMap, Json<Vec<Value>>), Refused> {
    let asked = Asked::of(&parts)?;
    let limit = asked.limit.unwrap_or(USUAL_PAGE);
    let place = |info: &SandboxInfo| (info.created_at.micros(), info.id.to_string());
    let after = match &asked.next {
        None => None,
        Some(token) => {
            let read = token.split_once('.').and_then(|(at, id)| Some((at.parse::<i64>().ok()?, id.to_owned())));
            Some(read.ok_or_else(|| Refused::invalid("invalid `nextToken`: pass the one from an earlier list"))?)
        }
    };
    // Those before the page are looked at as well: what is wanted is known only here.
    let mut found = found(&door, &parts, &asked, usize::MAX).await?;
    if asked.oldest_first {
        found.reverse();
    }
    let is_after = |info: &SandboxInfo| {
        let here = place(info);
        after.as_ref().is_none_or(|after| if asked.oldest_first { here > *after } else { here < *after })
    };
    let mut page: Vec<_> = found.into_iter().filter(|(info, _)| is_after(info)).take(limit + 1).collect();
    let mut headers = HeaderMap::new();
    if page.len() > limit {
        page.truncate(limit);
        if let Some((at, id)) = page.last().map(|(info, _)| place(info))
            && let Ok(value) = HeaderValue::from_str(&format!("{at}.{id}"))
        {
            headers.insert(NEXT_TOKEN, value);
        }
    }
    Ok((headers, Json(page.iter().map(|(info, record)| super::listed(&door, info, record)).collect())))
}
