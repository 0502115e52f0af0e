//! The part of the world that is written in JavaScript: one idea per file, each a function of the natives and the kit.
//! The build script compiles them; a world loads the bytecode.
//!
//! Every file takes the intrinsics it needs when it is loaded, before guest code exists. After that it depends on no
//! global that a guest could change, only on frozen prototypes; a test holds it to that.

use rquickjs::{Ctx, Function, Object, Value};

use crate::raw;

include!(concat!(env!("OUT_DIR"), "/prelude.rs"));

/// In the order in which they build on each other. The canvas comes later, when its classes are there.
pub(crate) const FILES: &[&str] = &[
    "base.js",
    "error.js",
    "exception.js",
    "promise.js",
    "clock.js",
    "chance.js",
    "inspect.js",
    "console.js",
    "blame.js",
    "timers.js",
    "tools.js",
    "modules.js",
    "dynamic.js",
    "scope.js",
    "harden.js",
    "url.js",
    "text.js",
    "event.js",
    "blob.js",
    "clone.js",
    "locale.js",
    "lost.js",
    "fetch.js",
];

/// Runs one file.
pub(crate) fn run<'js>(ctx: &Ctx<'js>, name: &str, natives: &Object<'js>, kit: &Object<'js>) -> rquickjs::Result<()> {
    load(ctx, name)?.call::<_, Value<'js>>((natives.clone(), kit.clone())).map(drop)
}

/// The function that one file stands for.
pub(crate) fn load<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
    let (_, bytes) = COMPILED.iter().find(|(file, _)| *file == name).ok_or(rquickjs::Error::Unknown)?;
    Function::from_value(raw::run_compiled(ctx, bytes)?)
}

/// Closes the kit: from here on nothing in it can be replaced.
pub(crate) fn close(kit: &Object<'_>) -> rquickjs::Result<()> {
    raw::freeze(kit)
}

#[cfg(test)]
mod tests {
    use super::{COMPILED, FILES};
    use cove_script::{Mode, PrepareOptions, prepare};

    /// A free name in a prelude file would be looked up when a guest's code runs, and a guest can change globals.
    #[test]
    fn no_file_depends_on_a_global_that_a_guest_can_change() {
        let late: Vec<_> = crate::late::FILES.iter().map(|(name, _)| *name).collect();
        assert_eq!(FILES.len() + late.len() + 2, COMPILED.len(), "a file of the prelude is not loaded");
        for name in FILES.iter().chain(&late).chain([&"canvas.js"]) {
            // The one sloppy file holds a `with`, which no strict parser takes; its names are few and in view.
            if *name == "scope.js" {
                continue;
            }
            let is_late = late.contains(name);
            let folder = if is_late { "late" } else { "prelude" };
            let path = format!("{}/src/{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
            let source = std::fs::read_to_string(path).unwrap();
            let source = source.replace("__cove_fetch", "reserved");
            let prepared = prepare(&source, &PrepareOptions { guards: false, ..PrepareOptions::new(Mode::Dynamic) })
                .unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"));
            let free: Vec<_> = prepared.free_names.iter().map(|free| free.name.as_str()).collect();
            // What is loaded later has nothing but what it is given: the guest's globals are the guest's by then.
            let may = |free: &str| free == "undefined" || (free == "globalThis" && !is_late);
            assert!(free.iter().all(|free| may(free)), "{name}: {free:?}");
        }
    }
}
