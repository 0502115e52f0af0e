//! The tokens of sandboxes that clients have met here.
//!
//! A signed address carries a hash of one and names no sandbox: all that are known are tried. So they are limited, and the
//! one that was met longest ago gives way.

use std::collections::HashMap;

use cove_api::SandboxId;

/// Sandboxes whose signed addresses are known.
const MAX_SIGNERS: usize = 10_000;

/// Which tokens are known, and in which order they were last met.
#[derive(Debug, Default)]
pub(crate) struct Signers {
    tokens: HashMap<SandboxId, Signer>,
    meetings: u64,
}

#[derive(Debug)]
struct Signer {
    token: String,
    last_met: u64,
}

impl Signers {
    /// Remembers a token.
    pub(crate) fn meet(&mut self, id: &SandboxId, token: &str) {
        self.meetings += 1;
        let last_met = self.meetings;
        if let Some(signer) = self.tokens.get_mut(id) {
            signer.last_met = last_met;
            return;
        }
        if self.tokens.len() >= MAX_SIGNERS
            && let Some(oldest) = self.tokens.iter().min_by_key(|(_, signer)| signer.last_met).map(|(id, _)| id.clone())
        {
            self.tokens.remove(&oldest);
        }
        self.tokens.insert(id.clone(), Signer { token: token.to_owned(), last_met });
    }

    pub(crate) fn forget(&mut self, id: &SandboxId) {
        self.tokens.remove(id);
    }

    /// The sandbox whose token this is.
    pub(crate) fn find(&self, is_it: impl Fn(&str) -> bool) -> Option<SandboxId> {
        self.tokens.iter().find(|(_, signer)| is_it(&signer.token)).map(|(id, _)| id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_was_met_longest_ago_gives_way() {
        let id = |number: usize| format!("sandbox-{number:012x}").parse::<SandboxId>().unwrap();
        let mut signers = Signers::default();
        for number in 0..MAX_SIGNERS {
            signers.meet(&id(number), &format!("token {number}"));
        }
        // Met again: the next is the oldest now.
        signers.meet(&id(0), "token 0");
        signers.meet(&id(MAX_SIGNERS), "the newest");
        assert_eq!(signers.find(|token| token == "the newest"), Some(id(MAX_SIGNERS)));
        assert_eq!(signers.find(|token| token == "token 0"), Some(id(0)));
        assert_eq!(signers.find(|token| token == "token 1"), None);
        signers.forget(&id(0));
        assert_eq!(signers.find(|token| token == "token 0"), None);
    }
}
