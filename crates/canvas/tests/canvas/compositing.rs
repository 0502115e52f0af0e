//! Compositing, blending, shadows, filters, clips.

use std::f64::consts::TAU;

use cove_canvas::{CompositeOp, FillRule};

use super::{BLUE, CLEAR, GREEN, RED, canvas, near, pixel};

/// Red square over blue square, each half of the other: outside both, only blue, both, only red.
#[test]
fn every_mode_composites_as_the_standard_says() {
    type Pixel = [u8; 4];
    let table: &[(&str, Pixel, Pixel, Pixel)] = &[
        ("source-over", BLUE, RED, RED),
        ("source-in", CLEAR, RED, CLEAR),
        ("source-out", CLEAR, CLEAR, RED),
        ("source-atop", BLUE, RED, CLEAR),
        ("destination-over", BLUE, BLUE, RED),
        ("destination-in", CLEAR, BLUE, CLEAR),
        ("destination-out", BLUE, CLEAR, CLEAR),
        ("destination-atop", CLEAR, BLUE, RED),
        ("lighter", BLUE, [255, 0, 255, 255], RED),
        ("copy", CLEAR, RED, RED),
        ("xor", BLUE, CLEAR, RED),
        ("multiply", BLUE, [0, 0, 0, 255], RED),
        ("screen", BLUE, [255, 0, 255, 255], RED),
        ("overlay", BLUE, [0, 0, 255, 255], RED),
        ("darken", BLUE, [0, 0, 0, 255], RED),
        ("lighten", BLUE, [255, 0, 255, 255], RED),
        ("color-dodge", BLUE, [0, 0, 255, 255], RED),
        ("color-burn", BLUE, [0, 0, 255, 255], RED),
        ("hard-light", BLUE, [255, 0, 0, 255], RED),
        ("soft-light", BLUE, [0, 0, 255, 255], RED),
        ("difference", BLUE, [255, 0, 255, 255], RED),
        ("exclusion", BLUE, [255, 0, 255, 255], RED),
        ("hue", BLUE, [93, 0, 0, 255], RED),
        ("saturation", BLUE, [0, 0, 255, 255], RED),
        ("color", BLUE, [93, 0, 0, 255], RED),
        ("luminosity", BLUE, [54, 54, 255, 255], RED),
    ];
    assert_eq!(table.len(), CompositeOp::all().count());
    for (mode, only_blue, both, only_red) in table {
        let mut c = canvas(40, 40);
        let ctx = c.context();
        ctx.set_fill_style_text("blue");
        ctx.fill_rect(0.0, 0.0, 20.0, 20.0);
        ctx.set_global_composite_operation(mode);
        assert_eq!(ctx.global_composite_operation(), *mode);
        ctx.set_fill_style_text("red");
        ctx.fill_rect(10.0, 10.0, 20.0, 20.0);
        for (x, y, want) in [(5, 5, *only_blue), (15, 15, *both), (25, 25, *only_red), (35, 35, CLEAR)] {
            let got = pixel(ctx, x, y);
            let fine = got.iter().zip(want).all(|(g, w)| g.abs_diff(w) <= 2);
            assert!(fine, "{mode} at ({x}, {y}): {got:?}, want {want:?}");
        }
    }
}

#[test]
fn unbounded_modes_stop_at_the_clip() {
    let mut c = canvas(40, 40);
    let ctx = c.context();
    ctx.set_fill_style_text("blue");
    ctx.fill_rect(0.0, 0.0, 40.0, 40.0);
    ctx.begin_path();
    ctx.rect(0.0, 0.0, 20.0, 40.0);
    ctx.clip(FillRule::NonZero);
    ctx.set_global_composite_operation("copy");
    ctx.set_fill_style_text("red");
    ctx.fill_rect(5.0, 5.0, 10.0, 10.0);
    assert_eq!(pixel(ctx, 10, 10), RED);
    assert_eq!(pixel(ctx, 10, 30), CLEAR);
    assert_eq!(pixel(ctx, 30, 30), BLUE);
}

