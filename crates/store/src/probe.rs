//! Whether the database is there and whole: an SQLite file is looked at before it is used, a server is asked every second.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, Connection as _};

use crate::{Kind, Store, StoreError, StoreResult, WAIT, ask::ask};

/// A file up to this size is read through at the start (tens of milliseconds); of a larger one only what is opened anyway.
const CHECKED_BYTES: u64 = 256 << 20;

/// How long a server has to answer, and how often it is asked.
const PROBE: Duration = Duration::from_secs(1);

/// Opens a file once by hand and looks at it: a pool tries again until its patience ends, and then only says that it ended.
pub(crate) async fn look_at_file(file: &Path, options: &AnyConnectOptions) -> StoreResult<()> {
    let damaged = |why: String| StoreError::Damaged { file: file.to_owned(), why };
    let size = std::fs::metadata(file)?.len();
    let looked = async {
        let mut connection = AnyConnection::connect_with(options).await?;
        let wait = format!("PRAGMA busy_timeout = {}", WAIT.as_millis());
        sqlx::raw_sql(sqlx::AssertSqlSafe(wait)).execute(&mut connection).await?;
        ask("SELECT COUNT(*) AS n FROM sqlite_master").number(&mut connection).await?;
        let found = match size {
            1..=CHECKED_BYTES => ask("PRAGMA quick_check(1)").one(&mut connection).await?,
            _ => None,
        };
        let found = found.map_or(Ok("ok".to_owned()), |row| row.text("quick_check"))?;
        connection.close().await?;
        Ok(found)
    };
    let looked: StoreResult<String> = looked.await;
    match looked {
        Ok(found) if found == "ok" => Ok(()),
        Ok(found) => Err(damaged(found)),
        Err(StoreError::Database(sqlx::Error::Database(fault))) if is_damage(fault.code().as_deref()) => {
            Err(damaged(fault.message().to_owned()))
        }
        Err(StoreError::Database(error)) => Err(StoreError::Unreachable { place: file.display().to_string(), error }),
        Err(error) => Err(error),
    }
}

/// SQLite's "malformed" and "is not a database".
fn is_damage(code: Option<&str>) -> bool {
    code.and_then(|code| code.parse::<u32>().ok()).is_some_and(|code| matches!(code & 0xff, 11 | 26))
}

impl Store {
    /// Asks a server again and again whether it is there, over a connection of its own, so that nobody has to find out by
    /// waiting. Ends with the task that runs it.
    pub async fn probe(self) {
        if self.kind != Kind::Postgres {
            return;
        }
        let mut line: Option<AnyConnection> = None;
        loop {
            let kept = line.take();
            let asked = tokio::time::timeout(PROBE, async {
                let mut line = match kept {
                    Some(line) => line,
                    None => AnyConnection::connect_with(&self.options).await?,
                };
                ask("SELECT 1 AS one").one(&mut line).await?;
                StoreResult::Ok(line)
            });
            match asked.await {
                Ok(Ok(kept)) => {
                    line = Some(kept);
                    self.note_unreachable(false);
                }
                // A line that was cut says nothing about the next one.
                Ok(Err(_)) | Err(_) => self.note_unreachable(!self.answers_anew().await),
            }
            tokio::time::sleep(PROBE).await;
        }
    }

    async fn answers_anew(&self) -> bool {
        let connected = tokio::time::timeout(PROBE, AnyConnection::connect_with(&self.options)).await;
        matches!(connected, Ok(Ok(_)))
    }

    fn note_unreachable(&self, unreachable: bool) {
        if self.unreachable.swap(unreachable, Ordering::Relaxed) != unreachable {
            tracing::warn!(unreachable, "whether the database can be reached has changed");
        }
    }
}
