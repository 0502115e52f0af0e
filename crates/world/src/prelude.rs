//! The part of the world that is written in JavaScript: one idea per file, each a function of the natives and the kit.
//!
//! Every file takes the intrinsics it needs when it is loaded, before guest code exists. After that it depends on no
//! global that a guest could change, only on frozen prototypes; a test holds it to that.

use rquickjs::{Ctx, Function, Object, Value};

use crate::raw;

/// In the order in which they build on each other.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("base.js", include_str!("prelude/base.js")),
    ("error.js", include_str!("prelude/error.js")),
    ("exception.js", include_str!("prelude/exception.js")),
    ("clock.js", include_str!("prelude/clock.js")),
    ("chance.js", include_str!("prelude/chance.js")),
    ("inspect.js", include_str!("prelude/inspect.js")),
    ("console.js", include_str!("prelude/console.js")),
    ("blame.js", include_str!("prelude/blame.js")),
    ("timers.js", include_str!("prelude/timers.js")),
    ("tools.js", include_str!("prelude/tools.js")),
    ("modules.js", include_str!("prelude/modules.js")),
    ("dynamic.js", include_str!("prelude/dynamic.js")),
    ("scope.js", include_str!("prelude/scope.js")),
    ("harden.js", include_str!("prelude/harden.js")),
    ("url.js", include_str!("prelude/url.js")),
    ("text.js", include_str!("prelude/text.js")),
    ("event.js", include_str!("prelude/event.js")),
    ("blob.js", include_str!("prelude/blob.js")),
    ("clone.js", include_str!("prelude/clone.js")),
    ("fetch.js", include_str!("prelude/fetch.js")),
];

/// Runs one file.
pub(crate) fn run<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: &str,
    natives: &Object<'js>,
    kit: &Object<'js>,
) -> rquickjs::Result<()> {
    let sloppy = name == "scope.js";
    let function = raw_function(ctx, source, &format!("cove:{name}"), !sloppy)?;
    function.call::<_, Value<'js>>((natives.clone(), kit.clone())).map(drop)
}

fn raw_function<'js>(ctx: &Ctx<'js>, source: &str, file: &str, strict: bool) -> rquickjs::Result<Function<'js>> {
    let mut options = rquickjs::context::EvalOptions::default();
    options.strict = strict;
    options.filename = Some(file.to_owned());
    ctx.eval_with_options(source, options)
}

/// Closes the kit: from here on nothing in it can be replaced.
pub(crate) fn close(kit: &Object<'_>) -> rquickjs::Result<()> {
    raw::freeze(kit)
}
