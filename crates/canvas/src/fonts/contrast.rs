//! The correction of glyph edges by the lightness of the text.
//!
//! Blending coverage in sRGB makes dark text too heavy and light text too thin. Browsers on Linux undo a part of that
//! with a table per lightness; text only looks like theirs if ours does the same.

use std::sync::OnceLock;

use crate::raster::pixel;

/// How much lighter text on a darker ground is boosted, and the curve of the screen that is assumed.
const CONTRAST: f32 = 0.2;
const GAMMA: f32 = 1.2;
/// Lightness is told apart in this many steps.
pub(crate) const LEVELS: usize = 8;
/// The step for paints that are no single colour.
pub(crate) const MIDDLE: u8 = 3;

/// The step a premultiplied colour falls into.
pub(crate) fn level(px: u32) -> u8 {
    let [r, g, b, _] = pixel::unpremultiply(px).map(u32::from);
    let light = (r * 54 + g * 183 + b * 19) >> 8;
    // Mid-tones count as darker than they are: pure green would be treated like white otherwise.
    let light = light - ((255 - light) * light) / 255;
    (light >> 5) as u8
}

/// The table that maps coverage for text of the given lightness.
pub(crate) fn table(level: u8) -> &'static [u8; 256] {
    static TABLES: OnceLock<[[u8; 256]; LEVELS]> = OnceLock::new();
    let tables = TABLES.get_or_init(|| std::array::from_fn(build));
    &tables[usize::from(level) % LEVELS]
}

fn build(level: usize) -> [u8; 256] {
    let source = ((level << 5) | (level << 2) | (level >> 1)) as f32 / 255.0;
    let ground = 1.0 - source;
    let (lin_source, lin_ground) = (source.powf(GAMMA), ground.powf(GAMMA));
    let contrast = CONTRAST * lin_ground;
    std::array::from_fn(|i| {
        let raw = i as f32 / 255.0;
        let alpha = raw + (1.0 - raw) * contrast * raw;
        if (ground - source).abs() < 1.0 / 256.0 {
            return (alpha * 255.0).round() as u8;
        }
        let wanted = (lin_source * alpha + lin_ground * (1.0 - alpha)).powf(1.0 / GAMMA);
        // What the blend must be given to arrive there.
        (((wanted - ground) / (source - ground)) * 255.0).round().clamp(0.0, 255.0) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_keep_nothing_and_everything() {
        for level in 0..LEVELS as u8 {
            let t = table(level);
            assert_eq!((t[0], t[255]), (0, 255), "level {level}");
            assert!(t.windows(2).all(|w| w[0] <= w[1]), "level {level} grows");
        }
        assert!(table(7)[128] > 128 && table(0)[128] < 128);
    }
}
