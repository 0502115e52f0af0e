//! Paths: what is inside, what is stroked, what gradients and patterns put there.

use std::f64::consts::{PI, TAU};

use cove_canvas::{DomMatrix, FillRule, Gradient, Path2d, Pattern, Repetition, Style};

use super::{BLUE, CLEAR, GREEN, RED, canvas, near, pixel};

#[test]
fn fill_rules_differ_where_subpaths_overlap() {
    for (rule, centre) in [(FillRule::NonZero, RED), (FillRule::EvenOdd, CLEAR)] {
        let mut c = canvas(60, 60);
        let ctx = c.context();
        ctx.set_fill_style_text("red");
        ctx.rect(0.0, 0.0, 60.0, 60.0);
        ctx.rect(20.0, 20.0, 20.0, 20.0);
        ctx.fill(rule);
        assert_eq!(pixel(ctx, 30, 30), centre, "{rule:?}");
        assert_eq!(pixel(ctx, 5, 5), RED, "{rule:?}");
    }
}

/// SVG path data and a point that must be inside or outside of it.
#[test]
fn svg_paths_are_read() {
    for (data, x, y, inside) in [
        ("M10 10 H50 V50 H10 Z", 30.0, 30.0, true),
        ("m10,10 h40 v40 h-40 z", 30.0, 30.0, true),
        ("M10 10 L50 10 L50 50", 45.0, 20.0, true),
        ("M10 10 L50 10 L50 50", 15.0, 40.0, false),
        ("M30 10 A20 20 0 1 1 29.9 10 Z", 30.0, 30.0, true),
        ("M10 30 Q30 -10 50 30 T 90 30", 30.0, 15.0, true),
        ("M10 30 C10 0 50 0 50 30 S 90 60 90 30", 30.0, 15.0, true),
        ("M10 10 H50 V50 H10 Z oops M0 0 H99 V99 H0 Z", 80.0, 80.0, false),
        ("L 10 10", 5.0, 5.0, false),
        ("M10-10.5.5.5", 10.0, 0.0, false),
        ("M0 0a25,25 0 0130,30 25,25 0 0 1-60 0", 0.0, 20.0, true),
    ] {
        let mut c = canvas(100, 100);
        let path = Path2d::from_svg(data);
        assert_eq!(c.context().is_point_in_path_of(&path, x, y, FillRule::NonZero), inside, "{data}");
    }
}

#[test]
fn strokes_have_caps_and_joins() {
    let mut c = canvas(100, 60);
    let ctx = c.context();
    ctx.set_line_width(10.0);
    for (cap, y, reaches) in [("butt", 10.0, false), ("round", 30.0, true), ("square", 50.0, true)] {
        ctx.set_line_cap(cap);
        ctx.begin_path();
        ctx.move_to(20.0, y);
        ctx.line_to(60.0, y);
        ctx.stroke();
        assert_eq!(pixel(ctx, 62, y as i32)[3] > 200, reaches, "{cap}");
    }
    assert!(!ctx.is_point_in_stroke(70.0, 50.0));
    assert!(ctx.is_point_in_stroke(64.0, 54.0));
}

#[test]
fn dashes_leave_gaps() {
    let mut c = canvas(100, 20);
    let ctx = c.context();
    ctx.set_line_width(10.0);
    ctx.set_line_dash(&[20.0, 10.0]);
    ctx.set_line_dash_offset(0.0);
    ctx.begin_path();
    ctx.move_to(0.0, 10.0);
    ctx.line_to(100.0, 10.0);
    ctx.stroke();
    let ink: Vec<bool> = [5, 25, 40, 55, 70, 85].iter().map(|x| pixel(ctx, *x, 10)[3] > 0).collect();
    assert_eq!(ink, [true, false, true, false, true, false]);
    ctx.set_line_dash(&[5.0]);
    assert_eq!(ctx.line_dash(), [5.0, 5.0]);
    ctx.set_line_dash(&[-1.0]);
    assert_eq!(ctx.line_dash(), [5.0, 5.0]);
}

#[test]
fn negative_radii_are_refused_by_name() {
    let mut c = canvas(10, 10);
    let ctx = c.context();
    assert_eq!(ctx.arc(0.0, 0.0, -1.0, 0.0, 1.0, false).unwrap_err().name(), "IndexSizeError");
    assert_eq!(ctx.arc_to(0.0, 0.0, 1.0, 1.0, -1.0).unwrap_err().name(), "IndexSizeError");
    assert_eq!(Gradient::radial([0.0, 0.0, -1.0, 0.0, 0.0, 1.0]).unwrap_err().name(), "IndexSizeError");
    assert_eq!(Gradient::linear(f64::NAN, 0.0, 0.0, 0.0).unwrap_err().name(), "TypeError");
    let g = Gradient::linear(0.0, 0.0, 1.0, 1.0).unwrap();
    assert_eq!(g.add_color_stop(2.0, "red").unwrap_err().name(), "IndexSizeError");
    assert_eq!(g.add_color_stop(0.5, "reddish").unwrap_err().name(), "SyntaxError");
    assert!(ctx.arc(f64::NAN, 0.0, -1.0, 0.0, 1.0, false).is_ok());
}

