//! CSS lengths in pixels.
//!
//! A canvas has no layout: `em`-like units need a font size from the caller, viewport units resolve against nothing.

/// Pixels in one unit of `unit`, given the font size that relative units refer to.
pub(crate) fn px_per_unit(unit: &str, font_size: f64) -> Option<f64> {
    Some(match unit {
        "px" => 1.0,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 96.0 / 25.4,
        "q" => 96.0 / 101.6,
        "em" => font_size,
        "rem" => 16.0,
        "ex" | "ch" => font_size * 0.5,
        "ic" | "cap" => font_size,
        "lh" => font_size * 1.2,
        _ => return None,
    })
}

/// Degrees in one unit of an angle.
pub(crate) fn degrees_per_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "deg" => 1.0,
        "grad" => 0.9,
        "rad" => 180.0 / std::f64::consts::PI,
        "turn" => 360.0,
        _ => return None,
    })
}
