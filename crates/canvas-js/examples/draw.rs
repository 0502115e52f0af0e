//! Runs a drawing script and writes its picture: `draw SCRIPT.js OUT.png [WIDTH HEIGHT]`.
//!
//! The script finds `canvas` and `ctx`. CPU milliseconds of the script and of the export are printed. This is how
//! pictures are compared with a browser's.
#![allow(clippy::print_stdout, missing_docs)]

use std::rc::Rc;

use cove_canvas::fonts::system::system_book;
use cove_canvas::{CanvasLimits, FontBook};
use cove_canvas_js::{CanvasHost, canvas_of, install, new_canvas};
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt, Context, Runtime, Value};

struct Host(Rc<FontBook>);

impl CanvasHost for Host {
    fn limits(&self) -> CanvasLimits {
        CanvasLimits::default()
    }

    fn fonts(&self) -> Rc<FontBook> {
        Rc::clone(&self.0)
    }
}

/// Nanoseconds this process has spent on a CPU.
fn cpu_ns() -> u64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [script, out, size @ ..] = args.as_slice() else { return Err("draw SCRIPT.js OUT.png [WIDTH HEIGHT]".into()) };
    let width: u32 = size.first().map_or(Ok(800), |s| s.parse())?;
    let height: u32 = size.get(1).map_or(Ok(600), |s| s.parse())?;
    let source = std::fs::read_to_string(script)?;
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    let fonts = system_book(&[]);
    let passes = std::env::var("PASSES").ok().and_then(|p| p.parse().ok()).unwrap_or(1);
    let (mut best_draw, mut best_png) = (u64::MAX, u64::MAX);
    let png = context.with(|ctx| -> Result<Vec<u8>, String> {
        install(&ctx, Rc::new(Host(fonts))).catch(&ctx).map_err(|e| e.to_string())?;
        let mut png = Vec::new();
        for _ in 0..passes {
            let canvas = new_canvas(&ctx, width, height).catch(&ctx).map_err(|e| e.to_string())?;
            let value: Value<'_> = canvas.clone().into_value();
            ctx.globals().set("canvas", canvas).map_err(|e| e.to_string())?;
            let mut options = EvalOptions::default();
            options.strict = false;
            let start = cpu_ns();
            ctx.eval_with_options::<Value<'_>, _>(
                format!("(() => {{ const ctx = canvas.getContext('2d'); {source}\n }})()"),
                options,
            )
            .catch(&ctx)
            .map_err(|e| e.to_string())?;
            while ctx.execute_pending_job() {}
            let drawn = cpu_ns();
            let shared = canvas_of(&value).ok_or("the canvas went missing")?;
            png = shared.borrow().to_png().map_err(|e| e.to_string())?;
            best_draw = best_draw.min(drawn - start);
            best_png = best_png.min(cpu_ns() - drawn);
        }
        Ok(png)
    })?;
    println!("draw {:.2} ms, png {:.2} ms, {} KB", best_draw as f64 / 1e6, best_png as f64 / 1e6, png.len() / 1024);
    std::fs::write(out, png)?;
    Ok(())
}
