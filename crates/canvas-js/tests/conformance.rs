//! The canvas cases of web-platform-tests, each in a world of its own.
//!
//! The cases are not part of this repository: they are looked for in `COVE_CONFORMANCE` or beside the project, and need
//! `node` to be made. Without either the test says so and passes. What is known to fail is listed in
//! `known_failures.txt`; the list may only shrink: a listed case that passes fails the test too.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cove_canvas::fonts::system::system_book;
use cove_canvas::{CanvasLimits, FontBook, MemoryBudget};
use cove_canvas_js::{CanvasHost, install};
use rquickjs::context::EvalOptions;
use rquickjs::function::{Opt, Rest};
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, Context, Ctx, Function, Object, Promise, Runtime, Value};

/// The share of cases that must pass.
const WANTED: f64 = 0.97;

struct Host {
    limits: CanvasLimits,
    fonts: Rc<FontBook>,
}

impl CanvasHost for Host {
    fn limits(&self) -> CanvasLimits {
        self.limits.clone()
    }

    fn fonts(&self) -> Rc<FontBook> {
        Rc::clone(&self.fonts)
    }
}

fn cases_dir() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let root = std::env::var_os("COVE_CONFORMANCE").map_or(beside, PathBuf::from);
    let dir = root.join("canvas");
    dir.join("tests.json").is_file().then_some(dir)
}

/// Makes every case into a file of its own; `None` without `node`.
fn make_cases(dir: &Path, out: &Path) -> Option<Vec<String>> {
    let tests: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.join("tests.json")).unwrap()).unwrap();
    let names: Vec<String> = tests["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| format!("{}/{}", t["dir"].as_str().unwrap(), t["name"].as_str().unwrap()))
        .collect();
    let list = out.join("list");
    std::fs::write(&list, names.join("\n")).unwrap();
    #[expect(clippy::disallowed_methods, reason = "makes the cases, waits for it, leaves nothing behind")]
    let status = std::process::Command::new("node")
        .arg(dir.join("make_case.js"))
        .args([&dir.join("tests.json"), &list, &out.to_path_buf()])
        .status()
        .ok()?;
    assert!(status.success(), "make_case.js failed");
    Some(names)
}

/// Timers that fire in order without anybody waiting for them.
#[derive(Default)]
struct Timers<'js> {
    due: BTreeMap<(u64, u64), (Function<'js>, Vec<Value<'js>>)>,
    now: u64,
    count: u64,
}

fn run_case<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, code: &str) -> Result<(), String> {
    let host: Rc<dyn CanvasHost> = Rc::<Host>::clone(host);
    install(ctx, host).catch(ctx).map_err(|e| format!("install: {e}"))?;
    let timers: Rc<RefCell<Timers<'js>>> = Rc::default();
    let set = Rc::clone(&timers);
    let set_timeout = Function::new(ctx.clone(), move |f: Function<'js>, ms: Opt<f64>, args: Rest<Value<'js>>| {
        let mut t = set.borrow_mut();
        t.count += 1;
        let key = (t.now + ms.0.unwrap_or(0.0).max(0.0) as u64, t.count);
        t.due.insert(key, (f, args.0));
        key.1
    });
    ctx.globals().set("setTimeout", set_timeout.unwrap()).unwrap();
    let mut options = EvalOptions::default();
    options.strict = false;
    let outcome: Promise<'js> = ctx
        .eval_with_options(format!("(async () => {{ {code}\n }})()"), options)
        .catch(ctx)
        .map_err(|e| format!("eval: {e}"))?;
    loop {
        while ctx.execute_pending_job() {}
        if outcome.state() != PromiseState::Pending {
            break;
        }
        let next = timers.borrow_mut().due.pop_first();
        let Some((key, (f, args))) = next else { return Err("nothing left to do".into()) };
        timers.borrow_mut().now = key.0;
        f.call::<_, Value<'_>>((Rest(args),)).catch(ctx).map_err(|e| format!("timer: {e}"))?;
    }
    timers.borrow_mut().due.clear();
    let result: Object<'js> = outcome.finish().catch(ctx).map_err(|e| format!("rejected: {e}"))?;
    if result.get("ok").unwrap() { Ok(()) } else { Err(result.get::<_, String>("msg").unwrap()) }
}

#[test]
fn cases_pass_but_for_the_known_failures() {
    let Some(dir) = cases_dir() else {
        eprintln!("conformance: no cases found (set COVE_CONFORMANCE); nothing was checked");
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let Some(names) = make_cases(&dir, out.path()) else {
        eprintln!("conformance: node is not installed; nothing was checked");
        return;
    };
    let only = std::env::var("COVE_CASE").ok();
    let fonts = system_book(&[dir.join("fonts")]);
    let mut failed: BTreeMap<String, String> = BTreeMap::new();
    let mut count = 0;
    for (i, name) in names.iter().enumerate() {
        if only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            continue;
        }
        count += 1;
        let code = std::fs::read_to_string(out.path().join(format!("{i}.js"))).unwrap();
        let host =
            Rc::new(Host { limits: CanvasLimits::with_budget(MemoryBudget::new(512 << 20)), fonts: Rc::clone(&fonts) });
        let runtime = Runtime::new().unwrap();
        runtime.set_max_stack_size(1 << 20);
        let context = Context::full(&runtime).unwrap();
        if let Err(message) = context.with(|ctx| run_case(&ctx, &host, &code)) {
            failed.insert(name.clone(), message);
        }
    }
    let known: Vec<&str> = include_str!("known_failures.txt")
        .lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty())
        .map(|l| l.split_whitespace().next().unwrap())
        .collect();
    let passed = count - failed.len();
    eprintln!("conformance: {passed} of {count} pass ({:.2} %)", 100.0 * passed as f64 / count as f64);
    for (name, message) in &failed {
        eprintln!("  {}{name}: {message}", if known.contains(&name.as_str()) { "" } else { "NEW " });
    }
    if only.is_some() {
        return;
    }
    let new: Vec<_> = failed.keys().filter(|n| !known.contains(&n.as_str())).collect();
    assert!(new.is_empty(), "cases that used to pass fail now: {new:#?}");
    let healed: Vec<_> = known.iter().filter(|n| !failed.contains_key(**n)).collect();
    assert!(healed.is_empty(), "these pass now: take them off known_failures.txt: {healed:#?}");
    assert!(passed as f64 >= WANTED * count as f64, "only {passed} of {count} pass");
}
