//! The part of the world that is loaded when it is first touched: streams, forms, channels, compression, `crypto.subtle`,
//! `Intl`.
//!
//! Most programs use none of it, and a world that is built for one run should not pay for it. Until then a global of this
//! kind is a getter. What a file makes is hardened like everything else before any code sees it; a load that fails half way
//! (the stack is full) leaves nothing behind, and the next touch tries again. By then the guest's globals are the guest's:
//! these files are given what they need, as it was before.

use std::rc::Rc;

use rquickjs::{Ctx, Exception, Function, Object, Value};

use crate::state::State;
use crate::{harden, natives, prelude, raw};

/// The files and the globals that each of them gives.
pub(crate) const FILES: &[(&str, &[&str])] = &[
    ("queue.js", &["CountQueuingStrategy", "ByteLengthQueuingStrategy"]),
    ("readable.js", &["ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamDefaultController"]),
    ("bytes.js", &["ReadableByteStreamController", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest"]),
    ("writable.js", &["WritableStream", "WritableStreamDefaultWriter", "WritableStreamDefaultController"]),
    (
        "transform.js",
        &["TransformStream", "TransformStreamDefaultController", "TextEncoderStream", "TextDecoderStream"],
    ),
    ("pipe.js", &[]),
    ("compression.js", &["CompressionStream", "DecompressionStream"]),
    ("form.js", &["FormData"]),
    ("channel.js", &["MessageChannel", "MessagePort", "MessageEvent"]),
    ("subtle.js", &["SubtleCrypto", "CryptoKey"]),
    ("keys.js", &[]),
    ("rsa.js", &[]),
    ("pattern.js", &["URLPattern"]),
    ("compare.js", &[]),
    ("intl.js", &[]),
    ("intl-number.js", &[]),
    ("intl-date.js", &[]),
    ("intl-text.js", &[]),
    ("intl-all.js", &["Intl"]),
];

/// The globals in the order of their numbers, each with its file.
fn globals() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().flat_map(|(file, names)| names.iter().map(move |name| (*name, *file)))
}

/// Gives the kit what it needs to load files: `late(file)`, and what is loaded already.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    natives: &Object<'js>,
    kit: &Object<'js>,
) -> rquickjs::Result<()> {
    kit.set("native", natives.clone())?;
    // What files give each other, and what they give as globals.
    for table in ["loaded", "given"] {
        let empty = Object::new(ctx.clone())?;
        empty.set_prototype(None)?;
        kit.set(table, empty)?;
    }
    let known = Rc::clone(state);
    kit.set("late", Function::new(ctx.clone(), move |ctx: Ctx<'js>, file: String| load(&ctx, &known, &file))?)?;
    let known = Rc::clone(state);
    kit.set("touch", Function::new(ctx.clone(), move |ctx: Ctx<'js>, index: usize| touch(&ctx, &known, index))?)
}

/// Puts the getters into their places; nothing is loaded.
pub(crate) fn define_globals<'js>(ctx: &Ctx<'js>, kit: &Object<'js>) -> rquickjs::Result<()> {
    let touch: Function<'js> = kit.get("touch")?;
    let world = ctx.globals();
    globals().enumerate().try_for_each(|(index, (name, _))| raw::define_late(&world, name, index, &touch))
}

/// The value of a global, which somebody reads.
fn touch<'js>(ctx: &Ctx<'js>, state: &State, index: usize) -> rquickjs::Result<Value<'js>> {
    let (name, file) = globals().nth(index).ok_or(rquickjs::Error::Unknown)?;
    load(ctx, state, file)?;
    kit(ctx, state)?.get::<_, Object<'js>>("given")?.get(name)
}

fn kit<'js>(ctx: &Ctx<'js>, state: &State) -> rquickjs::Result<Object<'js>> {
    state.kit.borrow().clone().ok_or(rquickjs::Error::Unknown)?.restore(ctx)
}

/// What a file gives to others, loading it if nobody has yet.
fn load<'js>(ctx: &Ctx<'js>, state: &State, file: &str) -> rquickjs::Result<Object<'js>> {
    let kit = kit(ctx, state)?;
    let loaded: Object<'js> = kit.get("loaded")?;
    if let Some(inner) = loaded.get::<_, Option<Object<'js>>>(file)? {
        return Ok(inner);
    }
    let (native, world): (Object<'js>, Object<'js>) = (kit.get("native")?, kit.get("world")?);
    let own = natives::of_late_file(ctx, file)?;
    let made: Object<'js> = prelude::load(ctx, file)?.call((native, kit.clone(), world, own))?;
    let (names, inner): (Object<'js>, Object<'js>) = (made.get("names")?, made.get("inner")?);
    let mut roots: Vec<(String, Object<'js>)> = names.props().collect::<rquickjs::Result<_>>()?;
    if let Some(hidden) = made.get::<_, Option<Object<'js>>>("hidden")? {
        for root in hidden.props() {
            roots.push(root?);
        }
    }
    let hardened = harden::harden_late(ctx, &kit, &roots, &state.intrinsics.borrow());
    let fresh = hardened.map_err(|error| Exception::throw_internal(ctx, &error.to_string()))?;
    let given: Object<'js> = kit.get("given")?;
    for (name, object) in roots {
        given.set(name, object)?;
    }
    loaded.set(file, inner.clone())?;
    let mut intrinsics = state.intrinsics.borrow_mut();
    intrinsics.extend(fresh);
    intrinsics.sort_unstable();
    Ok(inner)
}
