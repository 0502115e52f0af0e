//! Draws the scenes of `bench/canvas` and prints what each costs: `scenes SCENES [PICTURES]`.
//!
//! One JSON line per scene, with the median CPU milliseconds of drawing, of the export as PNG, and of both.
#![allow(clippy::print_stdout, missing_docs)]

use std::path::Path;
use std::rc::Rc;

use cove_canvas::fonts::system::system_book;
use cove_canvas::{CanvasLimits, FontBook};
use cove_canvas_js::{CanvasHost, canvas_of, install, new_canvas};
use rquickjs::{CatchResultExt, Context, Ctx, Function, Runtime, Value};

/// Passes that are not counted, passes that are made at least, and the time after which no more are made.
const WARM: usize = 2;
const LEAST: usize = 9;
const ENOUGH_MS: f64 = 1000.0;

/// The same numbers between 0 and 1 on both sides.
const DICE: &str = "() => { let seed = 1; return () => (seed = (seed * 48271) % 2147483647) / 2147483647 }";

struct Host(Rc<FontBook>);

impl CanvasHost for Host {
    fn limits(&self) -> CanvasLimits {
        CanvasLimits::default()
    }

    fn fonts(&self) -> Rc<FontBook> {
        Rc::clone(&self.0)
    }
}

/// Milliseconds that this process has spent on a CPU.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [scenes, pictures @ ..] = args.as_slice() else { return Err("scenes SCENES [PICTURES]".into()) };
    let mut files: Vec<_> = std::fs::read_dir(scenes)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    context.with(|ctx| -> Result<(), Box<dyn std::error::Error>> {
        install(&ctx, Rc::new(Host(system_book(&[]))))?;
        for file in &files {
            scene(&ctx, file, pictures.first().map(Path::new))?;
        }
        Ok(())
    })
}

fn scene(ctx: &Ctx<'_>, file: &Path, pictures: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let source = std::fs::read_to_string(file)?;
    let name = file.file_stem().and_then(|stem| stem.to_str()).ok_or("a scene without a name")?;
    let mut sizes = source.trim_start_matches("// ").split([' ', ':']).map(str::parse::<u32>);
    let (Some(Ok(width)), Some(Ok(height))) = (sizes.next(), sizes.next()) else {
        return Err("a scene begins with its size".into());
    };
    let draw: Function<'_> = ctx.eval(format!("((canvas, ctx, dice) => {{ {source}\n }})"))?;
    let rolls: Function<'_> = ctx.eval(format!("({DICE})"))?;
    let context_of: Function<'_> = ctx.eval("(canvas => canvas.getContext('2d'))")?;
    let (mut draws, mut exports, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let (mut png, mut spent, mut pass) = (Vec::new(), 0.0, 0);
    while pass < LEAST || (spent < ENOUGH_MS && pass < 200) {
        let canvas = new_canvas(ctx, width, height)?.into_value();
        let (context, dice): (Value<'_>, Value<'_>) = (context_of.call((canvas.clone(),))?, rolls.call(())?);
        let start = cpu_ms();
        draw.call::<_, ()>((canvas.clone(), context, dice)).catch(ctx).map_err(|error| error.to_string())?;
        let drawn = cpu_ms();
        png = canvas_of(&canvas).ok_or("the canvas went missing")?.borrow().to_png()?;
        let end = cpu_ms();
        spent += end - start;
        if pass >= WARM {
            draws.push(drawn - start);
            exports.push(end - drawn);
            all.push(end - start);
        }
        pass += 1;
    }
    if let Some(folder) = pictures {
        std::fs::write(folder.join(format!("{name}.cove.png")), &png)?;
    }
    let line = serde_json::json!({
        "who": "cove", "scene": name, "draw": median(&mut draws), "png": median(&mut exports), "all": median(&mut all),
        "kb": png.len() as f64 / 1024.0,
    });
    println!("{line}");
    Ok(())
}
