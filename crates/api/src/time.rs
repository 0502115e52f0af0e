//! A point in time, as JSON and the store have it.

use serde::{Deserialize, Serialize};
use utoipa::openapi::{KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, schema::Type};
use utoipa::{PartialSchema, ToSchema};

/// A moment in UTC with microseconds: `2026-11-15T12:00:00.000001Z` on the wire, a whole number in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(jiff::Timestamp);

impl Moment {
    /// Now.
    pub fn now() -> Self {
        Self::from_micros(jiff::Timestamp::now().as_microsecond())
    }

    /// From microseconds since 1970; what no calendar holds becomes the nearest moment that one does.
    pub fn from_micros(micros: i64) -> Self {
        let edge = if micros < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        Self(jiff::Timestamp::from_microsecond(micros).unwrap_or(edge))
    }

    /// Microseconds since 1970.
    pub fn micros(self) -> i64 {
        self.0.as_microsecond()
    }

    /// This much later.
    #[must_use]
    pub fn plus_secs(self, secs: i64) -> Self {
        Self::from_micros(self.micros().saturating_add(secs.saturating_mul(1_000_000)))
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialSchema for Moment {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Moment {}
