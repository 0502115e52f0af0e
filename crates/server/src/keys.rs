//! Keys: who a caller is.
//!
//! Only hashes are held, and every comparison looks at every key and every byte: how long it takes says nothing. A key
//! is written to one place alone, the file that only its owner can read, and never to a log.

use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use cove_api::SandboxId;
use cove_bay::Owner;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// What every generated key begins with.
const PREFIX: &str = "sk-bay-";

/// The owner of the one key of a simple Bay.
pub const DEFAULT_OWNER: &str = "default";

/// A key as the configuration names it.
#[derive(Clone)]
pub struct KeySpec {
    /// Its owner.
    pub owner: String,
    /// The SHA-256 of the key.
    pub sha256: [u8; 32],
    /// Requests that it may make in a minute.
    pub rate_per_minute: Option<NonZeroU32>,
    /// Whether it may run the collector.
    pub admin: bool,
}

impl std::fmt::Debug for KeySpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeySpec").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl KeySpec {
    /// The one key of a simple Bay: its owner is `default`, and it may do everything.
    pub fn only(key: &str) -> Self {
        Self { owner: DEFAULT_OWNER.to_owned(), sha256: hash(key), rate_per_minute: None, admin: true }
    }

    /// A key of an owner.
    pub fn of(owner: &str, key: &str) -> Self {
        Self { owner: owner.to_owned(), sha256: hash(key), rate_per_minute: None, admin: false }
    }
}

/// The SHA-256 of a key.
pub fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// What names a key without telling its hash.
fn tag(sha256: &[u8; 32]) -> String {
    let digest = Sha256::new().chain_update(b"cove page key\n").chain_update(sha256).finalize();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Who a key belongs to, and what it may do.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) owner: Owner,
    pub(crate) admin: bool,
    /// By what the page's tokens name the key; none for who needs no key.
    pub(crate) tag: Option<String>,
    /// The one sandbox that may be looked at: by a shared link.
    pub(crate) only: Option<SandboxId>,
}

impl Identity {
    /// Who has the token of one of this owner's sandboxes.
    pub(crate) fn of_token(owner: Owner) -> Self {
        Self { owner, admin: false, tag: None, only: None }
    }

    /// Somebody on this machine, where no key is needed.
    pub(crate) fn anonymous() -> Self {
        Self { owner: Owner::new(DEFAULT_OWNER), admin: true, tag: None, only: None }
    }
}

struct KnownKey {
    identity: Identity,
    sha256: [u8; 32],
    rate: Option<DefaultDirectRateLimiter>,
}

/// All keys.
pub(crate) struct KeyRing {
    held: Vec<KnownKey>,
}

/// Why a key was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyRefusal {
    /// Nobody has it.
    Unknown,
    /// It came too often; not before so long.
    TooOften(Duration),
}

impl KeyRing {
    pub(crate) fn new(specs: &[KeySpec]) -> Self {
        let held = specs.iter().map(|spec| KnownKey {
            identity: Identity {
                owner: Owner::new(&spec.owner),
                admin: spec.admin,
                tag: Some(tag(&spec.sha256)),
                only: None,
            },
            sha256: spec.sha256,
            rate: spec.rate_per_minute.map(|rate| RateLimiter::direct(Quota::per_minute(rate))),
        });
        Self { held: held.collect() }
    }

    /// How many owners there are.
    pub(crate) fn owners(&self) -> usize {
        self.held.iter().map(|held| &held.identity.owner).collect::<std::collections::HashSet<_>>().len()
    }

    /// Whose key this is; counted against its rate.
    pub(crate) fn admit(&self, key: &str) -> Result<Identity, KeyRefusal> {
        Self::counted(self.held(key)?)
    }

    fn counted(held: &KnownKey) -> Result<Identity, KeyRefusal> {
        if let Some(rate) = &held.rate
            && let Err(until) = rate.check()
        {
            return Err(KeyRefusal::TooOften(until.wait_time_from(DefaultClock::default().now())));
        }
        Ok(held.identity.clone())
    }

    /// Whose key this is; not counted.
    pub(crate) fn find(&self, key: &str) -> Result<Identity, KeyRefusal> {
        self.held(key).map(|held| held.identity.clone())
    }

    /// The tag of this key.
    pub(crate) fn tag(&self, key: &str) -> Option<String> {
        self.held(key).ok()?.identity.tag.clone()
    }

