//! The Canvas 2D API as JavaScript sees it, in front of `cove-canvas`.
//!
//! [`install`] puts `OffscreenCanvas`, `CanvasRenderingContext2D`, `Path2D`, `DOMMatrix`, `DOMPoint`, `DOMRect`,
//! `ImageData`, `ImageBitmap`, `Image`, `createImageBitmap`, `FontFace` and their kin on the global object of a realm,
//! before it is frozen. Arguments follow WebIDL: too few or of the wrong kind throw `TypeError`, numbers that are not
//! finite make drawing calls do nothing. Calls that draw are native; what is rarely called is JavaScript (`prelude.js`)
//! over a few natives.
//!
//! What it refuses: there is no `document`, no element, no network, no file. An `Image` loads from a data URL or bytes.

mod bytes;
mod call;
mod canvas;
mod class;
mod context;
mod matrix;
mod paint;
mod path;
mod picture;
mod raise;
mod realm;

use std::cell::RefCell;
use std::rc::Rc;

use cove_canvas::{Canvas, CanvasLimits, FontBook};
use rquickjs::{Ctx, Function, Object, Value};

pub use canvas::{canvas_of, new_canvas};

/// What a realm's canvases need from their host.
pub trait CanvasHost {
    /// The limits (and the shared memory budget) of every picture of the realm.
    fn limits(&self) -> CanvasLimits;
    /// The fonts text is drawn with.
    fn fonts(&self) -> Rc<FontBook>;
}

/// A canvas as the objects of a realm share it.
pub type SharedCanvas = Rc<RefCell<Canvas>>;

/// Defines the canvas API on the realm's global object. Call before the realm is frozen.
pub fn install<'js>(ctx: &Ctx<'js>, host: Rc<dyn CanvasHost>) -> rquickjs::Result<()> {
    let mut options = rquickjs::context::EvalOptions::default();
    options.strict = true;
    options.filename = Some("cove:canvas.js".into());
    install_with(ctx, host, &ctx.eval_with_options(include_str!("prelude.js"), options)?)
}

/// The same for a host that has compiled `prelude.js` beforehand: `prelude` is the function that its text stands for.
pub fn install_with<'js>(ctx: &Ctx<'js>, host: Rc<dyn CanvasHost>, prelude: &Function<'js>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    realm::store(ctx, host)?;
    let natives = Object::new(ctx.clone())?;
    canvas::natives(ctx, &natives)?;
    context::natives(ctx, &natives)?;
    paint::natives(ctx, &natives)?;
    path::natives(ctx, &natives)?;
    matrix::natives(ctx, &natives)?;
    picture::natives(ctx, &natives)?;
    prelude.call::<_, Value<'js>>((natives, globals)).map(drop)
}
