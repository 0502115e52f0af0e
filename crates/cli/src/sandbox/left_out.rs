//! What a copy of a folder did not take along, and why: the rest is copied all the same.

use anyhow::Context as _;
use cove_api::ErrorCode;
use cove_client::ClientError;

use crate::exit::Exit;
use crate::terminal::{DIM, PLAIN, YELLOW, note};

/// So many names are told; a guest can make more than anybody reads.
const SHOWN: usize = 100;

/// The list.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Links and special files: never copied.
    special: usize,
    /// What could not be read or written, in the order in which it was found.
    failed: Vec<String>,
    failures: usize,
}

impl LeftOut {
    /// A link or a special file.
    pub(super) fn special(&mut self) {
        self.special += 1;
    }

    /// One thing that failed. `Err`: it is not about this thing alone, and nothing else would fare better.
    pub(super) fn failed(&mut self, place: &str, error: anyhow::Error) -> anyhow::Result<()> {
        if concerns_all(&error) {
            return Err(error).with_context(|| place.to_owned());
        }
        self.failures += 1;
        if self.failed.len() < SHOWN {
            self.failed.push(format!("{place}: {error:#}"));
        }
        Ok(())
    }

    /// Says what is missing, and how the command ends.
    pub(super) fn told(&self) -> Exit {
        if self.special > 0 {
            note!("{DIM}{} links or special files were left out{PLAIN}", self.special);
        }
        if self.failures == 0 {
            return Exit::Ok;
        }
        note!("{YELLOW}warning:{PLAIN} {} could not be copied:", self.failures);
        for one in &self.failed {
            note!("  {one}");
        }
        let more = self.failures - self.failed.len();
        if more > 0 {
            note!("  … and {more} more");
        }
        Exit::Guest
    }
}

/// Whether the next file would fail for the same reason: no server, no sandbox, no right, no room.
fn concerns_all(error: &anyhow::Error) -> bool {
    let full = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
    };
    error.chain().any(|cause| match cause.downcast_ref::<ClientError>() {
        Some(refusal @ ClientError::Refused { .. }) => !matches!(
            refusal.code(),
            Some(
                ErrorCode::Forbidden
                    | ErrorCode::FileNotFound
                    | ErrorCode::InvalidPath
                    | ErrorCode::ValidationError
                    | ErrorCode::Conflict
                    | ErrorCode::ShipError
            )
        ),
        Some(ClientError::Schema(_)) => false,
        Some(_) => true,
        None => cause.downcast_ref::<std::io::Error>().is_some_and(full),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_one_file_ends_nothing() {
        let io = |kind| anyhow::Error::from(std::io::Error::from(kind)).context("a/b");
        let mut list = LeftOut::default();
        for kind in [std::io::ErrorKind::PermissionDenied, std::io::ErrorKind::NotFound] {
            list.failed("a/b", io(kind)).unwrap();
        }
        assert!(list.failed("a/b", io(std::io::ErrorKind::StorageFull)).is_err());
        let gone = ClientError::Unreachable { url: "http://here".into(), reason: "gone".into() };
        assert!(list.failed("a/b", gone.into()).is_err());
        assert_eq!((list.failures, list.told()), (2, Exit::Guest));
        assert_eq!(LeftOut::default().told(), Exit::Ok);
    }

    #[test]
    fn the_list_has_an_end() {
        let mut list = LeftOut::default();
        for at in 0..3 * SHOWN {
            list.failed(&at.to_string(), anyhow::anyhow!("no")).unwrap();
        }
        assert_eq!((list.failed.len(), list.failures), (SHOWN, 3 * SHOWN));
    }
}