#[test]
fn gradients_run_and_grow_after_they_are_set() {
    let mut c = canvas(100, 100);
    let ctx = c.context();
    let g = ctx.create_linear_gradient(0.0, 0.0, 100.0, 0.0).unwrap();
    g.add_color_stop(0.0, "red").unwrap();
    ctx.set_fill_style(Style::Gradient(g.clone()));
    ctx.fill_rect(0.0, 0.0, 100.0, 100.0);
    assert_eq!(pixel(ctx, 99, 50), RED);
    g.add_color_stop(1.0, "blue").unwrap();
    ctx.fill_rect(0.0, 0.0, 100.0, 100.0);
    near(ctx, 50, 50, [127, 0, 128, 255], 3);
    near(ctx, 0, 50, [254, 0, 1, 255], 2);
    let r = ctx.create_radial_gradient([50.0, 50.0, 0.0, 50.0, 50.0, 50.0]).unwrap();
    r.add_color_stop(0.0, "lime").unwrap();
    r.add_color_stop(1.0, "red").unwrap();
    ctx.set_fill_style(Style::Gradient(r));
    ctx.fill_rect(0.0, 0.0, 100.0, 100.0);
    near(ctx, 50, 50, GREEN, 6);
    assert_eq!(pixel(ctx, 0, 0), RED);
    let k = ctx.create_conic_gradient(0.0, 50.0, 50.0).unwrap();
    for (at, color) in [(0.0, "red"), (0.5, "red"), (0.5, "blue"), (1.0, "blue")] {
        k.add_color_stop(at, color).unwrap();
    }
    ctx.set_fill_style(Style::Gradient(k));
    ctx.fill_rect(0.0, 0.0, 100.0, 100.0);
    assert_eq!(pixel(ctx, 50, 80), RED);
    assert_eq!(pixel(ctx, 50, 20), BLUE);
}

#[test]
fn patterns_repeat_as_told() {
    let mut tile = canvas(4, 4);
    tile.context().set_fill_style_text("red");
    tile.context().fill_rect(0.0, 0.0, 4.0, 4.0);
    let image = tile.snapshot().unwrap();
    for (how, right, below, both) in [
        ("repeat", true, true, true),
        ("repeat-x", true, false, false),
        ("repeat-y", false, true, false),
        ("no-repeat", false, false, false),
    ] {
        let mut c = canvas(20, 20);
        let ctx = c.context();
        let pattern = ctx.create_pattern(&image, how).unwrap();
        ctx.set_fill_style(Style::Pattern(pattern));
        ctx.fill_rect(0.0, 0.0, 20.0, 20.0);
        let ink = |x: i32, y: i32| pixel(ctx, x, y)[3] == 255;
        assert_eq!((ink(1, 1), ink(10, 1), ink(1, 10), ink(10, 10)), (true, right, below, both), "{how}");
    }
    assert_eq!(Repetition::parse("Repeat").unwrap_err().name(), "SyntaxError");
    // The canvas may change afterwards: the pattern keeps what it saw.
    let pattern = Pattern::new(&image, Repetition::Repeat);
    tile.context().clear_rect(0.0, 0.0, 4.0, 4.0);
    pattern.set_transform(&DomMatrix::from_2d(1.0, 0.0, 0.0, 1.0, 2.0, 2.0));
    let mut c = canvas(8, 8);
    c.context().set_fill_style(Style::Pattern(pattern));
    c.context().fill_rect(0.0, 0.0, 8.0, 8.0);
    assert_eq!(pixel(c.context(), 4, 4), RED);
}

#[test]
fn matrices_compute() {
    let m = DomMatrix::parse("translate(10px, 20px) rotate(90deg) scale(2)").unwrap();
    assert_eq!(m.to_2d(), [0.0, 2.0, -2.0, 0.0, 10.0, 20.0]);
    assert_eq!(m.transform_point([1.0, 0.0, 0.0, 1.0]), [10.0, 22.0, 0.0, 1.0]);
    let back = m.multiply(&m.inverse());
    for (got, want) in back.m.iter().zip(DomMatrix::IDENTITY.m) {
        assert!((got - want).abs() < 1e-12);
    }
    let deep = DomMatrix::parse("rotateX(45deg) translateZ(3px)").unwrap();
    assert!(!deep.is_2d);
    let flat = deep.multiply(&deep.inverse());
    assert!(flat.m.iter().zip(DomMatrix::IDENTITY.m).all(|(a, b)| (a - b).abs() < 1e-12), "{flat:?}");
    assert!(DomMatrix::from_2d(0.0, 0.0, 0.0, 0.0, 0.0, 0.0).inverse().m.iter().all(|v| v.is_nan()));
    for bad in ["translate(1em)", "rotate(10)", "scale()", "blah(1)", "matrix(1,2,3)"] {
        assert_eq!(DomMatrix::parse(bad).unwrap_err().name(), "SyntaxError", "{bad}");
    }
    assert_eq!(DomMatrix::IDENTITY.to_css().unwrap(), "matrix(1, 0, 0, 1, 0, 0)");
}

#[test]
fn arcs_turn_the_way_they_are_told() {
    for (start, end, ccw, point, inside) in [
        (0.0, PI, false, (50.0, 70.0), true),
        (0.0, PI, true, (50.0, 70.0), false),
        (0.0, TAU, true, (50.0, 70.0), true),
        (TAU, 0.0, false, (50.0, 30.0), true),
        (0.0, 7.0 * TAU, false, (50.0, 30.0), true),
    ] {
        let mut path = Path2d::new();
        path.arc(50.0, 50.0, 40.0, start, end, ccw).unwrap();
        let mut c = canvas(1, 1);
        let hit = c.context().is_point_in_path_of(&path, point.0, point.1, FillRule::NonZero);
        assert_eq!(hit, inside, "{start} {end} {ccw}");
    }
}
