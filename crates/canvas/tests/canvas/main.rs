//! What drawing calls leave on the pixels.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod seed;

mod colors;
mod compositing;
mod formats;
mod hostile;
mod images;
mod long_text;
mod paths;
mod properties;
mod text;

use cove_canvas::{Canvas, CanvasLimits, Context2d};

/// A canvas with the built-in fonts.
fn canvas(width: u32, height: u32) -> Canvas {
    Canvas::new(width, height, &CanvasLimits::default()).unwrap()
}

/// The pixel at (x, y) as r, g, b, a.
fn pixel(ctx: &Context2d, x: i32, y: i32) -> [u8; 4] {
    ctx.get_image_data(x, y, 1, 1, None).unwrap().data.try_into().unwrap()
}

/// Asserts that every channel of a pixel is within `tolerance`.
#[track_caller]
fn near(ctx: &Context2d, x: i32, y: i32, want: [u8; 4], tolerance: u8) {
    let got = pixel(ctx, x, y);
    let fine = got.iter().zip(want).all(|(g, w)| g.abs_diff(w) <= tolerance);
    assert!(fine, "pixel ({x}, {y}) is {got:?}, want {want:?} within {tolerance}");
}

const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const CLEAR: [u8; 4] = [0, 0, 0, 0];
