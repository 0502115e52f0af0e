//! Times the seven scenes of the canvas bench: CPU milliseconds to draw and to export as PNG.
//!
//! `cargo run --release -p cove-canvas --example scenes [FOLDER [SCENE]]` prints one line per scene, the mean of
//! several passes; with a folder the pictures are written there to be looked at.
#![allow(clippy::print_stdout, missing_docs)]

use std::f64::consts::TAU;
use std::rc::Rc;

use cove_canvas::fonts::system::system_book;
use cove_canvas::{Canvas, CanvasError, CanvasLimits, Context2d, FillRule, FontBook, Radius, Style};

type Draw = fn(&mut Context2d) -> Result<(), CanvasError>;

const SCENES: [(&str, u32, u32, Draw); 7] = [
    ("seed", 800, 600, seed),
    ("chart", 1200, 800, chart),
    ("rects", 1000, 1000, rects),
    ("arcs", 1000, 1000, arcs),
    ("text", 1000, 1000, text),
    ("pixels", 1024, 1024, pixels),
    ("effects", 800, 600, effects),
];

/// Numbers between 0 and 1 that are the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}

fn seed(c: &mut Context2d) -> Result<(), CanvasError> {
    let sky = c.create_linear_gradient(0.0, 0.0, 0.0, 600.0)?;
    for (at, color) in [(0.0, "#1e3c72"), (1.0, "#e0eafc")] {
        sky.add_color_stop(at, color)?;
    }
    c.set_fill_style(Style::Gradient(sky));
    c.fill_rect(0.0, 0.0, 800.0, 600.0);
    c.set_fill_style_text("red");
    c.fill_rect(50.0, 50.0, 150.0, 100.0);
    c.set_fill_style_text("rgba(0, 0, 255, 0.6)");
    c.begin_path();
    c.arc(300.0, 150.0, 80.0, 0.0, TAU, false)?;
    c.fill(FillRule::NonZero);
    c.set_stroke_style_text("#00ff00");
    c.set_line_width(5.0);
    c.begin_path();
    c.move_to(50.0, 300.0);
    c.bezier_curve_to(200.0, 200.0, 400.0, 500.0, 750.0, 300.0);
    c.stroke();
    c.set_fill_style_text("black");
    c.set_font("32px Arial");
    c.fill_text("Complex Drawing 日本語 😀", 80.0, 450.0, None);
    c.set_fill_style_text("#ffcc00");
    c.begin_path();
    c.round_rect(500.0, 60.0, 220.0, 140.0, &[Radius { x: 24.0, y: 24.0 }])?;
    c.fill(FillRule::NonZero);
    c.set_line_dash(&[12.0, 6.0]);
    c.set_line_width(3.0);
    c.set_stroke_style_text("#333");
    c.stroke();
    Ok(())
}

fn chart(c: &mut Context2d) -> Result<(), CanvasError> {
    let mut dice = Dice(7);
    c.set_fill_style_text("white");
    c.fill_rect(0.0, 0.0, 1200.0, 800.0);
    c.set_stroke_style_text("#dddddd");
    c.set_line_width(1.0);
    c.set_font("12px sans-serif");
    for i in 0..20 {
        let y = 40.0 + f64::from(i) * 36.0;
        c.begin_path();
        c.move_to(60.0, y + 0.5);
        c.line_to(1180.0, y + 0.5);
        c.stroke();
        c.set_fill_style_text("#666666");
        c.set_text_align("right");
        c.fill_text(&format!("{}", 1000 - i * 50), 52.0, y + 4.0, None);
    }
    c.set_text_align("center");
    for i in 0..24 {
        c.fill_text(&format!("{i:02}:00"), 84.0 + f64::from(i) * 47.0, 756.0, None);
    }
    for (line, color) in ["#e6194b", "#3cb44b", "#4363d8", "#f58231"].into_iter().enumerate() {
        c.set_stroke_style_text(color);
        c.set_line_width(2.0);
        c.begin_path();
        let mut value = 200.0 + 120.0 * line as f64;
        for i in 0..2000 {
            value += (dice.roll() - 0.5) * 24.0;
            c.line_to(60.0 + f64::from(i) * 0.56, value.clamp(40.0, 720.0));
        }
        c.stroke();
    }
    for _ in 0..2000 {
        c.set_fill_style_text(&format!("hsla({}, 70%, 50%, 0.5)", (dice.roll() * 360.0) as i32));
        c.begin_path();
        c.arc(60.0 + dice.roll() * 1120.0, 40.0 + dice.roll() * 680.0, 2.0 + dice.roll() * 4.0, 0.0, TAU, false)?;
        c.fill(FillRule::NonZero);
    }
    Ok(())
}

fn rects(c: &mut Context2d) -> Result<(), CanvasError> {
    let mut dice = Dice(1);
    for i in 0..100_000 {
        c.set_fill_style_text(["#f00", "#0f0", "rgba(0,0,255,0.5)", "#ff0"][i % 4]);
        let (x, y) = (dice.roll() * 990.0, dice.roll() * 990.0);
        c.fill_rect(x, y, 2.0 + dice.roll() * 20.0, 2.0 + dice.roll() * 20.0);
    }
    Ok(())
}