#[test]
fn clips_intersect_and_come_back() {
    let mut c = canvas(100, 100);
    let ctx = c.context();
    ctx.save();
    ctx.begin_path();
    ctx.arc(50.0, 50.0, 40.0, 0.0, TAU, false).unwrap();
    ctx.clip(FillRule::NonZero);
    ctx.begin_path();
    ctx.rect(50.0, 0.0, 50.0, 100.0);
    ctx.clip(FillRule::NonZero);
    ctx.set_fill_style_text("lime");
    ctx.fill_rect(0.0, 0.0, 100.0, 100.0);
    for (x, y, want) in [(70, 50, GREEN), (30, 50, CLEAR), (95, 5, CLEAR), (85, 50, GREEN)] {
        assert_eq!(pixel(ctx, x, y), want, "({x}, {y})");
    }
    ctx.restore();
    ctx.fill_rect(0.0, 0.0, 1.0, 1.0);
    assert_eq!(pixel(ctx, 0, 0), [0, 0, 0, 255]);
}

#[test]
fn shadows_fall_where_they_are_sent() {
    let mut c = canvas(100, 100);
    let ctx = c.context();
    ctx.set_shadow_color("blue");
    ctx.set_shadow_offset_x(30.0);
    ctx.set_fill_style_text("red");
    ctx.fill_rect(10.0, 10.0, 20.0, 20.0);
    assert_eq!(pixel(ctx, 20, 20), RED);
    assert_eq!(pixel(ctx, 50, 20), BLUE);
    // A shape that is not on the canvas still casts a shadow onto it.
    ctx.set_shadow_offset_x(300.0);
    ctx.fill_rect(-290.0, 60.0, 20.0, 20.0);
    assert_eq!(pixel(ctx, 20, 70), BLUE);
    // Blur spreads and fades.
    ctx.set_shadow_offset_x(40.0);
    ctx.set_shadow_blur(10.0);
    ctx.set_shadow_color("black");
    ctx.fill_rect(20.0, 60.0, 20.0, 20.0);
    let (near_edge, far) = (pixel(ctx, 81, 70)[3], pixel(ctx, 88, 70)[3]);
    assert!(near_edge > 60 && near_edge < 200 && far < near_edge, "{near_edge} {far}");
}

#[test]
fn filters_change_colours() {
    for (filter, want) in [
        ("none", [200, 100, 50, 255]),
        ("grayscale(1)", [118, 118, 118, 255]),
        ("invert(100%)", [55, 155, 205, 255]),
        ("brightness(50%)", [100, 50, 25, 255]),
        ("contrast(0)", [128, 128, 128, 255]),
        ("opacity(50%)", [200, 100, 50, 128]),
        ("sepia(1)", [165, 147, 115, 255]),
        ("saturate(0)", [118, 118, 118, 255]),
        ("hue-rotate(0deg)", [200, 100, 50, 255]),
        ("invert(1) invert(1)", [200, 100, 50, 255]),
    ] {
        let mut c = canvas(20, 20);
        let ctx = c.context();
        ctx.set_filter(filter);
        assert_eq!(ctx.filter(), filter);
        ctx.set_fill_style_text("rgb(200, 100, 50)");
        ctx.fill_rect(0.0, 0.0, 20.0, 20.0);
        let got = pixel(ctx, 10, 10);
        assert!(got.iter().zip(want).all(|(g, w)| g.abs_diff(w) <= 2), "{filter}: {got:?}, want {want:?}");
    }
}

#[test]
fn blur_and_drop_shadow_reach_beyond_the_shape() {
    let mut c = canvas(60, 60);
    let ctx = c.context();
    ctx.set_filter("blur(4px)");
    ctx.set_fill_style_text("black");
    ctx.fill_rect(20.0, 20.0, 20.0, 20.0);
    let (outside, centre) = (pixel(ctx, 17, 30)[3], pixel(ctx, 30, 30)[3]);
    assert!(outside > 20 && outside < 130 && centre > 200, "{outside} {centre}");
    ctx.reset();
    ctx.set_filter("drop-shadow(25px 0 0 blue)");
    ctx.set_fill_style_text("red");
    ctx.fill_rect(5.0, 5.0, 10.0, 10.0);
    near(ctx, 10, 10, RED, 0);
    near(ctx, 35, 10, BLUE, 0);
    ctx.set_filter("nonsense(3)");
    assert_eq!(ctx.filter(), "drop-shadow(25px 0 0 blue)");
}
