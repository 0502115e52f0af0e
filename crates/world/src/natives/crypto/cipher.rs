//! AES in the three modes that the web has for data: GCM, CBC and CTR.

use aes::cipher::block_padding::Pkcs7;
use aes::cipher::consts::{U12, U16};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit, StreamCipher};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::{AeadInOut, Nonce};
use aes_gcm::{AesGcm, aead};
use rquickjs::{Ctx, Object, Value};

use super::super::put;
use super::{bytes, give};

/// Bytes of a block.
const BLOCK: usize = 16;

/// Runs `$work` with the type of AES that a key is for; nothing for a key of another length.
macro_rules! with_aes {
    ($key:expr, $type:ident => $work:expr) => {
        match $key.len() {
            16 => {
                type $type = Aes128;
                $work
            }
            24 => {
                type $type = Aes192;
                $work
            }
            32 => {
                type $type = Aes256;
                $work
            }
            _ => None,
        }
    };
}

pub(super) fn install<'js>(natives: &Object<'js>) -> rquickjs::Result<()> {
    put(
        natives,
        "aesGcm",
        |ctx: Ctx<'js>,
         seals: bool,
         key: Value<'js>,
         nonce: Value<'js>,
         more: Value<'js>,
         data: Value<'js>,
         tag_bytes: usize| {
            let work = || {
                let (key, nonce, more, data) = (bytes(&key)?, bytes(&nonce)?, bytes(&more)?, bytes(&data)?);
                if seals {
                    seal(&key, &nonce, &more, data, tag_bytes)
                } else {
                    open(&key, &nonce, &more, data, tag_bytes)
                }
            };
            give(&ctx, work())
        },
    )?;
    put(natives, "aesCbc", |ctx: Ctx<'js>, seals: bool, key: Value<'js>, start: Value<'js>, data: Value<'js>| {
        give(&ctx, (|| cbc_of(seals, &bytes(&key)?, &bytes(&start)?, &bytes(&data)?))())
    })?;
    put(
        natives,
        "aesCtr",
        |ctx: Ctx<'js>, key: Value<'js>, counter: Value<'js>, counter_bits: u32, data: Value<'js>| {
            give(&ctx, (|| ctr_of(&bytes(&key)?, &bytes(&counter)?, counter_bits, bytes(&data)?))())
        },
    )
}

/// Encrypts in place; the whole tag. Nonces have 12 bytes, as nearly always, or 16.
fn seal_in_place(key: &[u8], nonce: &[u8], more: &[u8], data: &mut [u8]) -> Option<[u8; BLOCK]> {
    fn with<C: AeadInOut + aead::KeyInit>(key: &[u8], nonce: &[u8], more: &[u8], data: &mut [u8]) -> Option<[u8; 16]> {
        let cipher = C::new_from_slice(key).ok()?;
        let nonce = <&Nonce<C>>::try_from(nonce).ok()?;
        cipher.encrypt_inout_detached(nonce, more, data.into()).ok()?.as_slice().try_into().ok()
    }
    match nonce.len() {
        12 => with_aes!(key, A => with::<AesGcm<A, U12>>(key, nonce, more, data)),
        16 => with_aes!(key, A => with::<AesGcm<A, U16>>(key, nonce, more, data)),
        _ => None,
    }
}

fn seal(key: &[u8], nonce: &[u8], more: &[u8], mut data: Vec<u8>, tag_bytes: usize) -> Option<Vec<u8>> {
    let tag = seal_in_place(key, nonce, more, &mut data)?;
    data.extend_from_slice(tag.get(..tag_bytes)?);
    Some(data)
}

/// Decrypts what carries a tag of any of the allowed lengths. The mode is its own inverse but for the tag, so sealing
/// twice gives the data and then the tag that it must have; nothing of the data leaves before the tags were compared.
fn open(key: &[u8], nonce: &[u8], more: &[u8], mut data: Vec<u8>, tag_bytes: usize) -> Option<Vec<u8>> {
    let tag = data.split_off(data.len().checked_sub(tag_bytes)?);
    seal_in_place(key, nonce, more, &mut data)?;
    let mut again = data.clone();
    let wanted = seal_in_place(key, nonce, more, &mut again)?;
    // Every byte is looked at, wherever the first difference is.
    let differs = wanted.get(..tag_bytes)?.iter().zip(&tag).fold(0, |sum, (is, must)| sum | (is ^ must));
    (differs == 0).then_some(data)
}

fn cbc_of(seals: bool, key: &[u8], start: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    if seals {
        with_aes!(key, A => Some(cbc::Encryptor::<A>::new_from_slices(key, start).ok()?.encrypt_padded_vec::<Pkcs7>(data)))
    } else {
        with_aes!(key, A => cbc::Decryptor::<A>::new_from_slices(key, start).ok()?.decrypt_padded_vec::<Pkcs7>(data).ok())
    }
}

/// The counter is the last `counter_bits` bits of its block: only they count up, and they begin anew after their end.
fn ctr_of(key: &[u8], counter: &[u8], counter_bits: u32, mut data: Vec<u8>) -> Option<Vec<u8>> {
    let start = u128::from_be_bytes(counter.try_into().ok()?);
    let mask = match counter_bits {
        1..=127 => (1u128 << counter_bits) - 1,
        128 => u128::MAX,
        _ => return None,
    };
    let blocks = data.len().div_ceil(BLOCK) as u128;
    // A counter that comes round to its start would use the same key stream again.
    if mask != u128::MAX && blocks > mask + 1 {
        return None;
    }
    let first = (mask - (start & mask)).saturating_add(1).min(blocks);
    let split = usize::try_from(first).ok()?.saturating_mul(BLOCK).min(data.len());
    let (before, behind) = data.split_at_mut(split);
    apply_ctr(key, start, before)?;
    apply_ctr(key, start & !mask, behind)?;
    Some(data)
}

fn apply_ctr(key: &[u8], start: u128, data: &mut [u8]) -> Option<()> {
    with_aes!(key, A => {
        let mut cipher = ctr::Ctr128BE::<A>::new_from_slices(key, &start.to_be_bytes()).ok()?;
        cipher.try_apply_keystream(data).ok()
    })
}
