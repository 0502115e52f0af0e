//! What `crypto.subtle` stands on: hashes, message codes, ciphers, derived keys and signatures, each as one function of
//! bytes. Keys stay in the engine's heap; nothing is kept here between two calls, and no randomness is made here.
//!
//! None of this asks whether the run's time is over. A guest can ask for more rounds than any deadline allows, and is
//! ended by it from outside like any loop.

mod cipher;
mod curve;
mod rsa;

use hkdf::Hkdf;
use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, KeyInit, Mac};
use rquickjs::{Ctx, Object, Value};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::put;
use crate::raw;

/// The most that one call takes or gives: bytes are copied out of the engine's heap and back, and both copies are beside
/// it.
const MAX_BYTES: usize = 64 << 20;

/// The hashes of the web, by the names it has for them.
#[derive(Clone, Copy)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "SHA-1" => Self::Sha1,
            "SHA-256" => Self::Sha256,
            "SHA-384" => Self::Sha384,
            "SHA-512" => Self::Sha512,
            _ => return None,
        })
    }
}

/// Runs `$work` with the type of a hash.
macro_rules! with_hash {
    ($hash:expr, $type:ident => $work:expr) => {
        match $hash {
            Hash::Sha1 => {
                type $type = Sha1;
                $work
            }
            Hash::Sha256 => {
                type $type = Sha256;
                $work
            }
            Hash::Sha384 => {
                type $type = Sha384;
                $work
            }
            Hash::Sha512 => {
                type $type = Sha512;
                $work
            }
        }
    };
}

/// The bytes of an argument; `None` where they are too many or none at all.
fn bytes(value: &Value<'_>) -> Option<Vec<u8>> {
    raw::bytes_of(value).filter(|bytes| bytes.len() <= MAX_BYTES)
}

/// Gives bytes back to the engine; `undefined` where there are none.
fn give<'js>(ctx: &Ctx<'js>, made: Option<Vec<u8>>) -> rquickjs::Result<Option<Value<'js>>> {
    made.map(|made| raw::uint8_array(ctx, &made)).transpose()
}

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(natives, "hmac", |ctx: Ctx<'js>, hash: String, key: Value<'js>, data: Value<'js>| {
        give(&ctx, (|| hmac_of(Hash::named(&hash)?, &bytes(&key)?, &bytes(&data)?))())
    })?;
    put(natives, "hmacIs", |hash: String, key: Value<'js>, data: Value<'js>, code: Value<'js>| -> bool {
        let is = || hmac_is(Hash::named(&hash)?, &bytes(&key)?, &bytes(&data)?, &bytes(&code)?);
        is().unwrap_or(false)
    })?;
    put(
        natives,
        "pbkdf2",
        |ctx: Ctx<'js>, hash: String, secret: Value<'js>, salt: Value<'js>, rounds: u32, length: usize| {
            let make = || pbkdf2_of(Hash::named(&hash)?, &bytes(&secret)?, &bytes(&salt)?, rounds, length);
            give(&ctx, make())
        },
    )?;
    put(
        natives,
        "hkdf",
        |ctx: Ctx<'js>, hash: String, secret: Value<'js>, salt: Value<'js>, info: Value<'js>, length: usize| {
            let make = || hkdf_of(Hash::named(&hash)?, &bytes(&secret)?, &bytes(&salt)?, &bytes(&info)?, length);
            give(&ctx, make())
        },
    )?;
    cipher::install(natives)
}

/// The natives of RSA, which are in a file of their own.
pub(super) fn install_rsa<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    rsa::install(natives)
}

/// The natives of keys on curves, which are in a file of their own.
pub(super) fn install_keys<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    curve::install(natives)
}

fn hmac_of(hash: Hash, key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    fn of<D: EagerHash>(key: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        let mut code = <Hmac<D> as KeyInit>::new_from_slice(key).ok()?;
        code.update(data);
        Some(code.finalize().into_bytes().to_vec())
    }
    with_hash!(hash, D => of::<D>(key, data))
}

/// Compares in a time that does not depend on where the difference is.
fn hmac_is(hash: Hash, key: &[u8], data: &[u8], code: &[u8]) -> Option<bool> {
    fn is<D: EagerHash>(key: &[u8], data: &[u8], code: &[u8]) -> Option<bool> {
        let mut made = <Hmac<D> as KeyInit>::new_from_slice(key).ok()?;
        made.update(data);
        Some(made.verify_slice(code).is_ok())
    }
    with_hash!(hash, D => is::<D>(key, data, code))
}

fn pbkdf2_of(hash: Hash, secret: &[u8], salt: &[u8], rounds: u32, length: usize) -> Option<Vec<u8>> {
    let mut made = vec![0; Some(length).filter(|length| *length <= MAX_BYTES)?];
    with_hash!(hash, D => pbkdf2::pbkdf2_hmac::<D>(secret, salt, rounds, &mut made));
    Some(made)
}

fn hkdf_of(hash: Hash, secret: &[u8], salt: &[u8], info: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut made = vec![0; Some(length).filter(|length| *length <= MAX_BYTES)?];
    with_hash!(hash, D => Hkdf::<D>::new(Some(salt), secret).expand(info, &mut made)).ok()?;
    Some(made)
}
