//! Texts far longer than the canvas: what can be seen is drawn, the rest costs little, and widths are right.

use cove_canvas::{Canvas, Context2d};

use super::canvas;

const PHRASE: &str = "Lorem ipsum dolor ";

fn pixels(c: &mut Canvas) -> Vec<u8> {
    let (w, h) = (c.width().cast_signed(), c.height().cast_signed());
    c.context().get_image_data(0, 0, w, h, None).unwrap().data
}

/// Draws a long text and the part of it that can be seen; both must leave the same ink, at least a little of it.
#[track_caller]
fn check(part: &str, long: &str, draw: impl Fn(&mut Context2d, &str)) {
    let [long, part] = [long, part].map(|text| {
        let mut c = canvas(200, 60);
        c.context().set_font("20px sans-serif");
        draw(c.context(), text);
        pixels(&mut c)
    });
    let ink = part.iter().skip(3).step_by(4).filter(|a| **a > 40).count();
    let different = part.iter().zip(&long).filter(|(a, b)| a.abs_diff(**b) > 48).count();
    assert!(ink > 100, "only {ink} pixels of ink");
    // The start of a line that is anchored elsewhere may fall on another quarter of a pixel.
    assert!(different * 20 < part.len(), "{different} of {} differ", part.len());
}

#[test]
fn what_can_be_seen_is_drawn_wherever_it_is() {
    let (part, long) = (PHRASE.repeat(6), PHRASE.repeat(2000));
    check(&part, &long, |ctx, text| ctx.fill_text(text, 5.0, 40.0, None));
    check(&part, &long, |ctx, text| {
        ctx.set_text_align("right");
        ctx.fill_text(text, 195.0, 40.0, None);
    });
    check(&part, &long, |ctx, text| ctx.stroke_text(text, 5.0, 40.0, None));
    check(&part, &long, |ctx, text| {
        ctx.rotate(0.3);
        ctx.fill_text(text, 5.0, 10.0, None);
    });
    check(&part, &long, |ctx, text| {
        ctx.scale(-1.0, 1.0);
        ctx.fill_text(text, -190.0, 40.0, None);
    });
    check(&part, &long, |ctx, text| {
        ctx.set_shadow_color("black");
        ctx.set_shadow_offset_x(-5000.0);
        ctx.fill_text(text, 5005.0, 40.0, None);
    });
    check(&part, &long, |ctx, text| {
        ctx.set_filter("drop-shadow(-3000px 0 0 black)");
        ctx.fill_text(text, 3005.0, 40.0, None);
    });
    // Right to left: its end is what is seen.
    let (part, long) = ("שלום עולם ".repeat(8), "שלום עולם ".repeat(2000));
    check(&part, &long, |ctx, text| {
        ctx.set_direction("rtl");
        ctx.fill_text(text, 195.0, 40.0, None);
    });
}

#[test]
fn the_middle_of_a_long_text_is_its_middle() {
    let text = format!("{}MIDDLE{}", "i".repeat(5000), "i".repeat(5000));
    check("MIDDLE", &text, |ctx, text| {
        ctx.begin_path();
        ctx.rect(60.0, 0.0, 80.0, 60.0);
        ctx.clip(cove_canvas::FillRule::NonZero);
        ctx.set_text_align("center");
        ctx.fill_text(text, 100.0, 40.0, None);
    });
}

#[test]
fn long_widths_are_right() {
    let mut c = canvas(10, 10);
    let ctx = c.context();
    for font in ["20px monospace", "20px sans-serif"] {
        ctx.set_font(font);
        for text in ["x", "x ", "字", "é"] {
            // What one more of it adds, kerning and all.
            let one = ctx.measure_text(&text.repeat(21)).width - ctx.measure_text(&text.repeat(20)).width;
            let many = 100_000;
            let all = ctx.measure_text(&text.repeat(many)).width;
            assert!((all / many as f64 - one).abs() < 0.001, "{font} {text:?}: {} instead of {one}", all / many as f64);
        }
        let ink = ctx.measure_text(&"x".repeat(50_000));
        assert!((ink.actual_bounding_box_right - ink.width).abs() < 20.0);
    }
    // `maxWidth` squeezes all of it into the room that there is.
    let mut c = canvas(200, 60);
    c.context().set_font("20px monospace");
    c.context().fill_text(&"x".repeat(20_000), 0.0, 40.0, Some(200.0));
    assert!(pixels(&mut c).iter().skip(3).step_by(4).filter(|a| **a > 0).count() > 1000);
}

/// Whatever a word is made of, it is cut between characters and comes out whole.
#[test]
fn words_without_an_end_are_shaped_in_pieces() {
    let mut c = canvas(60, 60);
    let ctx = c.context();
    ctx.set_font("20px sans-serif");
    for (letter, many) in
        [("👨‍👩‍👧", 2000), ("e\u{301}", 4000), ("\u{301}", 6000), ("🇩🇪", 2000), ("ﷺ", 3000), ("\u{200d}", 6000)]
    {
        let text = letter.repeat(many);
        let (one, all) = (ctx.measure_text(letter).width, ctx.measure_text(&text).width);
        assert!(one == 0.0 || (all / one / many as f64 - 1.0).abs() < 0.01, "{letter}: {all} against {one} × {many}");
        ctx.fill_text(&text, 0.0, 40.0, None);
        ctx.stroke_text(&text, 0.0, 40.0, None);
        ctx.set_font_kerning("normal");
        ctx.fill_text(&text, 0.0, 40.0, None);
        ctx.set_font_kerning("auto");
    }
}
