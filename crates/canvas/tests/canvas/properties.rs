//! Properties that hold for any canvas and any drawing.

use cove_canvas::{Canvas, CanvasLimits, CompositeOp, FillRule, ImageBitmap, Radius, Style};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Op {
    FillRect([f64; 4]),
    StrokeRect([f64; 4]),
    ClearRect([f64; 4]),
    Arc([f64; 3], bool),
    Curve([f64; 6]),
    RoundRect([f64; 4], f64),
    Text(String, f64, f64),
    Color(u8, u8, u8, f64),
    Gradient([f64; 4]),
    Mode(usize),
    Alpha(f64),
    Width(f64),
    Dash(Vec<f64>),
    Shadow(f64, f64, f64),
    Filter(usize),
    Turn(f64),
    Scale(f64, f64),
    Move(f64, f64),
    Save,
    Restore,
    Clip([f64; 3]),
    DrawSelf(f64, f64, f64),
}

fn op() -> impl Strategy<Value = Op> {
    let n = || -50.0..250.0f64;
    prop_oneof![
        [n(), n(), n(), n()].prop_map(Op::FillRect),
        [n(), n(), n(), n()].prop_map(Op::StrokeRect),
        [n(), n(), n(), n()].prop_map(Op::ClearRect),
        ([n(), n(), 0.0..100.0], any::<bool>()).prop_map(|(a, b)| Op::Arc(a, b)),
        [n(), n(), n(), n(), n(), n()].prop_map(Op::Curve),
        ([n(), n(), n(), n()], 0.0..30.0).prop_map(|(a, r)| Op::RoundRect(a, r)),
        ("\\PC{0,12}", n(), n()).prop_map(|(t, x, y)| Op::Text(t, x, y)),
        (any::<u8>(), any::<u8>(), any::<u8>(), 0.0..=1.0).prop_map(|(r, g, b, a)| Op::Color(r, g, b, a)),
        [n(), n(), n(), n()].prop_map(Op::Gradient),
        (0..26usize).prop_map(Op::Mode),
        (0.0..=1.0).prop_map(Op::Alpha),
        (0.1..20.0).prop_map(Op::Width),
        proptest::collection::vec(0.0..20.0, 0..4).prop_map(Op::Dash),
        (0.0..12.0, -20.0..20.0, -20.0..20.0).prop_map(|(a, b, c)| Op::Shadow(a, b, c)),
        (0..6usize).prop_map(Op::Filter),
        (-7.0..7.0).prop_map(Op::Turn),
        (-3.0..3.0, -3.0..3.0).prop_map(|(a, b)| Op::Scale(a, b)),
        (n(), n()).prop_map(|(a, b)| Op::Move(a, b)),
        Just(Op::Save),
        Just(Op::Restore),
        [n(), n(), 10.0..150.0].prop_map(Op::Clip),
        (n(), n(), 0.2..3.0).prop_map(|(a, b, c)| Op::DrawSelf(a, b, c)),
    ]
}

const FILTERS: [&str; 6] =
    ["none", "blur(2px)", "grayscale(1)", "drop-shadow(3px 3px 2px red)", "invert(0.5) blur(1px)", "opacity(0.3)"];

