//! Faults of `cove-canvas` as the exceptions scripts expect.

use cove_canvas::CanvasError;
use rquickjs::function::Constructor;
use rquickjs::{Ctx, Error, Exception, FromJs, Result, Value};

use crate::realm;

/// Throws a `DOMException` of the given name.
pub(crate) fn dom(ctx: &Ctx<'_>, name: &str, message: &str) -> Error {
    let made = realm::with(ctx, |realm| realm.dom_exception.clone())
        .and_then(|v| Constructor::from_js(ctx, v))
        .and_then(|c| c.construct::<_, Value<'_>>((message, name)));
    match made {
        Ok(exception) => ctx.throw(exception),
        Err(error) => error,
    }
}

/// Throws a `TypeError`.
pub(crate) fn type_error(ctx: &Ctx<'_>, message: &str) -> Error {
    Exception::throw_type(ctx, message)
}

/// A canvas result as a JavaScript one.
pub(crate) fn lift<T>(ctx: &Ctx<'_>, result: std::result::Result<T, CanvasError>) -> Result<T> {
    result.map_err(|fault| match &fault {
        CanvasError::Type(message) => type_error(ctx, message),
        CanvasError::Range(message) | CanvasError::TooLarge(message) => Exception::throw_range(ctx, message),
        other => dom(ctx, other.name(), &other.to_string()),
    })
}

/// The same for what needs pixels. A canvas and its context hold one another, so those that a script has dropped stay
/// until the engine looks for them: if there is no room, it looks, and this is tried once more.
pub(crate) fn lift_pixels<T>(ctx: &Ctx<'_>, make: impl Fn() -> std::result::Result<T, CanvasError>) -> Result<T> {
    match make() {
        Err(CanvasError::TooLarge(_)) => {
            ctx.run_gc();
            lift(ctx, make())
        }
        other => lift(ctx, other),
    }
}
