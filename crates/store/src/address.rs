//! Where the database is: the forms that configuration files use, read once.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::{Kind, StoreError, StoreResult};

/// A database's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A file.
    Sqlite(PathBuf),
    /// In memory, gone with the process.
    Memory,
    /// A server, as a `postgresql:` URL.
    Postgres(String),
}

impl Address {
    /// Reads `sqlite:path`, `sqlite:///path`, `postgresql://…`, each also with a driver's name (`+aiosqlite`).
    ///
    /// As in the files that exist, `sqlite:///name` is relative and `sqlite:////name` is absolute where a driver is
    /// named; `sqlite:` followed by anything else is the path as it stands.
    pub(crate) fn parse(url: &str) -> StoreResult<Self> {
        let wrong = || StoreError::Address(redacted(url));
        let (scheme, rest) = url.split_once(':').ok_or_else(wrong)?;
        match scheme.split_once('+').map_or((scheme, false), |(scheme, _)| (scheme, true)) {
            ("sqlite", driver) => {
                let path = rest.split_once('?').map_or(rest, |(path, _)| path);
                let path = match path.strip_prefix("///") {
                    Some(relative) if driver => relative,
                    _ => path.strip_prefix("//").unwrap_or(path),
                };
                match path {
                    "" | "/" => Err(wrong()),
                    ":memory:" | "/:memory:" => Ok(Self::Memory),
                    path => Ok(Self::Sqlite(std::path::absolute(path)?)),
                }
            }
            ("postgresql" | "postgres", _) if rest.starts_with("//") => {
                Ok(Self::Postgres(format!("postgresql:{rest}")))
            }
            _ => Err(wrong()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        if matches!(self, Self::Postgres(_)) { Kind::Postgres } else { Kind::Sqlite }
    }

    pub(crate) fn in_memory(&self) -> bool {
        *self == Self::Memory
    }

    /// For messages.
    pub(crate) fn place(&self) -> String {
        redacted(&self.url())
    }

    /// As the driver wants it.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Memory => "sqlite::memory:".to_owned(),
            Self::Sqlite(path) => format!("sqlite://{}", escaped(path)),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// Makes the file, for its owner only: what is in it is every owner's. SQLite gives its log the same rights.
    pub(crate) fn make_file(&self) -> StoreResult<()> {
        if let Self::Sqlite(path) = self {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        }
        Ok(())
    }
}

/// The file of a database that is one.
pub fn sqlite_file(url: &str) -> Option<PathBuf> {
    match Address::parse(url) {
        Ok(Address::Sqlite(path)) => Some(path),
        _ => None,
    }
}

/// A path in which nothing is taken for the rest of a URL.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23").replace(' ', "%20")
}

/// A URL without what is between `:` and `@`, for messages.
fn redacted(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            format!("{scheme}://…@{host}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sqlite(path: &str) -> Option<Address> {
        Some(Address::Sqlite(std::path::absolute(path).unwrap()))
    }

    #[test]
    fn addresses_are_read_as_existing_files_write_them() {
        let postgres = |url: &str| Some(Address::Postgres(url.to_owned()));
        let table = [
            ("sqlite:/var/bay.db", sqlite("/var/bay.db")),
            ("sqlite:bay.db", sqlite("bay.db")),
            ("sqlite:///var/bay.db", sqlite("/var/bay.db")),
            ("sqlite://bay.db", sqlite("bay.db")),
            ("sqlite:./a b?mode=rwc", sqlite("./a b")),
            ("sqlite+aiosqlite:///./bay.db", sqlite("./bay.db")),
            ("sqlite+aiosqlite:////var/bay.db", sqlite("/var/bay.db")),
            ("sqlite::memory:", Some(Address::Memory)),
            ("postgres://u:p@h/db", postgres("postgresql://u:p@h/db")),
            ("postgresql+asyncpg://h/db", postgres("postgresql://h/db")),
            ("postgresql:///db?host=/run", postgres("postgresql:///db?host=/run")),
            ("sqlite:", None),
            ("mysql://h/db", None),
            ("bay.db", None),
            ("", None),
        ];
        for (url, expected) in table {
            assert_eq!(Address::parse(url).ok(), expected, "{url}");
        }
        assert_eq!(Address::Sqlite("/a b?%#c".into()).url(), "sqlite:///a%20b%3F%25%23c");
    }

    #[test]
    fn a_refused_address_does_not_tell_its_password() {
        let refusal = Address::parse("mysql://root:secret@host/db").unwrap_err().to_string();
        assert!(!refusal.contains("secret") && refusal.contains("host/db"), "{refusal}");
    }
}
