//! Random names that nobody guesses.

use std::io;

use subtle::ConstantTimeEq;

/// `bytes` random bytes as hex digits.
pub(crate) fn hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0u8; bytes];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares without telling by its duration where the two differ.
pub(crate) fn same(given: &str, known: &str) -> bool {
    given.as_bytes().ct_eq(known.as_bytes()).into()
}
