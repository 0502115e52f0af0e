//! Ids: a prefix that names the kind of a thing, and twelve hex digits.
//!
//! An id is parsed once, where it comes in; after that a `SandboxId` cannot hold a slash, a dot or another kind's
//! prefix, which is why paths and queries may be built from one without a further check.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not the id it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The prefix or the digits after it are not those of this kind of id.
    #[error("expected `{prefix}` and twelve hex digits")]
    Prefixed {
        /// What ids of this kind begin with.
        prefix: &'static str,
    },
    /// Not a UUID of version 4 in its usual lower-case form.
    #[error("expected a lower-case UUID of version 4")]
    Uuid,
}

/// An id that is a prefix and twelve hex digits.
pub trait PrefixedId: FromStr<Err = IdError> + fmt::Display {
    /// What every id of this kind begins with.
    const PREFIX: &'static str;

    /// Makes an id from six random bytes; the caller owns the randomness, this crate has none.
    fn from_random(bytes: [u8; 6]) -> Self;
}

macro_rules! prefixed_ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id as it is written everywhere.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl PrefixedId for $name {
            const PREFIX: &'static str = $prefix;

            fn from_random(bytes: [u8; 6]) -> Self {
                let mut text = String::with_capacity($prefix.len() + 12);
                text.push_str($prefix);
                for byte in bytes {
                    for nibble in [byte >> 4, byte & 15] {
                        text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
                    }
                }
                Self(text)
            }
        }

        /// An id is read wherever a text is; only the way back is checked.
        impl std::ops::Deref for $name {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<std::path::Path> for $name {
            fn as_ref(&self) -> &std::path::Path {
                self.0.as_ref()
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                let digits = text.strip_prefix($prefix).unwrap_or_default();
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                if digits.len() == 12 && digits.bytes().all(hex) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError::Prefixed { prefix: $prefix })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

prefixed_ids! {
    /// A sandbox: the only thing that a client has to name.
    SandboxId = "sandbox-";
    /// A session: the group of processes that a sandbox runs in at the moment.
    SessionId = "sess-";
    /// A cargo: the volume that is a sandbox's workspace.
    CargoId = "ws-";
    /// One recorded execution.
    ExecutionId = "exec-";
    /// A payload or a trace.
    BlobId = "blob-";
    /// A skill candidate.
    CandidateId = "sc-";
    /// A skill evaluation.
    EvaluationId = "se-";
    /// A skill release.
    ReleaseId = "sr-";
}

/// An artifact: a picture or another result that outlives the run which made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactId(Uuid);

impl ArtifactId {
    /// A new id; `random` must be 16 random bytes.
    pub fn from_random(random: [u8; 16]) -> Self {
        Self(uuid::Builder::from_random_bytes(random).into_uuid())
    }
}

impl FromStr for ArtifactId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let id = Uuid::try_parse(text).map_err(|_| IdError::Uuid)?;
        // One spelling only: the id is a file name, and two spellings would be two files for one artifact.
        if id.get_version_num() == 4 && id.hyphenated().to_string() == text { Ok(Self(id)) } else { Err(IdError::Uuid) }
    }
}

impl TryFrom<String> for ArtifactId {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ArtifactId> for String {
    fn from(id: ArtifactId) -> String {
        id.to_string()
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// How one artifact is named inside JSON that a model reads: `artifact:<uuid>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactRef(pub ArtifactId);

impl fmt::Display for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "artifact:{}", self.0)
    }
}

impl FromStr for ArtifactRef {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        text.strip_prefix("artifact:").ok_or(IdError::Uuid)?.parse().map(Self)
    }
}

impl TryFrom<String> for ArtifactRef {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ArtifactRef> for String {
    fn from(reference: ArtifactRef) -> String {
        reference.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the exact form is an id; everything near it is refused.
    #[test]
    fn ids_have_one_spelling() {
        assert_eq!(SandboxId::from_random([0xab; 6]).as_str(), "sandbox-abababababab");
        assert!("sandbox-0123456789ab".parse::<SandboxId>().is_ok());
        for near in [
            "",
            "sandbox-",
            "sandbox-0123456789AB",
            "sandbox-0123456789abc",
            "sess-0123456789ab",
            "sandbox-../../../etc",
        ] {
            assert!(near.parse::<SandboxId>().is_err(), "{near:?} was taken for an id");
        }
        let id = "a1b2c3d4-e5f6-4890-abcd-ef1234567890";
        assert_eq!(id.parse::<ArtifactId>().unwrap().to_string(), id);
        for near in [
            "A1B2C3D4-E5F6-4890-ABCD-EF1234567890",
            "a1b2c3d4e5f64890abcdef1234567890",
            "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            "../x",
        ] {
            assert!(near.parse::<ArtifactId>().is_err(), "{near:?} was taken for an artifact");
        }
    }

    #[test]
    fn ids_travel_as_plain_strings() {
        let reference = ArtifactRef(ArtifactId::from_random([7; 16]));
        let json = serde_json::to_string(&reference).unwrap();
        assert_eq!(json, format!("\"artifact:{}\"", reference.0));
        assert_eq!(serde_json::from_str::<ArtifactRef>(&json).unwrap(), reference);
        assert!(serde_json::from_str::<SandboxId>("\"sandbox-nope\"").is_err());
    }
}
