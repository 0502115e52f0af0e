//! The Rust values that live inside JavaScript objects.
//!
//! The only unsafe code of the crate: telling the engine's binding which lifetime each value has. Every type here
//! either holds no JavaScript value at all or names the lifetime of those it holds.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::rc::Rc;

use cove_canvas::{Gradient, ImageBitmap, Path2d, Pattern};
use rquickjs::class::{JsClass, Readable, Trace, Tracer, Writable};
use rquickjs::function::Constructor;
use rquickjs::{Ctx, JsLifetime, Object, Result, Value};

use crate::picture::ImageState;
use crate::{CanvasHost, SharedCanvas};

/// A canvas object.
pub(crate) struct JsCanvas<'js> {
    pub(crate) canvas: SharedCanvas,
    /// Its context, once asked for.
    pub(crate) context: Option<Object<'js>>,
}

/// A context object.
pub(crate) struct JsContext<'js> {
    pub(crate) canvas: SharedCanvas,
    /// The canvas object, for `ctx.canvas`.
    pub(crate) owner: Object<'js>,
    /// Gradients and patterns in use as styles, so that getters give back the very object that was set.
    pub(crate) styles: Vec<Object<'js>>,
}

/// A `Path2D`.
pub(crate) struct JsPath(pub(crate) Path2d);
/// A `CanvasGradient`.
pub(crate) struct JsGradient(pub(crate) Gradient);
/// A `CanvasPattern`.
pub(crate) struct JsPattern(pub(crate) Pattern);
/// An `ImageBitmap`; empty once closed.
pub(crate) struct JsBitmap(pub(crate) Option<ImageBitmap>);

/// An `Image`.
pub(crate) struct JsImage(pub(crate) ImageState);

/// What the natives of a realm share.
pub(crate) struct Realm<'js> {
    pub(crate) host: Rc<dyn CanvasHost>,
    pub(crate) dom_exception: Value<'js>,
    pub(crate) well_formed: Value<'js>,
    /// Bytes of pixels that were still held after the last look for dropped canvases.
    pub(crate) kept_bytes: Cell<usize>,
}

macro_rules! class {
    ($name:ident, $js:literal, $mutable:ty) => {
        // SAFETY: the type holds no JavaScript value, so every lifetime is right for it.
        unsafe impl<'js> JsLifetime<'js> for $name {
            type Changed<'to> = $name;
        }

        impl<'js> Trace<'js> for $name {
            fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
        }

        impl<'js> JsClass<'js> for $name {
            const NAME: &'static str = $js;
            type Mutable = $mutable;

            fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
                Ok(None)
            }
        }
    };
}

class!(JsPath, "Path2D", Writable);
class!(JsGradient, "CanvasGradient", Readable);
class!(JsPattern, "CanvasPattern", Readable);
class!(JsBitmap, "ImageBitmap", Writable);
class!(JsImage, "HTMLImageElement", Writable);

// SAFETY: the lifetime of the values inside is the type's own, and `Changed` changes exactly that.
unsafe impl<'js> JsLifetime<'js> for JsCanvas<'js> {
    type Changed<'to> = JsCanvas<'to>;
}

impl<'js> Trace<'js> for JsCanvas<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        self.context.trace(tracer);
    }
}

impl<'js> JsClass<'js> for JsCanvas<'js> {
    const NAME: &'static str = "OffscreenCanvas";
    type Mutable = Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

// SAFETY: the lifetime of the values inside is the type's own, and `Changed` changes exactly that.
unsafe impl<'js> JsLifetime<'js> for JsContext<'js> {
    type Changed<'to> = JsContext<'to>;
}

impl<'js> Trace<'js> for JsContext<'js> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        self.owner.trace(tracer);
        self.styles.trace(tracer);
    }
}

impl<'js> JsClass<'js> for JsContext<'js> {
    const NAME: &'static str = "CanvasRenderingContext2D";
    type Mutable = Writable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

// SAFETY: the lifetime of the values inside is the type's own, and `Changed` changes exactly that.
unsafe impl<'js> JsLifetime<'js> for Realm<'js> {
    type Changed<'to> = Realm<'to>;
}
