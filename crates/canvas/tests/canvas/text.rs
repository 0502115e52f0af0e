//! Text, with the fonts built in: the same on every machine.

use std::sync::Arc;

use cove_canvas::fonts::FaceRecord;
use cove_canvas::{Canvas, CanvasLimits, Context2d, FontBook, FontIndex};

use super::{canvas, pixel};

fn width(ctx: &Context2d, text: &str) -> f64 {
    ctx.measure_text(text).width
}

/// Pixels of ink on the whole canvas.
fn ink(ctx: &Context2d, w: i32, h: i32) -> usize {
    ctx.get_image_data(0, 0, w, h, None).unwrap().data.as_chunks::<4>().0.iter().filter(|p| p[3] > 40).count()
}

#[test]
fn measures_follow_the_font_and_its_spacing() {
    let mut c = canvas(10, 10);
    let ctx = c.context();
    ctx.set_font("20px sans-serif");
    let plain = width(ctx, "Hello World");
    ctx.set_font("40px sans-serif");
    assert!((width(ctx, "Hello World") - 2.0 * plain).abs() < 0.01);
    ctx.set_font("20px sans-serif");
    ctx.set_letter_spacing("3px");
    assert!((width(ctx, "Hello World") - plain - 33.0).abs() < 1.5);
    ctx.set_letter_spacing("0px");
    ctx.set_word_spacing("5px");
    assert!((width(ctx, "Hello World") - plain - 5.0).abs() < 0.01);
    ctx.set_font("20px monospace");
    ctx.set_word_spacing("0px");
    assert!((width(ctx, "iiii") - width(ctx, "WWWW")).abs() < 0.01);
    let m = ctx.measure_text("xy");
    assert!(m.font_bounding_box_ascent > 10.0 && m.font_bounding_box_descent > 2.0);
    assert!(m.actual_bounding_box_ascent > 5.0 && m.actual_bounding_box_descent > 2.0, "{m:?}");
    assert!((m.em_height_ascent + m.em_height_descent - 20.0).abs() < 0.02);
    assert_eq!(width(ctx, ""), 0.0);
}

#[test]
fn alignment_and_baseline_move_the_ink() {
    for (align, x0, x1) in
        [("left", 100, 200), ("right", 0, 101), ("center", 50, 151), ("start", 100, 200), ("end", 0, 101)]
    {
        let mut c = canvas(200, 50);
        let ctx = c.context();
        ctx.set_font("20px monospace");
        ctx.set_text_align(align);
        ctx.fill_text("HHHHH", 100.0, 30.0, None);
        let all = ink(ctx, 200, 50);
        let data = ctx.get_image_data(x0, 0, x1 - x0, 50, None).unwrap().data;
        let there = data.as_chunks::<4>().0.iter().filter(|p| p[3] > 40).count();
        assert!(all > 50 && there == all, "{align}: {there} of {all}");
    }
    for (baseline, above) in [("top", false), ("hanging", false), ("bottom", true), ("alphabetic", true)] {
        let mut c = canvas(100, 100);
        let ctx = c.context();
        ctx.set_font("20px monospace");
        ctx.set_text_baseline(baseline);
        ctx.fill_text("HHHH", 10.0, 50.0, None);
        let upper = ctx
            .get_image_data(0, 0, 100, 50, None)
            .unwrap()
            .data
            .as_chunks::<4>()
            .0
            .iter()
            .filter(|p| p[3] > 40)
            .count();
        assert_eq!(upper * 2 > ink(ctx, 100, 100), above, "{baseline}");
    }
}

#[test]
fn max_width_condenses() {
    let mut c = canvas(300, 50);
    let ctx = c.context();
    ctx.set_font("30px sans-serif");
    ctx.fill_text("A long line of text", 0.0, 40.0, Some(60.0));
    assert!(ink(ctx, 300, 50) > 100);
    let right = ctx.get_image_data(62, 0, 238, 50, None).unwrap().data;
    assert!(right.as_chunks::<4>().0.iter().all(|p| p[3] == 0));
    ctx.reset();
    for nothing in [f64::NAN, 0.0, -5.0] {
        ctx.fill_text("nothing", 0.0, 40.0, Some(nothing));
    }
    ctx.fill_text("nothing", f64::INFINITY, 40.0, None);
    assert_eq!(ink(ctx, 300, 50), 0);
}

#[test]
fn bold_and_italic_are_made_up_where_there_are_none() {
    let mut c = canvas(200, 60);
    let ctx = c.context();
    let mut counts = Vec::new();
    for font in ["30px sans-serif", "bold 30px sans-serif", "italic 30px sans-serif"] {
        ctx.reset();
        ctx.set_font(font);
        ctx.fill_text("Hamburg", 5.0, 40.0, None);
        counts.push(ink(ctx, 200, 60));
    }
    assert!(counts[1] > counts[0] + counts[0] / 8, "{counts:?}");
    assert_ne!(counts[2], counts[0]);
}

