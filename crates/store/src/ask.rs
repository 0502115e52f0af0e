//! One question to the database: a fixed text and its values.
//!
//! The only place that binds a value, so that a rule holds for every column: a NUL byte, which PostgreSQL refuses in
//! text, is kept as `␀` on both. Nothing that a client or a guest writes can make a question fail.

use std::str::FromStr;

use cove_api::{IdError, Moment};
use sqlx::any::{Any, AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Executor, Row as _, SqlSafeStr};

use crate::{StoreError, StoreResult};

/// A question with its values so far.
pub(crate) struct Ask(Query<'static, Any, AnyArguments>);

/// Begins a question.
pub(crate) fn ask(text: impl SqlSafeStr) -> Ask {
    Ask(sqlx::query(text))
}

/// Text that both databases keep.
fn without_nul(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "␀") } else { text.to_owned() }
}

impl Ask {
    pub(crate) fn text(self, value: &str) -> Self {
        Self(self.0.bind(without_nul(value)))
    }

    pub(crate) fn text_or(self, value: Option<&str>) -> Self {
        Self(self.0.bind(value.map(without_nul)))
    }

    pub(crate) fn int(self, value: i64) -> Self {
        Self(self.0.bind(value))
    }

    pub(crate) fn int_or(self, value: Option<i64>) -> Self {
        Self(self.0.bind(value))
    }

    pub(crate) fn flag(self, value: bool) -> Self {
        self.int(i64::from(value))
    }

    pub(crate) fn flag_or(self, value: Option<bool>) -> Self {
        self.int_or(value.map(i64::from))
    }

    pub(crate) fn at(self, value: Moment) -> Self {
        self.int(value.micros())
    }

    pub(crate) fn at_or(self, value: Option<Moment>) -> Self {
        self.int_or(value.map(Moment::micros))
    }

    /// Asks; how many rows it changed.
    pub(crate) async fn run<'e>(self, on: impl Executor<'e, Database = Any>) -> StoreResult<u64> {
        Ok(self.0.execute(on).await?.rows_affected())
    }

    /// Asks for at most one row.
    ///
    /// All rows are awaited: SQLite commits what a question wrote when it has given its last one. Whoever leaves with the
    /// first never hears that the disk was full then.
    pub(crate) async fn one<'e>(self, on: impl Executor<'e, Database = Any>) -> StoreResult<Option<Row>> {
        Ok(self.0.fetch_all(on).await?.into_iter().next().map(Row))
    }

    /// Asks for all rows.
    pub(crate) async fn all<'e>(self, on: impl Executor<'e, Database = Any>) -> StoreResult<Vec<Row>> {
        Ok(self.0.fetch_all(on).await?.into_iter().map(Row).collect())
    }

    /// Asks for all rows, each read as something.
    pub(crate) async fn each<'e, T>(
        self,
        on: impl Executor<'e, Database = Any>,
        read: impl Fn(&Row) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.all(on).await?.iter().map(read).collect()
    }

    /// Asks for the one number in the column `n`.
    pub(crate) async fn number<'e>(self, on: impl Executor<'e, Database = Any>) -> StoreResult<i64> {
        self.one(on).await?.map_or(Ok(0), |row| row.int("n"))
    }
}

/// One row of an answer.
pub(crate) struct Row(AnyRow);

impl Row {
    pub(crate) fn text(&self, name: &str) -> StoreResult<String> {
        Ok(self.0.try_get(name)?)
    }

    /// A column that holds an id.
    pub(crate) fn id<T: FromStr<Err = IdError>>(&self, name: &str) -> StoreResult<T> {
        self.text(name)?.parse().map_err(StoreError::Id)
    }

    /// A column that holds an id, or nothing.
    pub(crate) fn id_or<T: FromStr<Err = IdError>>(&self, name: &str) -> StoreResult<Option<T>> {
        self.text_or(name)?.map(|text| text.parse().map_err(StoreError::Id)).transpose()
    }

    pub(crate) fn text_or(&self, name: &str) -> StoreResult<Option<String>> {
        Ok(self.0.try_get(name)?)
    }

    pub(crate) fn int(&self, name: &str) -> StoreResult<i64> {
        Ok(self.0.try_get(name)?)
    }

    pub(crate) fn int_or(&self, name: &str) -> StoreResult<Option<i64>> {
        Ok(self.0.try_get(name)?)
    }

    pub(crate) fn flag(&self, name: &str) -> StoreResult<bool> {
        Ok(self.int(name)? != 0)
    }

    pub(crate) fn at(&self, name: &str) -> StoreResult<Moment> {
        Ok(Moment::from_micros(self.int(name)?))
    }

    pub(crate) fn at_or(&self, name: &str) -> StoreResult<Option<Moment>> {
        Ok(self.int_or(name)?.map(Moment::from_micros))
    }

    /// A column that holds JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> StoreResult<T> {
        serde_json::from_str(&self.text(name)?).map_err(StoreError::Json)
    }

    /// A column that holds JSON, or nothing.
    pub(crate) fn json_or<T: serde::de::DeserializeOwned>(&self, name: &str) -> StoreResult<Option<T>> {
        self.text_or(name)?.map(|text| serde_json::from_str(&text).map_err(StoreError::Json)).transpose()
    }
}
