//! Arithmetic on one premultiplied pixel, packed as `0xAABBGGRR` (the bytes r, g, b, a in memory).
//!
//! Two channels ride in one multiplication; every division by 255 is rounded exactly, so that a colour drawn over
//! itself stays itself.

const LOW: u32 = 0x00ff_00ff;
const HALF: u32 = 0x0080_0080;

/// `round(a * b / 255)`.
#[inline(always)]
pub(crate) fn mul255(a: u32, b: u32) -> u32 {
    let t = a * b + 128;
    (t + (t >> 8)) >> 8
}

/// All four channels times `a / 255`.
#[inline(always)]
pub(crate) fn scale(px: u32, a: u32) -> u32 {
    let rb = (px & LOW) * a + HALF;
    let ag = ((px >> 8) & LOW) * a + HALF;
    let rb = ((rb + ((rb >> 8) & LOW)) >> 8) & LOW;
    let ag = (ag + ((ag >> 8) & LOW)) & !LOW;
    rb | ag
}

/// Source over destination.
#[inline(always)]
pub(crate) fn over(s: u32, d: u32) -> u32 {
    s + scale(d, 255 - (s >> 24))
}

/// `d + (s - d) * t / 255`.
#[inline(always)]
pub(crate) fn lerp(d: u32, s: u32, t: u32) -> u32 {
    scale(s, t) + scale(d, 255 - t)
}

/// Channel-wise sum that stops at 255.
#[inline(always)]
pub(crate) fn plus(s: u32, d: u32) -> u32 {
    let add = |a: u32, b: u32| {
        let sum = a + b;
        let over = (sum >> 8) & 0x0001_0001;
        (sum | (over * 255)) & LOW
    };
    add(s & LOW, d & LOW) | (add((s >> 8) & LOW, (d >> 8) & LOW) << 8)
}

/// Packs channels.
#[inline(always)]
pub(crate) fn pack(r: u32, g: u32, b: u32, a: u32) -> u32 {
    r | (g << 8) | (b << 16) | (a << 24)
}

/// Splits a pixel into r, g, b, a.
#[inline(always)]
pub(crate) fn unpack(px: u32) -> [u32; 4] {
    [px & 255, (px >> 8) & 255, (px >> 16) & 255, px >> 24]
}

/// Premultiplies and packs a colour of components between 0 and 1.
#[inline(always)]
pub(crate) fn from_float(rgb: [f32; 3], alpha: f32) -> u32 {
    let a = alpha.clamp(0.0, 1.0);
    let c = |v: f32| (v.clamp(0.0, 1.0) * a * 255.0 + 0.5) as u32;
    pack(c(rgb[0]), c(rgb[1]), c(rgb[2]), (a * 255.0 + 0.5) as u32)
}

/// `ceil(2^24 / a)`.
const RECIPROCALS: [u32; 256] = {
    let mut table = [0; 256];
    let mut a = 1;
    while a < 256 {
        table[a] = (1u32 << 24).div_ceil(a as u32);
        a += 1;
    }
    table
};

/// The unpremultiplied bytes of a pixel.
#[inline(always)]
pub(crate) fn unpremultiply(px: u32) -> [u8; 4] {
    let [r, g, b, a] = unpack(px);
    match a {
        0 => [0; 4],
        255 => [r as u8, g as u8, b as u8, 255],
        _ => {
            // `n * ceil(2^24 / a) >> 24` is the exact quotient for every n that a channel can make of its alpha.
            let (magic, half) = (RECIPROCALS[(a & 255) as usize], a / 2);
            let c = |v: u32| ((v.min(a) * 255 + half).wrapping_mul(magic) >> 24) as u8;
            [c(r), c(g), c(b), a as u8]
        }
    }
}

/// Premultiplies straight bytes.
#[inline(always)]
pub(crate) fn premultiply([r, g, b, a]: [u8; 4]) -> u32 {
    let alpha = u32::from(a);
    match a {
        255 => pack(r.into(), g.into(), b.into(), 255),
        0 => 0,
        _ => pack(mul255(r.into(), alpha), mul255(g.into(), alpha), mul255(b.into(), alpha), alpha),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_arithmetic_equals_plain_arithmetic() {
        for a in (0..=255u32).step_by(5) {
            for v in 0..=255u32 {
                let px = pack(v, 255 - v, v / 2, 255);
                let want = unpack(px).map(|c| (f64::from(c) * f64::from(a) / 255.0).round() as u32);
                assert_eq!(unpack(scale(px, a)), want, "{px:#x} * {a}");
                assert_eq!(unpack(plus(px, pack(a, a, a, a))), unpack(px).map(|c| (c + a).min(255)));
            }
        }
    }

    #[test]
    fn unpremultiplying_rounds_exactly() {
        for a in 1..255u32 {
            for v in 0..=a {
                let want = (f64::from(v) * 255.0 / f64::from(a)).round() as u8;
                let [got, ..] = unpremultiply(pack(v, 0, 0, a));
                assert_eq!(got, want, "{v} / {a}");
            }
        }
    }

    #[test]
    fn drawing_nothing_changes_nothing() {
        for px in [0, u32::MAX, pack(1, 2, 3, 4), pack(127, 64, 0, 128)] {
            assert_eq!(over(0, px), px);
            assert_eq!(over(pack(9, 8, 7, 255), px), pack(9, 8, 7, 255));
        }
    }
}
