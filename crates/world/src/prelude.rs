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
    ("intl.js", include_str!("prelude/intl.js")),
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
    let function = raw_function(ctx, &without_parentheses(source), &format!("cove:{name}"), !sloppy)?;
    function.call::<_, Value<'js>>((natives.clone(), kit.clone())).map(drop)
}

/// The same function without the parentheses around it, which the engine would scan to their end before it reads what
/// is between them.
fn without_parentheses(source: &str) -> String {
    match source.split_once("(function") {
        Some((comment, rest)) => {
            let rest = rest.trim_end();
            format!("{comment}0,function{}", rest.strip_suffix(')').unwrap_or(rest))
        }
        None => source.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::FILES;
    use cove_script::{Mode, PrepareOptions, prepare};

    /// A free name in a prelude file would be looked up when a guest's code runs, and a guest can change globals.
    #[test]
    fn no_file_depends_on_a_global_that_a_guest_can_change() {
        let canvas = ("canvas.js", include_str!("prelude/canvas.js"));
        for (name, source) in FILES.iter().chain([&canvas]) {
            // The one sloppy file holds a `with`, which no strict parser takes; its names are few and in view.
            if *name == "scope.js" {
                continue;
            }
            let source = source.replace("__cove_fetch", "reserved");
            let prepared = prepare(&source, &PrepareOptions { guards: false, ..PrepareOptions::new(Mode::Dynamic) })
                .unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
            let free: Vec<_> = prepared.free_names.iter().map(|free| free.name.as_str()).collect();
            assert!(free.iter().all(|free| matches!(*free, "globalThis" | "undefined")), "{name}: {free:?}");
        }
    }
}
