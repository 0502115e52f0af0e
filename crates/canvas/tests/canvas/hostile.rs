//! Canvases that want too much get an error or nothing, and never the process.

use std::f64::consts::TAU;

use cove_canvas::{Canvas, CanvasLimits, FillRule, MAX_SAVED_STATES, MemoryBudget, Path2d, Style};

use super::{canvas, pixel};

#[test]
fn sizes_beyond_the_limits_are_errors() {
    let limits = CanvasLimits::default();
    for (w, h) in [(1_000_000_000, 1_000_000_000), (32_768, 1), (1, 40_000), (32_767, 32_767), (u32::MAX, u32::MAX)] {
        assert_eq!(Canvas::new(w, h, &limits).unwrap_err().name(), "RangeError", "{w} x {h}");
    }
    let mut c = canvas(10, 10);
    assert!(c.resize(u32::MAX, 1).is_err());
    assert_eq!((c.width(), c.height()), (10, 10));
}

#[test]
fn all_canvases_share_one_budget() {
    let budget = MemoryBudget::new(10_000_000);
    let limits = CanvasLimits::with_budget(budget.clone());
    let mut kept = Vec::new();
    while let Ok(c) = Canvas::new(300, 150, &limits) {
        kept.push(c);
        assert!(kept.len() < 10_000);
    }
    assert_eq!(kept.len(), 10_000_000 / (300 * 150 * 4));
    drop(kept);
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn a_layer_that_does_not_fit_is_remembered_as_a_fault() {
    let limits = CanvasLimits::with_budget(MemoryBudget::new(500 * 500 * 4 + 1000));
    let mut c = Canvas::new(500, 500, &limits).unwrap();
    c.context().set_filter("blur(5px)");
    c.context().fill_rect(0.0, 0.0, 500.0, 500.0);
    assert_eq!(c.context().fault().unwrap().name(), "RangeError");
    assert!(c.to_png().is_err());
    c.context().reset();
    assert!(c.to_png().is_ok());
}

#[test]
fn saves_are_counted_beyond_their_limit() {
    let mut c = canvas(10, 10);
    let ctx = c.context();
    let deep = MAX_SAVED_STATES + 50_000;
    for _ in 0..deep {
        ctx.save();
    }
    ctx.set_line_width(7.0);
    for _ in 0..deep {
        ctx.restore();
    }
    assert_eq!(ctx.line_width(), 1.0);
    ctx.restore();
}

/// Ten thousand different clips, all saved, meet the same budget as pixels do.
#[test]
fn saved_clips_are_charged() {
    let budget = MemoryBudget::new(8 << 20);
    let mut c = Canvas::new(200, 200, &CanvasLimits::with_budget(budget.clone())).unwrap();
    let ctx = c.context();
    for i in 0..10_000 {
        ctx.save();
        ctx.begin_path();
        ctx.arc(100.0, 100.0, 99.0 - f64::from(i) * 1e-3, 0.0, TAU, false).unwrap();
        ctx.clip(FillRule::NonZero);
    }
    assert!(budget.used_bytes() <= 8 << 20);
    assert_eq!(ctx.fault().unwrap().name(), "RangeError");
    ctx.reset();
    assert_eq!(budget.used_bytes(), 200 * 200 * 4);
}

#[test]
fn a_path_of_a_million_points_draws() {
    let mut c = canvas(100, 100);
    let ctx = c.context();
    ctx.begin_path();
    for i in 0..1_000_000u32 {
        ctx.line_to(f64::from(i % 100), f64::from(i % 97));
    }
    ctx.fill(FillRule::EvenOdd);
    assert!(ctx.fault().is_none());
}

#[test]
fn numbers_that_are_none_do_nothing() {
    let mut c = canvas(20, 20);
    let ctx = c.context();
    for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        ctx.fill_rect(v, 0.0, 10.0, 10.0);
        ctx.fill_rect(0.0, 0.0, v, 10.0);
        ctx.clear_rect(v, v, v, v);
        ctx.stroke_rect(0.0, v, 5.0, 5.0);
        ctx.translate(v, 0.0);
        ctx.scale(v, 1.0);
        ctx.rotate(v);
        ctx.set_transform(v, 0.0, 0.0, 1.0, 0.0, 0.0);
        ctx.set_line_width(v);
        ctx.set_global_alpha(v);
        ctx.set_shadow_blur(v);
        ctx.set_shadow_offset_x(v);
        ctx.move_to(v, 1.0);
        ctx.line_to(1.0, v);
        ctx.arc(v, 1.0, 1.0, 0.0, 1.0, false).unwrap();
        ctx.bezier_curve_to(v, 0.0, 1.0, 1.0, 2.0, 2.0);
        ctx.fill_text("x", v, v, None);
        ctx.fill(FillRule::NonZero);
        ctx.stroke();
        assert!(!ctx.is_point_in_path(v, v, FillRule::NonZero));
    }
    assert!(ctx.get_image_data(0, 0, 20, 20, None).unwrap().data.iter().all(|b| *b == 0));
    assert_eq!(ctx.line_width(), 1.0);
    assert!(ctx.get_transform().is_identity());
}

