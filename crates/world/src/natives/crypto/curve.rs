//! Keys on curves: ECDSA and ECDH on P-256, and Ed25519. Signatures need no randomness: those of ECDSA take their number
//! from the key and the message, as RFC 6979 says, so that a session without randomness can sign as well.

use ed25519_dalek as ed25519;
use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey};
use rquickjs::{Ctx, Object, Value};

use super::super::put;
use super::{bytes, give};

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    // The point of a private number; nothing where it is none.
    put(natives, "p256Public", |ctx: Ctx<'js>, secret: Value<'js>| {
        let make = || Some(point_of(&SecretKey::from_slice(&bytes(&secret)?).ok()?.public_key()));
        give(&ctx, make())
    })?;
    // A point in its long form, if it is one of the curve.
    put(natives, "p256Point", |ctx: Ctx<'js>, point: Value<'js>| {
        give(&ctx, (|| Some(point_of(&PublicKey::from_sec1_bytes(&bytes(&point)?).ok()?)))())
    })?;
    put(natives, "p256Agree", |ctx: Ctx<'js>, secret: Value<'js>, point: Value<'js>| {
        let make = || {
            let secret = SecretKey::from_slice(&bytes(&secret)?).ok()?;
            let point = PublicKey::from_sec1_bytes(&bytes(&point)?).ok()?;
            let shared = p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), point.as_affine());
            Some(shared.raw_secret_bytes().to_vec())
        };
        give(&ctx, make())
    })?;
    put(natives, "p256Sign", |ctx: Ctx<'js>, secret: Value<'js>, hash: Value<'js>| {
        let make = || {
            let key = SigningKey::from_slice(&bytes(&secret)?).ok()?;
            let signature: Signature = key.sign_prehash(&bytes(&hash)?).ok()?;
            Some(signature.to_bytes().to_vec())
        };
        give(&ctx, make())
    })?;
    put(natives, "p256Verify", |point: Value<'js>, hash: Value<'js>, signature: Value<'js>| -> bool {
        let check = || {
            let key = VerifyingKey::from_sec1_bytes(&bytes(&point)?).ok()?;
            let signature = Signature::from_slice(&bytes(&signature)?).ok()?;
            key.verify_prehash(&bytes(&hash)?, &signature).ok()
        };
        check().is_some()
    })?;
    put(natives, "ed25519Public", |ctx: Ctx<'js>, seed: Value<'js>| {
        give(&ctx, (|| Some(ed_key(&seed)?.verifying_key().to_bytes().to_vec()))())
    })?;
    put(natives, "ed25519Sign", |ctx: Ctx<'js>, seed: Value<'js>, data: Value<'js>| {
        give(&ctx, (|| Some(ed_key(&seed)?.sign(&bytes(&data)?).to_bytes().to_vec()))())
    })?;
    put(natives, "ed25519Verify", |point: Value<'js>, data: Value<'js>, signature: Value<'js>| -> bool {
        let check = || {
            let point: [u8; 32] = bytes(&point)?.try_into().ok()?;
            let key = ed25519::VerifyingKey::from_bytes(&point).ok()?;
            let signature = ed25519::Signature::from_slice(&bytes(&signature)?).ok()?;
            key.verify(&bytes(&data)?, &signature).ok()
        };
        check().is_some()
    })
}

fn point_of(key: &PublicKey) -> Vec<u8> {
    key.to_sec1_point(false).as_bytes().to_vec()
}

fn ed_key(seed: &Value<'_>) -> Option<ed25519::SigningKey> {
    let seed: [u8; 32] = bytes(seed)?.try_into().ok()?;
    Some(ed25519::SigningKey::from_bytes(&seed))
}
