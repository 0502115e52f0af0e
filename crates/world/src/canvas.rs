//! The canvas of this world: `getCanvas`, the fonts behind it, and the pictures that a run leaves.
//!
//! Drawing itself is `cove-canvas`, its JavaScript face `cove-canvas-js`. This file knows when pictures are exported
//! (after the code has come to its end, and only then) and asks the host for fonts when text is first drawn.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cove_canvas::{CanvasLimits, FontBook, FontBytes, FontIndex, FontSource, MemoryBudget};
use cove_canvas_js::CanvasHost;
use cove_core::{Fault, Finished, PictureFailure};
use rquickjs::{Array, Ctx, Function, Object, Value};

use crate::prelude;
use crate::state::State;

/// The share of the session's memory that pixels may take; they lie outside the engine's heap.
const PIXEL_SHARE: u64 = 2;

/// What canvases need from this world.
struct CanvasNeeds {
    state: Rc<State>,
    budget: OnceCell<Rc<MemoryBudget>>,
    fonts: Rc<FontBook>,
}

impl CanvasHost for CanvasNeeds {
    fn limits(&self) -> CanvasLimits {
        let limit = || usize::try_from(self.state.limits.get().memory_bytes / PIXEL_SHARE).unwrap_or(usize::MAX);
        CanvasLimits::with_budget(Rc::clone(self.budget.get_or_init(|| MemoryBudget::new(limit()))))
    }

    fn fonts(&self) -> Rc<FontBook> {
        Rc::clone(&self.fonts)
    }
}

/// Font files by way of the port, each asked for once.
struct HostFonts {
    state: Rc<State>,
    open: RefCell<HashMap<u32, Option<FontBytes>>>,
}

impl FontSource for HostFonts {
    fn open(&self, file: u32) -> Option<FontBytes> {
        let ask = || self.state.port.with(|port| port.font_file(file)).flatten();
        self.open.borrow_mut().entry(file).or_insert_with(ask).clone()
    }
}

fn host_fonts(state: &Rc<State>) -> Rc<FontBook> {
    let state = Rc::clone(state);
    FontBook::lazy(Box::new(move || {
        let index = state.port.with(|port| port.font_index()).flatten();
        let index: FontIndex = index.and_then(|text| serde_json::from_slice((*text).as_ref()).ok()).unwrap_or_default();
        (index, Rc::new(HostFonts { state, open: RefCell::default() }))
    }))
}

/// Defines the canvas classes and `getCanvas`.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<State>,
    natives: &Object<'js>,
    kit: &Object<'js>,
) -> rquickjs::Result<()> {
    let easel = CanvasNeeds { state: Rc::clone(state), budget: OnceCell::new(), fonts: host_fonts(state) };
    cove_canvas_js::install_with(ctx, Rc::new(easel), &prelude::load(ctx, "canvas-api.js")?)?;
    let new_canvas = |ctx: Ctx<'js>, width: f64, height: f64| {
        // A side that no canvas can have is refused as too large, not wrapped into one that fits.
        cove_canvas_js::new_canvas(&ctx, width.min(f64::from(u32::MAX)) as u32, height.min(f64::from(u32::MAX)) as u32)
    };
    natives.set("newCanvas", Function::new(ctx.clone(), new_canvas)?)?;
    let known = Rc::clone(state);
    natives.set("maxImages", Function::new(ctx.clone(), move || known.limits.get().max_images)?)?;
    prelude::run(ctx, "canvas.js", natives, kit)
}

/// Hands the pictures of a run that came to its end to the host; a run that failed leaves none.
pub(crate) fn export(ctx: &Ctx<'_>, state: &State, result: &mut Result<Finished, Fault>) {
    if state.gauge.refused() {
        return;
    }
    let taken = state.kit(ctx, "takeCanvases").and_then(|take| take.call::<_, Array<'_>>(()));
    let (Ok(taken), Ok(finished)) = (taken, result) else { return };
    let mut pictures: Vec<(String, Value<'_>)> = Vec::new();
    for at in (0..taken.len()).step_by(2) {
        if let (Ok(name), Ok(canvas)) = (taken.get::<String>(at), taken.get::<Value<'_>>(at + 1)) {
            pictures.push((name, canvas));
        }
    }
    // The default canvas first.
    pictures.sort_by_key(|(name, _)| !name.is_empty());
    for (name, canvas) in pictures {
        let title = if name.is_empty() { "The canvas".to_owned() } else { format!("The canvas {name:?}") };
        let Some(canvas) = cove_canvas_js::canvas_of(&canvas) else { continue };
        let canvas = canvas.borrow();
        match canvas.to_png() {
            Ok(png) => {
                let name = (!name.is_empty()).then_some(name.as_str());
                state.port.with(|port| port.picture(name, canvas.width(), canvas.height(), &png));
            }
            Err(error) => {
                let trouble = || PictureFailure::drawing(format!("{title} could not be exported: {error}"));
                finished.canvas_error.get_or_insert_with(trouble);
            }
        }
    }
}
