//! Randomness of one session: a stream of hashes over a seed and a counter.
//!
//! The engine's own generator is seeded from the time when the realm is made, which is before the fork: children would
//! share it. This one starts from entropy that the host hands to each child, or from the number a replay names.

use cove_core::Random;
use sha2::{Digest, Sha256};

/// Where `Math.random` and `crypto` get their bytes.
pub(crate) struct Chance {
    allowed: bool,
    seed: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Chance {
    pub(crate) fn new(random: Random, entropy: &[u8; 32]) -> Self {
        let seed = match random {
            Random::None => [0; 32],
            Random::Seeded(number) => Sha256::digest(number.to_le_bytes()).into(),
            Random::Real => *entropy,
        };
        Self { allowed: random != Random::None, seed, counter: 0, block: [0; 32], used: 32 }
    }

    /// Whether this session has randomness at all.
    pub(crate) fn allowed(&self) -> bool {
        self.allowed
    }

    /// Fills a buffer.
    pub(crate) fn fill(&mut self, target: &mut [u8]) {
        for byte in target {
            if self.used == self.block.len() {
                let mut hash = Sha256::new();
                hash.update(self.seed);
                hash.update(self.counter.to_le_bytes());
                self.block = hash.finalize().into();
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    /// A number from 0 up to, not including, 1.
    pub(crate) fn number(&mut self) -> f64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_one_sequence() {
        let take = |random, entropy| {
            let mut chance = Chance::new(random, &entropy);
            [chance.number(), chance.number(), chance.number()]
        };
        assert_eq!(take(Random::Seeded(7), [1; 32]), take(Random::Seeded(7), [2; 32]));
        assert_ne!(take(Random::Seeded(7), [1; 32]), take(Random::Seeded(8), [1; 32]));
        assert_ne!(take(Random::Real, [1; 32]), take(Random::Real, [2; 32]));
        assert!(take(Random::Real, [3; 32]).iter().all(|number| (0.0..1.0).contains(number)));
    }
}
