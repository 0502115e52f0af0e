//! RSA as far as `ring` has it, which is in every build for the sake of TLS: signatures by PKCS #1, and the check of both kinds.
//! Keys are not made here, and PSS does not sign: its salt would be the machine's randomness, not the session's.

use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY, RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
    RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384,
    RSA_PKCS1_SHA512, RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaEncoding,
    RsaParameters,
};
use rquickjs::{Ctx, Object, Value};

use super::super::put;
use super::{Hash, bytes, give};

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    // Whether the eight numbers are a private key.
    put(natives, "rsaIsKey", |numbers: Vec<Value<'js>>| -> bool { key_of(&numbers).is_some() })?;
    put(natives, "rsaSign", |ctx: Ctx<'js>, hash: String, numbers: Vec<Value<'js>>, data: Value<'js>| {
        let make = || {
            let key = key_of(&numbers)?;
            let mut signature = vec![0; key.public().modulus_len()];
            // This padding takes nothing from the randomness.
            key.sign(signing(Hash::named(&hash)?)?, &SystemRandom::new(), &bytes(&data)?, &mut signature).ok()?;
            Some(signature)
        };
        give(&ctx, make())
    })?;
    put(
        natives,
        "rsaVerify",
        |hash: String, is_pss: bool, n: Value<'js>, e: Value<'js>, data: Value<'js>, signature: Value<'js>| -> bool {
            let is = || {
                let key = PublicKeyComponents { n: bytes(&n)?, e: bytes(&e)? };
                key.verify(checking(Hash::named(&hash)?, is_pss)?, &bytes(&data)?, &bytes(&signature)?).ok()
            };
            is().is_some()
        },
    )
}

/// The key of n, e, d, p, q, dp, dq and qi.
fn key_of(numbers: &[Value<'_>]) -> Option<KeyPair> {
    let numbers: Vec<Vec<u8>> = numbers.iter().map(bytes).collect::<Option<_>>()?;
    let [n, e, d, p, q, dp, dq, qi] = numbers.as_slice() else { return None };
    let components = KeyPairComponents { public_key: PublicKeyComponents { n, e }, d, p, q, dP: dp, dQ: dq, qInv: qi };
    KeyPair::from_components(&components).ok()
}

fn signing(hash: Hash) -> Option<&'static dyn RsaEncoding> {
    Some(match hash {
        Hash::Sha1 => return None,
        Hash::Sha256 => &RSA_PKCS1_SHA256,
        Hash::Sha384 => &RSA_PKCS1_SHA384,
        Hash::Sha512 => &RSA_PKCS1_SHA512,
    })
}

fn checking(hash: Hash, is_pss: bool) -> Option<&'static RsaParameters> {
    Some(match (hash, is_pss) {
        (Hash::Sha1, true) => return None,
        (Hash::Sha1, false) => &RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY,
        (Hash::Sha256, false) => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        (Hash::Sha384, false) => &RSA_PKCS1_2048_8192_SHA384,
        (Hash::Sha512, false) => &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        (Hash::Sha256, true) => &RSA_PSS_2048_8192_SHA256,
        (Hash::Sha384, true) => &RSA_PSS_2048_8192_SHA384,
        (Hash::Sha512, true) => &RSA_PSS_2048_8192_SHA512,
    })
}