fn arcs(c: &mut Context2d) -> Result<(), CanvasError> {
    let mut dice = Dice(2);
    for i in 0..10_000 {
        c.set_fill_style_text(["#f00", "#0f0", "rgba(0,0,255,0.5)", "#ff0"][i % 4]);
        c.begin_path();
        c.arc(dice.roll() * 1000.0, dice.roll() * 1000.0, 2.0 + dice.roll() * 20.0, 0.0, TAU, false)?;
        c.fill(FillRule::NonZero);
    }
    Ok(())
}

fn text(c: &mut Context2d) -> Result<(), CanvasError> {
    let mut dice = Dice(3);
    c.set_fill_style_text("white");
    c.fill_rect(0.0, 0.0, 1000.0, 1000.0);
    c.set_fill_style_text("black");
    for i in 0..2000 {
        c.set_font(["12px Arial", "16px Arial", "bold 14px Arial", "13px monospace"][i % 4]);
        c.fill_text(&format!("Label {i} quick brown fox"), dice.roll() * 850.0, 12.0 + dice.roll() * 980.0, None);
    }
    Ok(())
}

fn pixels(c: &mut Context2d) -> Result<(), CanvasError> {
    c.set_fill_style_text("rgba(200, 100, 50, 0.5)");
    c.fill_rect(0.0, 0.0, 1024.0, 1024.0);
    for i in 0..5 {
        let mut data = c.get_image_data(0, 0, 1024, 1024, None)?;
        if let Some(byte) = data.data.get_mut(i * 4) {
            *byte = 255;
        }
        c.put_image_data(&data.view(), 0, 0, None);
    }
    Ok(())
}

fn effects(c: &mut Context2d) -> Result<(), CanvasError> {
    c.set_fill_style_text("#fafafa");
    c.fill_rect(0.0, 0.0, 800.0, 600.0);
    c.set_shadow_color("rgba(0, 0, 0, 0.5)");
    c.set_shadow_blur(12.0);
    c.set_shadow_offset_x(6.0);
    c.set_shadow_offset_y(6.0);
    for i in 0..12 {
        let (x, y) = (f64::from(i % 4) * 190.0 + 30.0, f64::from(i / 4) * 190.0 + 30.0);
        let glow = c.create_radial_gradient([x + 60.0, y + 50.0, 5.0, x + 75.0, y + 75.0, 90.0])?;
        glow.add_color_stop(0.0, "white")?;
        glow.add_color_stop(1.0, &format!("hsl({}, 80%, 50%)", i * 30))?;
        c.set_fill_style(Style::Gradient(glow));
        c.begin_path();
        c.arc(x + 75.0, y + 75.0, 70.0, 0.0, TAU, false)?;
        c.fill(FillRule::NonZero);
    }
    c.set_shadow_color("transparent");
    c.set_filter("blur(3px) saturate(150%)");
    c.set_global_composite_operation("multiply");
    c.set_fill_style_text("rgba(80, 120, 255, 0.7)");
    c.fill_rect(100.0, 250.0, 600.0, 100.0);
    c.set_filter("none");
    c.set_global_composite_operation("source-over");
    c.set_fill_style_text("#222");
    c.set_font("italic bold 48px Georgia, serif");
    c.set_text_align("center");
    c.fill_text("Shadows & filters", 400.0, 320.0, None);
    Ok(())
}

/// Nanoseconds this process has spent on a CPU.
fn cpu_ns() -> u64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1);
    let fonts: Rc<FontBook> = system_book(&[]);
    println!("{:<8} {:>9} {:>9} {:>9}", "scene", "draw ms", "png ms", "png KB");
    let only = std::env::args().nth(2);
    for (name, width, height, draw) in SCENES {
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        // The kernel counts in ticks of some milliseconds: quick scenes are drawn often and averaged.
        let (mut draw_ns, mut png_ns, mut passes, mut file) = (0, 0, 0u32, Vec::new());
        while passes < 5 || (draw_ns < 200_000_000 && passes < 500) {
            let mut canvas = Canvas::with_fonts(width, height, &CanvasLimits::default(), &fonts)?;
            let start = cpu_ns();
            draw(canvas.context())?;
            let drawn = cpu_ns();
            file = canvas.to_png()?;
            draw_ns += drawn - start;
            png_ns += cpu_ns() - drawn;
            passes += 1;
        }
        let ms = |ns: u64| ns as f64 / 1e6 / f64::from(passes);
        println!("{name:<8} {:>9.2} {:>9.2} {:>9}", ms(draw_ns), ms(png_ns), file.len() / 1024);
        if let Some(folder) = &folder {
            std::fs::write(format!("{folder}/{name}.png"), &file)?;
        }
    }
    Ok(())
}
