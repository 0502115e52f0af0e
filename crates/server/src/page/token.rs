//! What the page's cookie and its links say: whose key it was, what may be done with it, and until when.
//!
//! Signed with the secret that the Bays of one store share, so each of them reads it and a restart ends nobody's session.
//! It holds no key: a key that is taken out of the configuration takes its tokens with it.

use cove_api::{Moment, SandboxId};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::app::App;

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The cookie of a page that is logged in.
    Session,
    /// A link that logs in once.
    Link,
    /// A link, and the cookie that it gives, to look at one sandbox.
    Share,
}

impl TokenKind {
    const ALL: [Self; 3] = [Self::Session, Self::Link, Self::Share];

    fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Link => "link",
            Self::Share => "share",
        }
    }
}

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The key's tag; none for somebody on this machine who needs none.
    pub(super) key: Option<String>,
    /// The one sandbox that it is for.
    pub(super) sandbox: Option<SandboxId>,
    pub(super) expires_ms: i64,
    /// Makes it the only one of its kind.
    pub(super) id: String,
}

const NOTHING: &str = "-";

impl Token {
    /// A new one. `None`: the system has no randomness.
    pub(super) fn new(kind: TokenKind, key: Option<String>, sandbox: Option<SandboxId>, secs: i64) -> Option<Self> {
        let id = format!("{:016x}{:016x}", getrandom::u64().ok()?, getrandom::u64().ok()?);
        Some(Self { kind, key, sandbox, expires_ms: Moment::now().micros() / 1_000 + secs * 1_000, id })
    }

    /// As it is written into a cookie or a link.
    pub(super) fn write(&self, app: &App) -> Option<String> {
        let words = self.words();
        let mac = mac(app.bay.peer_secret(), &words)?.finalize().into_bytes();
        Some(format!("{words}.{}", mac.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    /// One that a Bay of this store has written, and that has not expired.
    pub(super) fn read(app: &App, text: &str) -> Option<Self> {
        let (words, seal) = text.rsplit_once('.').filter(|(_, seal)| seal.len() == 64)?;
        let seal: Option<Vec<u8>> =
            (0..64).step_by(2).map(|at| u8::from_str_radix(seal.get(at..at + 2)?, 16).ok()).collect();
        // Compared in constant time.
        mac(app.bay.peer_secret(), words)?.verify_slice(&seal?).ok()?;
        let token = Self::of(words)?;
        (token.expires_ms > Moment::now().micros() / 1_000).then_some(token)
    }

    /// When it ends.
    pub(super) fn expires_at(&self) -> Moment {
        Moment::from_micros(self.expires_ms.saturating_mul(1_000))
    }

    fn words(&self) -> String {
        let key = self.key.as_deref().unwrap_or(NOTHING);
        let sandbox = self.sandbox.as_ref().map_or_else(|| NOTHING.to_owned(), ToString::to_string);
        format!("1.{}.{key}.{sandbox}.{}.{}", self.kind.word(), self.expires_ms, self.id)
    }

    fn of(words: &str) -> Option<Self> {
        let parts: Vec<&str> = words.split('.').collect();
        let ["1", kind, key, sandbox, expires_ms, id] = parts[..] else { return None };
        let kind = TokenKind::ALL.into_iter().find(|known| known.word() == kind)?;
        let key = (key != NOTHING).then(|| key.to_owned());
        let sandbox = if sandbox == NOTHING { None } else { Some(sandbox.parse().ok()?) };
        // Whoever looks at one sandbox looks at no other; whoever is logged in is bound to none.
        if (kind == TokenKind::Share) != sandbox.is_some() {
            return None;
        }
        Some(Self { kind, key, sandbox, expires_ms: expires_ms.parse().ok()?, id: id.to_owned() })
    }
}

/// Begins with a word of its own: what Bays seal with the same secret reads otherwise.
fn mac(secret: &[u8], words: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(b"cove page token\n");
    mac.update(words.as_bytes());
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let session = Token::new(TokenKind::Session, Some("ab".to_owned()), None, 60).unwrap();
        assert_eq!(Token::of(&session.words()), Some(session));
        let share = Token::new(TokenKind::Share, None, Some("sandbox-0123456789ab".parse().unwrap()), 60).unwrap();
        assert_eq!(Token::of(&share.words()), Some(share));
        for wrong in [
            "",
            "1",
            "1.session.-.-.5",
            "2.session.-.-.5.a",
            "1.session.-.-.x.a",
            "1.session.-.-.5.a.b",
            "1.other.-.-.5.a",
            "1.share.-.-.5.a",
            "1.session.-.sandbox-0123456789ab.5.a",
            "1.share.-.sandbox-1.5.a",
        ] {
            assert_eq!(Token::of(wrong), None, "{wrong}");
        }
    }
}
