//! Ids: what kind of thing, then 12 hex digits of chance.

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A sandbox.
    Sandbox,
    /// A session.
    Session,
    /// A cargo.
    Cargo,
    /// An execution.
    Execution,
    /// A payload or a trace.
    Blob,
    /// A skill candidate.
    Candidate,
    /// A skill evaluation.
    Evaluation,
    /// A skill release.
    Release,
}

impl IdKind {
    /// What every id of this kind begins with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox-",
            Self::Session => "sess-",
            Self::Cargo => "ws-",
            Self::Execution => "exec-",
            Self::Blob => "blob-",
            Self::Candidate => "sc-",
            Self::Evaluation => "se-",
            Self::Release => "sr-",
        }
    }

    /// Whether `id` has the form of this kind. Cheap, so that nonsense never reaches the store or a path.
    pub fn fits(self, id: &str) -> bool {
        id.strip_prefix(self.prefix())
            .is_some_and(|hex| hex.len() == 12 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
    }
}

/// A new id. Fails only where the system has no randomness to give.
pub fn new_id(kind: IdKind) -> Result<String, getrandom::Error> {
    let chance = getrandom::u64()? >> 16;
    Ok(format!("{}{chance:012x}", kind.prefix()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_form() {
        for kind in [IdKind::Sandbox, IdKind::Session, IdKind::Cargo, IdKind::Execution, IdKind::Blob] {
            let id = new_id(kind).unwrap();
            assert!(kind.fits(&id), "{id}");
            assert!(!kind.fits(&id[1..]) && !kind.fits(&format!("{id}0")) && !kind.fits(&id.to_uppercase()), "{id}");
        }
        assert_ne!(new_id(IdKind::Sandbox).unwrap(), new_id(IdKind::Sandbox).unwrap());
        assert!(!IdKind::Sandbox.fits("sandbox-../../../x1"));
    }
}