#[test]
fn text_takes_any_paint_any_matrix_any_stroke() {
    let mut c = canvas(200, 200);
    let ctx = c.context();
    ctx.set_font("40px sans-serif");
    let g = ctx.create_linear_gradient(0.0, 0.0, 200.0, 0.0).unwrap();
    g.add_color_stop(0.0, "red").unwrap();
    g.add_color_stop(1.0, "blue").unwrap();
    ctx.set_fill_style(cove_canvas::Style::Gradient(g));
    ctx.fill_text("Gradient", 10.0, 40.0, None);
    assert!(ink(ctx, 200, 50) > 300);
    ctx.save();
    ctx.translate(30.0, 180.0);
    ctx.rotate(-0.8);
    ctx.fill_text("Turned", 0.0, 0.0, None);
    ctx.restore();
    assert!(ctx.get_image_data(0, 60, 200, 140, None).unwrap().data.iter().any(|b| *b > 0));
    let before = ink(ctx, 200, 200);
    ctx.set_stroke_style_text("black");
    ctx.stroke_text("Outline", 10.0, 100.0, None);
    assert!(ink(ctx, 200, 200) > before);
    ctx.set_shadow_color("black");
    ctx.set_shadow_blur(4.0);
    ctx.set_filter("blur(1px)");
    ctx.fill_text("Shadow", 10.0, 150.0, None);
    assert!(ctx.fault().is_none());
}

/// Right-to-left text, combining marks, joiners, and characters nobody has: drawn or not, never a panic.
#[test]
fn any_text_can_be_measured() {
    let mut c = canvas(50, 50);
    let ctx = c.context();
    for text in [
        "שלום עולם",
        "مرحبا",
        "e\u{301}\u{302}",
        "👩‍👩‍👧‍👦🏳️‍🌈",
        "\u{10ffff}\u{fffe}",
        "a\tb\nc\r\n",
        "\u{202e}abc",
        "한국어 日本語",
        "\0",
    ] {
        for direction in ["ltr", "rtl"] {
            ctx.set_direction(direction);
            let m = ctx.measure_text(text);
            assert!(m.width.is_finite(), "{text:?}");
            ctx.fill_text(text, 10.0, 20.0, None);
        }
    }
}

#[test]
fn fonts_come_from_an_index_and_a_source() {
    struct Counting(std::cell::Cell<u32>);
    impl cove_canvas::FontSource for Counting {
        fn open(&self, _: u32) -> Option<cove_canvas::FontBytes> {
            self.0.set(self.0.get() + 1);
            Some(Arc::new(epaint_default_fonts::HACK_REGULAR))
        }
    }
    let mut index = FontIndex::default();
    assert_eq!(index.add("somewhere/hack.ttf", epaint_default_fonts::HACK_REGULAR), 1);
    let face = &index.faces[0];
    assert!(index.covers(face, 'A') && !index.covers(face, '語'));
    let json = serde_json::to_string(&index).unwrap();
    let back: FontIndex = serde_json::from_str(&json).unwrap();
    assert_eq!(back, index);
    let source = std::rc::Rc::new(Counting(std::cell::Cell::new(0)));
    let book = FontBook::from_index(index, source.clone());
    let mut c = Canvas::with_fonts(50, 20, &CanvasLimits::default(), &book).unwrap();
    assert_eq!(source.0.get(), 0, "nothing is opened before text is drawn");
    c.context().set_font("16px Hack");
    c.context().fill_text("abc", 0.0, 15.0, None);
    assert_eq!(source.0.get(), 1);
    assert!(book.has_family("hack") && !book.has_family("no such family"));
    let bytes: cove_canvas::FontBytes = Arc::new(epaint_default_fonts::UBUNTU_LIGHT);
    let names = book.add_as(Some("My Font"), &bytes).unwrap();
    assert_eq!(names, ["my font"]);
    assert!(book.has_family("my font"));
    let junk: cove_canvas::FontBytes = Arc::new(b"junk".to_vec());
    assert!(book.add(&junk).is_err());
    assert!(FaceRecord::read(b"junk", 0).is_empty());
}

/// The same text drawn twice is the same picture: remembered glyphs equal fresh ones.
#[test]
fn remembered_glyphs_equal_fresh_ones() {
    let draw = |warm: bool| {
        let mut c = canvas(200, 60);
        let ctx = c.context();
        ctx.set_font("17px sans-serif");
        if warm {
            ctx.fill_text("Remember me 123", 3.3, 30.7, None);
            ctx.clear_rect(0.0, 0.0, 200.0, 60.0);
        }
        ctx.fill_text("Remember me 123", 3.3, 30.7, None);
        ctx.get_image_data(0, 0, 200, 60, None).unwrap().data
    };
    assert_eq!(draw(false), draw(true));
    let mut c = canvas(4, 4);
    assert_eq!(pixel(c.context(), 0, 0), [0; 4]);
}