#[test]
fn enormous_numbers_are_survived() {
    let mut c = canvas(20, 20);
    let ctx = c.context();
    for v in [1e9, 1e18, 1e38, 1e300, -1e300, 1e-300] {
        ctx.set_fill_style_text("red");
        ctx.fill_rect(-v, -v, 2.0 * v, 2.0 * v);
        ctx.begin_path();
        ctx.arc(v, v, v.abs(), 0.0, TAU, false).unwrap();
        ctx.ellipse([v, 0.0, v.abs(), 1.0, v, 0.0, v], true).unwrap();
        ctx.arc_to(v, 0.0, 0.0, v, v.abs()).unwrap();
        ctx.fill(FillRule::EvenOdd);
        ctx.set_line_width(v.abs());
        ctx.set_line_dash(&[v.abs(), 1e-9]);
        ctx.stroke();
        ctx.set_line_dash(&[1e-12, 1e-12]);
        ctx.set_line_width(1.0);
        ctx.stroke_rect(0.0, 0.0, 15.0, v);
        ctx.set_line_dash(&[]);
        ctx.save();
        ctx.scale(v, v);
        ctx.fill_rect(0.0, 0.0, 1.0, 1.0);
        ctx.fill_text("huge", 0.0, 0.0, None);
        ctx.restore();
        ctx.set_font(&format!("{v}px Arial"));
        ctx.fill_text("huge", 0.0, 10.0, None);
        ctx.set_shadow_color("black");
        ctx.set_shadow_blur(v.abs());
        ctx.set_shadow_offset_x(v);
        ctx.fill_rect(1.0, 1.0, 5.0, 5.0);
        ctx.set_shadow_color("transparent");
        let own = cove_canvas::ImageBitmap::from_image_data(
            &cove_canvas::ImageData::new(2, 2, cove_canvas::ColorSpace::Srgb).unwrap().view(),
            &CanvasLimits::default(),
        )
        .unwrap();
        ctx.draw_image_from(&own, [0.0, 0.0, v, v], [0.0, 0.0, v, v]).unwrap();
        ctx.draw_image_scaled(&own, -v, -v, v, v).unwrap();
        ctx.is_point_in_stroke(v, v);
    }
}

#[test]
fn a_pattern_of_a_pattern_of_a_pattern_stays_small() {
    let mut c = canvas(64, 64);
    for i in 0..100 {
        let own = c.snapshot().unwrap();
        let ctx = c.context();
        let pattern = ctx.create_pattern(&own, "repeat").unwrap();
        ctx.set_fill_style(Style::Pattern(pattern));
        ctx.fill_rect(0.0, 0.0, 64.0, 64.0);
        ctx.set_fill_style_text("red");
        ctx.fill_rect(f64::from(i % 64), 0.0, 1.0, 64.0);
    }
    assert_eq!(pixel(c.context(), 10, 10), [255, 0, 0, 255]);
    assert!(c.limits().budget.used_bytes() < 64 * 64 * 4 * 8);
}

#[test]
fn addition_of_paths_does_not_explode() {
    let mut path = Path2d::new();
    path.rect(0.0, 0.0, 1.0, 1.0);
    for _ in 0..64 {
        let copy = path.clone();
        path.add_path(&copy, &cove_canvas::DomMatrix::IDENTITY);
    }
    let mut c = canvas(4, 4);
    c.context().clip_path(&path, FillRule::NonZero);
}