    /// Whose key has this tag; `counts`: against its rate. Only a signed token names one, so it is no secret.
    pub(crate) fn admit_tag(&self, tag: &str, counts: bool) -> Result<Identity, KeyRefusal> {
        let held =
            self.held.iter().find(|held| held.identity.tag.as_deref() == Some(tag)).ok_or(KeyRefusal::Unknown)?;
        if counts { Self::counted(held) } else { Ok(held.identity.clone()) }
    }

    fn held(&self, key: &str) -> Result<&KnownKey, KeyRefusal> {
        let given = hash(key);
        let mut found = None;
        for held in &self.held {
            if bool::from(held.sha256.ct_eq(&given)) {
                found = Some(held);
            }
        }
        found.ok_or(KeyRefusal::Unknown)
    }
}

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read or written.
    #[error("key file {path}: {source}")]
    Io {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is something else in it.
    #[error("key file {0} contains no key; delete it to have a new one made")]
    NoKey(String),
    /// There was no chance to make a key from.
    #[error("the system gave no random bytes for a key: {0}")]
    NoChance(getrandom::Error),
}

/// Reads the key in this file, or makes one there that only the file's owner can read. Says whether it is new.
pub fn read_or_make(path: &Path) -> Result<(String, bool), KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.display().to_string(), source };
    if let Some(key) = read(path)? {
        return Ok((key, false));
    }
    let mut chance = [0u8; 32];
    getrandom::fill(&mut chance).map_err(KeyFileError::NoChance)?;
    let key = chance.iter().fold(PREFIX.to_owned(), |key, byte| format!("{key}{byte:02x}"));
    // Written beside and linked into place: who comes at the same moment sees a whole key or none, and one key wins.
    let beside = path.with_extension(format!("{:016x}.new", getrandom::u64().map_err(KeyFileError::NoChance)?));
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside).map_err(io)?;
    let written = writeln!(file, "{key}").and_then(|()| file.sync_all());
    let linked = written.and_then(|()| std::fs::hard_link(&beside, path));
    let _ = std::fs::remove_file(&beside);
    match linked {
        Ok(()) => Ok((key, true)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            read(path)?.map(|key| (key, false)).ok_or_else(|| KeyFileError::NoKey(path.display().to_string()))
        }
        Err(error) => Err(io(error)),
    }
}

/// The key in this file, if there is one. A file that others can read is closed to them.
fn read(path: &Path) -> Result<Option<String>, KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.display().to_string(), source };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mode = file.metadata().map_err(io)?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(io)?;
    }
    let mut text = String::new();
    file.take(4_096).read_to_string(&mut text).map_err(io)?;
    match text.trim() {
        key if cove_config::check_key(key).is_ok() => Ok(Some(key.to_owned())),
        _ => Err(KeyFileError::NoKey(path.display().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_and_another_is_not() {
        let ring = KeyRing::new(&[KeySpec::only("one"), KeySpec::of("ada", "two")]);
        assert_eq!(ring.admit("two").unwrap().owner, Owner::new("ada"));
        assert!(ring.admit("one").unwrap().admin && !ring.admit("two").unwrap().admin);
        for wrong in ["", "three", "on", "onee"] {
            assert_eq!(ring.admit(wrong).unwrap_err(), KeyRefusal::Unknown, "{wrong}");
        }
    }

    #[test]
    fn a_key_that_comes_too_often_is_told_when_to_come_back() {
        let spec = KeySpec { rate_per_minute: NonZeroU32::new(2), ..KeySpec::only("k") };
        let ring = KeyRing::new(&[spec]);
        assert!(ring.admit("k").is_ok() && ring.admit("k").is_ok());
        let Err(KeyRefusal::TooOften(wait)) = ring.admit("k") else { panic!("was let in") };
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(30), "{wait:?}");
    }

    #[test]
    fn a_made_key_stays_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api-key");
        let (key, new) = read_or_make(&path).unwrap();
        assert!(new && key.len() == PREFIX.len() + 64 && key.starts_with(PREFIX), "{key}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read_or_make(&path).unwrap(), (key, false));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        for no_key in ["", "\n", "short", "two words that are long enough"] {
            std::fs::write(&path, no_key).unwrap();
            assert!(matches!(read_or_make(&path), Err(KeyFileError::NoKey(_))), "{no_key}");
        }
    }

    #[test]
    fn many_at_once_get_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api-key");
        let keys: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_make(&path).unwrap().0)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }
}