fn apply(c: &mut Canvas, op: Op) {
    let own = c.snapshot().unwrap();
    let ctx = c.context();
    match op {
        Op::FillRect([x, y, w, h]) => ctx.fill_rect(x, y, w, h),
        Op::StrokeRect([x, y, w, h]) => ctx.stroke_rect(x, y, w, h),
        Op::ClearRect([x, y, w, h]) => ctx.clear_rect(x, y, w, h),
        Op::Arc([x, y, r], ccw) => {
            ctx.begin_path();
            ctx.arc(x, y, r, 0.3, 5.0, ccw).unwrap();
            ctx.fill(FillRule::NonZero);
        }
        Op::Curve([a, b, d, e, x, y]) => {
            ctx.begin_path();
            ctx.move_to(a, b);
            ctx.bezier_curve_to(d, e, x, y, a, e);
            ctx.stroke();
        }
        Op::RoundRect([x, y, w, h], r) => {
            ctx.begin_path();
            ctx.round_rect(x, y, w, h, &[Radius { x: r, y: r }]).unwrap();
            ctx.fill(FillRule::EvenOdd);
        }
        Op::Text(text, x, y) => ctx.fill_text(&text, x, y, None),
        Op::Color(r, g, b, a) => ctx.set_fill_style_text(&format!("rgba({r}, {g}, {b}, {a})")),
        Op::Gradient([x0, y0, x1, y1]) => {
            let g = ctx.create_linear_gradient(x0, y0, x1, y1).unwrap();
            g.add_color_stop(0.0, "red").unwrap();
            g.add_color_stop(1.0, "rgba(0, 0, 255, 0.3)").unwrap();
            ctx.set_fill_style(Style::Gradient(g));
        }
        Op::Mode(i) => ctx.set_global_composite_operation(CompositeOp::all().nth(i).unwrap().name()),
        Op::Alpha(a) => ctx.set_global_alpha(a),
        Op::Width(w) => ctx.set_line_width(w),
        Op::Dash(d) => ctx.set_line_dash(&d),
        Op::Shadow(blur, x, y) => {
            ctx.set_shadow_color("rgba(0, 0, 0, 0.6)");
            ctx.set_shadow_blur(blur);
            ctx.set_shadow_offset_x(x);
            ctx.set_shadow_offset_y(y);
        }
        Op::Filter(i) => ctx.set_filter(FILTERS[i]),
        Op::Turn(a) => ctx.rotate(a),
        Op::Scale(x, y) => ctx.scale(x, y),
        Op::Move(x, y) => ctx.translate(x, y),
        Op::Save => ctx.save(),
        Op::Restore => ctx.restore(),
        Op::Clip([x, y, r]) => {
            ctx.begin_path();
            ctx.arc(x, y, r, 0.0, 7.0, false).unwrap();
            ctx.clip(FillRule::NonZero);
        }
        Op::DrawSelf(x, y, scale) => {
            let (w, h) = (f64::from(own.width()) * scale, f64::from(own.height()) * scale);
            ctx.draw_image_scaled(&own, x, y, w, h).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// The picture has the size that was asked for.
    #[test]
    fn the_export_has_the_canvas_size(w in 1u32..300, h in 1u32..300) {
        let c = super::canvas(w, h);
        let image = ImageBitmap::decode(&c.to_png().unwrap(), &CanvasLimits::default()).unwrap();
        prop_assert_eq!((image.width(), image.height()), (w, h));
    }

    /// Any drawing ends in a valid picture, and colours never exceed their alpha.
    #[test]
    fn any_drawing_exports(ops in proptest::collection::vec(op(), 1..24)) {
        let mut c = super::canvas(120, 90);
        for op in ops {
            apply(&mut c, op);
        }
        prop_assert!(c.context().fault().is_none());
        let data = c.context().get_image_data(0, 0, 120, 90, None).unwrap().data;
        let image = ImageBitmap::decode(&c.to_png().unwrap(), &CanvasLimits::default()).unwrap();
        prop_assert_eq!(image.to_rgba(), data);
    }

    /// Colours that were parsed parse again to themselves.
    #[test]
    fn colours_round_trip(r: u8, g: u8, b: u8, a: u8) {
        let color = cove_canvas::CssColor::from_rgba8(r, g, b, a);
        let again = cove_canvas::parse_color(&color.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), color.to_string());
    }

    /// No text whatsoever makes a parser panic.
    #[test]
    fn parsers_take_any_text(text in "\\PC{0,40}") {
        let mut c = super::canvas(1, 1);
        let ctx = c.context();
        ctx.set_font(&text);
        ctx.set_filter(&text);
        ctx.set_fill_style_text(&text);
        ctx.set_letter_spacing(&text);
        let _ = cove_canvas::Path2d::from_svg(&text);
        let _ = cove_canvas::DomMatrix::parse(&text);
    }
}
