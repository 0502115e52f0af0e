//! Files that other programs wrote (Pillow, with libpng, libjpeg and libwebp), as pictures.
//!
//! Each shows four quarters of 8 × 8 pixels: red, green; blue, white.

use std::path::Path;

use cove_canvas::{CanvasLimits, ImageBitmap, MemoryBudget};

use super::{BLUE, GREEN, RED, canvas, pixel};

const WHITE: [u8; 4] = [255; 4];

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/canvas/pictures"));
    std::fs::read(folder.join(name)).unwrap()
}

fn near(seen: [u8; 4], wanted: [u8; 4], tolerance: u8, name: &str) {
    let is_near = seen.iter().zip(wanted).all(|(seen, wanted)| seen.abs_diff(wanted) <= tolerance);
    assert!(is_near, "{name}: {seen:?} instead of {wanted:?}");
}

/// The middles of the four quarters.
fn quarters(name: &str) -> [[u8; 4]; 4] {
    let picture = ImageBitmap::decode(&file(name), &CanvasLimits::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (width, height) = (picture.width(), picture.height());
    let mut c = canvas(width, height);
    let ctx = c.context();
    ctx.draw_image(&picture, 0.0, 0.0).unwrap();
    let (x, y) = (i32::try_from(width).unwrap() / 4, i32::try_from(height).unwrap() / 4);
    [(x, y), (3 * x, y), (x, 3 * y), (3 * x, 3 * y)].map(|(x, y)| pixel(ctx, x, y))
}

#[test]
fn files_of_every_format_are_read() {
    let colours = [RED, GREEN, BLUE, WHITE];
    for name in [
        "rgb.png",
        "palette.png",
        "turned6.png",
        "rgb.jpg",
        "progressive.jpg",
        "inks.jpg",
        "turned3.jpg",
        "turned6.jpg",
        "turned7.jpg",
        "turned8.jpg",
        "lossless.webp",
        "lossy.webp",
        "moving.webp",
        "turned6.webp",
        "rgb.gif",
        "moving.gif",
        "rgb.bmp",
        "palette.bmp",
        // Its header has no word of alpha: the fourth byte means nothing.
        "alpha.bmp",
    ] {
        for (seen, expected) in quarters(name).into_iter().zip(colours) {
            near(seen, expected, 6, name);
        }
    }
    for name in ["alpha.png", "alpha.webp", "alpha.gif"] {
        assert_eq!(quarters(name), [RED, GREEN, BLUE, [0; 4]], "{name}");
    }
    for name in ["grey.jpg", "grey.bmp"] {
        for (seen, level) in quarters(name).into_iter().zip([76, 150, 29, 255]) {
            near(seen, [level, level, level, 255], 2, name);
        }
    }
    for name in ["bits.png", "bits.bmp"] {
        assert_eq!(quarters(name).map(|seen| seen[0]), [0, 255, 0, 255], "{name}");
    }
    assert_eq!(quarters("grey16.png").map(|seen| seen[0]), [0, 64, 128, 255]);
}

/// Cut short, or one byte changed: an error or a picture, and never the end of the process.
#[test]
fn broken_files_are_an_error_at_most() {
    let limits = CanvasLimits::with_budget(MemoryBudget::new(16 << 20));
    for name in ["rgb.png", "rgb.jpg", "progressive.jpg", "lossless.webp", "lossy.webp", "moving.gif", "palette.bmp"] {
        let whole = file(name);
        for cut in 0..whole.len() {
            let _ = ImageBitmap::decode(&whole[..cut], &limits);
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x5a;
            let _ = ImageBitmap::decode(&changed, &limits);
        }
    }
    let nothing = ImageBitmap::decode(b"<svg/>", &limits).unwrap_err();
    assert!(nothing.to_string().contains("none of PNG, JPEG, GIF, WebP and BMP"), "{nothing}");
}

/// A size beyond the limits is refused before anything is made for it.
#[test]
fn sizes_are_limited() {
    let small = CanvasLimits { max_side: 8, ..CanvasLimits::default() };
    for name in ["rgb.png", "rgb.jpg", "lossless.webp", "rgb.gif", "rgb.bmp"] {
        assert!(ImageBitmap::decode(&file(name), &small).is_err(), "{name}");
    }
}
