//! Clock and chance, as far as this session has any.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use cove_core::Clock;
use rquickjs::{Ctx, Exception, Object, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::put;
use crate::raw;
use crate::state::State;

pub(super) fn install<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    put(natives, "now", move |ctx: Ctx<'js>, who: String| -> rquickjs::Result<f64> {
        match known.clock.get() {
            Clock::Real => Ok(unix_ms()),
            Clock::Fixed(ms) => Ok(ms as f64),
            Clock::None => Err(Exception::throw_type(
                &ctx,
                &format!(
                    "{who} is not available: this session has no clock, so that a run can be repeated. \
                     Pass the time in as a variable, or open the session with a real or a fixed clock."
                ),
            )),
        }
    })?;
    let known = Rc::clone(state);
    put(natives, "performance", move |ctx: Ctx<'js>| -> rquickjs::Result<f64> {
        match known.clock.get() {
            Clock::Real => Ok(known.elapsed_ms()),
            Clock::Fixed(_) => Ok(0.0),
            Clock::None => Err(Exception::throw_type(
                &ctx,
                "performance.now() is not available: this session has no clock, so that a run can be repeated. \
                 Open the session with a real or a fixed clock.",
            )),
        }
    })?;
    // For `console.time` alone, whose lines no program can read back.
    let known = Rc::clone(state);
    put(natives, "elapsed", move || known.elapsed_ms())?;
    chance(natives, state)?;
    put(natives, "digest", |ctx: Ctx<'js>, name: String, data: Value<'js>| -> rquickjs::Result<Option<Value<'js>>> {
        let bytes = raw::bytes_of(&data).unwrap_or_default();
        let hash = match name.as_str() {
            "SHA-1" => Sha1::digest(&bytes).to_vec(),
            "SHA-256" => Sha256::digest(&bytes).to_vec(),
            "SHA-384" => Sha384::digest(&bytes).to_vec(),
            "SHA-512" => Sha512::digest(&bytes).to_vec(),
            _ => return Ok(None),
        };
        raw::uint8_array(&ctx, &hash).map(Some)
    })
}

fn chance<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    const NONE: &str = "this session has no randomness, so that a run can be repeated. \
                        Open the session with a seeded or a real random source.";
    let known = Rc::clone(state);
    put(natives, "random", move |ctx: Ctx<'js>| -> rquickjs::Result<f64> {
        let mut chance = known.chance.borrow_mut();
        if chance.allowed() {
            return Ok(chance.number());
        }
        Err(Exception::throw_type(&ctx, &format!("Math.random() is not available: {NONE}")))
    })?;
    let known = Rc::clone(state);
    put(natives, "randomBytes", move |ctx: Ctx<'js>, length: usize| -> rquickjs::Result<Value<'js>> {
        let mut chance = known.chance.borrow_mut();
        if !chance.allowed() {
            return Err(Exception::throw_type(&ctx, &format!("crypto's random values are not available: {NONE}")));
        }
        let mut bytes = vec![0; length.min(65_536)];
        chance.fill(&mut bytes);
        raw::uint8_array(&ctx, &bytes)
    })
}

impl State {
    fn elapsed_ms(&self) -> f64 {
        self.started.get().elapsed().as_secs_f64() * 1000.0
    }
}

fn unix_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}
