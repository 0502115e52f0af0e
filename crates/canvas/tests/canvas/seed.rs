//! The seven drawing tests of the canvas contract.

use std::f64::consts::TAU;

use cove_canvas::FillRule;

use super::{BLUE, CLEAR, RED, canvas, near, pixel};

#[test]
fn a_red_rectangle_is_red_inside_and_clear_outside() {
    let mut c = canvas(200, 200);
    let ctx = c.context();
    ctx.set_fill_style_text("red");
    ctx.fill_rect(10.0, 10.0, 100.0, 100.0);
    ctx.stroke_rect(150.5, 150.5, 20.0, 20.0);
    for (x, y, want) in
        [(10, 10, RED), (60, 60, RED), (109, 109, RED), (110, 110, CLEAR), (9, 9, CLEAR), (150, 160, [0, 0, 0, 255])]
    {
        assert_eq!(pixel(ctx, x, y), want, "({x}, {y})");
    }
}

#[test]
fn a_blue_circle_is_round() {
    let mut c = canvas(200, 200);
    let ctx = c.context();
    ctx.set_fill_style_text("blue");
    ctx.begin_path();
    ctx.arc(100.0, 100.0, 50.0, 0.0, TAU, false).unwrap();
    ctx.fill(FillRule::NonZero);
    for (x, y, want) in
        [(100, 100, BLUE), (52, 100, BLUE), (100, 148, BLUE), (62, 62, CLEAR), (48, 100, CLEAR), (134, 134, BLUE)]
    {
        assert_eq!(pixel(ctx, x, y), want, "({x}, {y})");
    }
}

#[test]
fn text_leaves_ink_where_it_stands_and_nowhere_else() {
    let mut c = canvas(300, 100);
    let ctx = c.context();
    ctx.set_font("20px Arial");
    ctx.set_fill_style_text("black");
    ctx.fill_text("Hello Canvas", 50.0, 50.0, None);
    let data = ctx.get_image_data(0, 0, 300, 100, None).unwrap().data;
    let ink = |x: usize, y: usize| data[(y * 300 + x) * 4 + 3] > 0;
    let inside = (30..58).flat_map(|y| (48..200).map(move |x| (x, y))).filter(|(x, y)| ink(*x, *y)).count();
    let all = (0..100).flat_map(|y| (0..300).map(move |x| (x, y))).filter(|(x, y)| ink(*x, *y)).count();
    assert!(inside > 400, "{inside} pixels of ink");
    assert_eq!(inside, all);
}

#[test]
fn a_green_diagonal_runs_from_end_to_end() {
    let mut c = canvas(200, 200);
    let ctx = c.context();
    ctx.set_stroke_style_text("green");
    ctx.set_line_width(2.0);
    ctx.begin_path();
    ctx.move_to(10.0, 10.0);
    ctx.line_to(190.0, 190.0);
    ctx.stroke();
    for at in [20, 100, 180] {
        near(ctx, at, at, [0, 128, 0, 255], 2);
    }
    assert_eq!(pixel(ctx, 100, 110), CLEAR);
    assert_eq!(pixel(ctx, 195, 195), CLEAR);
}

#[test]
fn several_drawings_share_one_picture() {
    let mut c = canvas(400, 300);
    let ctx = c.context();
    ctx.set_fill_style_text("lightgray");
    ctx.fill_rect(0.0, 0.0, 400.0, 300.0);
    ctx.set_fill_style_text("red");
    ctx.fill_rect(50.0, 50.0, 100.0, 100.0);
    ctx.set_fill_style_text("blue");
    ctx.begin_path();
    ctx.arc(250.0, 150.0, 50.0, 0.0, TAU, false).unwrap();
    ctx.fill(FillRule::NonZero);
    ctx.set_fill_style_text("black");
    ctx.set_font("16px Arial");
    ctx.fill_text("Complex Drawing", 100.0, 250.0, None);
    assert_eq!(pixel(ctx, 5, 5), [211, 211, 211, 255]);
    assert_eq!(pixel(ctx, 100, 100), RED);
    assert_eq!(pixel(ctx, 250, 150), BLUE);
    let data = ctx.get_image_data(100, 235, 130, 20, None).unwrap().data;
    let dark = data.as_chunks::<4>().0.iter().filter(|p| p[0] < 100).count();
    assert!(dark > 150, "{dark} dark pixels of text");
}

#[test]
fn colours_widths_and_transparency_are_honoured() {
    let mut c = canvas(200, 200);
    let ctx = c.context();
    ctx.set_fill_style_text("rgba(255, 0, 0, 0.5)");
    ctx.fill_rect(50.0, 50.0, 100.0, 100.0);
    ctx.set_stroke_style_text("#00FF00");
    ctx.set_line_width(3.0);
    ctx.stroke_rect(10.0, 10.0, 180.0, 180.0);
    assert_eq!(pixel(ctx, 100, 100), [255, 0, 0, 128]);
    assert_eq!(pixel(ctx, 10, 100), [0, 255, 0, 255]);
    assert_eq!(pixel(ctx, 30, 100), CLEAR);
    near(ctx, 8, 100, [0, 255, 0, 128], 1);
}

#[test]
fn the_export_is_a_png_of_the_right_size() {
    let mut c = canvas(100, 100);
    c.context().set_fill_style_text("white");
    c.context().fill_rect(0.0, 0.0, 100.0, 100.0);
    let png = c.to_png().unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert!(png.len() < 10_000, "{} bytes", png.len());
    let back = cove_canvas::ImageBitmap::decode(&png, c.limits()).unwrap();
    assert_eq!((back.width(), back.height()), (100, 100));
    assert!(back.to_rgba().iter().all(|b| *b == 255));
}
