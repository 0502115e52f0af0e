//! The canvas of this world: none yet. `getCanvas` exists and says so; drawing comes with a crate of its own.

use rquickjs::{Ctx, Object};

use crate::prelude;

/// Defines `getCanvas`.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, natives: &Object<'js>, kit: &Object<'js>) -> rquickjs::Result<()> {
    prelude::run(ctx, "canvas.js", include_str!("prelude/canvas.js"), natives, kit)
}
