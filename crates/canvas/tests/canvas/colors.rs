//! Colours in, colours out.

use cove_canvas::{StyleValue, parse_color};

use super::canvas;

/// What a colour serialises to; `None` means it is refused and the attribute keeps its value.
#[test]
fn colours_serialise_as_scripts_expect() {
    for (text, want) in [
        ("#abc", Some("#aabbcc")),
        ("#ABCDEF80", Some("rgba(171, 205, 239, 0.5)")),
        ("red", Some("#ff0000")),
        ("LightGoldenRodYellow", Some("#fafad2")),
        ("grey", Some("#808080")),
        ("darkslategrey", Some("#2f4f4f")),
        ("rebeccapurple", Some("#663399")),
        ("transparent", Some("rgba(0, 0, 0, 0)")),
        ("currentColor", Some("#000000")),
        ("rgb(1,2,3)", Some("#010203")),
        ("rgb(1 2 3 / 50%)", Some("rgba(1, 2, 3, 0.5)")),
        ("rgb(300, -20, 0)", Some("#ff0000")),
        ("rgba(0,0,0,.499)", Some("rgba(0, 0, 0, 0.498)")),
        ("hsl(120 100% 50%)", Some("#00ff00")),
        ("hsl(120deg, 100%, 25%)", Some("#008000")),
        ("hwb(0 0% 0%)", Some("#ff0000")),
        ("color(display-p3 1 0 0)", Some("color(display-p3 1 0 0)")),
        ("oklch(0.5 0.1 120 / 0.5)", Some("oklch(0.5 0.1 120 / 0.5)")),
        ("lab(50% 20 30)", Some("lab(50 20 30)")),
        ("color-mix(in srgb, red, blue)", Some("color(srgb 0.5 0 0.5)")),
        ("color-mix(in srgb, red 25%, blue)", Some("color(srgb 0.25 0 0.75)")),
        ("rgb(from red b g r)", Some("color(srgb 0 0 1)")),
        ("rgb(from red calc(r / 2) 0 0)", Some("color(srgb 0.5 0 0)")),
        (" red ", Some("#ff0000")),
        ("", None),
        ("#12", None),
        ("#1234567", None),
        ("rgb(1, 2)", None),
        ("rgb(1, 2, 3,)", None),
        ("rgb(1 2, 3)", None),
        ("rgb(1%, 2, 3)", None),
        ("hsl(0, 100, 50)", None),
        ("red blue", None),
        ("darkbrown", None),
        ("url(x)", None),
    ] {
        assert_eq!(parse_color(text).map(|c| c.to_string()).as_deref(), want, "{text:?}");
    }
}

#[test]
fn an_invalid_colour_changes_nothing() {
    let mut c = canvas(1, 1);
    let ctx = c.context();
    ctx.set_fill_style_text("lime");
    ctx.set_fill_style_text("no colour");
    let StyleValue::Text(text) = ctx.fill_style() else { panic!("a colour is text") };
    assert_eq!(text, "#00ff00");
}

/// Deep nesting is refused rather than followed.
#[test]
fn nested_mixes_end_somewhere() {
    let mut text = "red".to_string();
    for _ in 0..50 {
        text = format!("color-mix(in srgb, {text}, blue)");
    }
    assert_eq!(parse_color(&text), None);
}
