//! Gaussian blur: exact for small radii, three box passes for large ones.
//!
//! Works in place on interleaved channels; what lies outside the buffer is transparent, so callers leave a margin.

/// Largest standard deviation that is honoured. Beyond it a shadow is a faint haze and only costs time.
pub(crate) const MAX_SIGMA: f64 = 532.0;

/// Columns that are blurred together.
const COLUMNS: usize = 16;

/// Pixels by which a blur of `sigma` spreads.
pub(crate) fn margin(sigma: f64) -> i32 {
    (sigma.min(MAX_SIGMA) * 3.0).ceil() as i32 + 1
}

/// Blurs `N` interleaved channels of a picture `width` pixels wide.
pub(crate) fn blur<const N: usize>(data: &mut [[u8; N]], width: usize, sigma_x: f64, sigma_y: f64) {
    if width == 0 || data.is_empty() {
        return;
    }
    let height = data.len() / width;
    let mut scratch = vec![[0u8; N]; width.max(height)];
    if let Some(pass) = Pass::new(sigma_x) {
        for row in data.chunks_exact_mut(width) {
            pass.run(row, &mut scratch[..width]);
        }
    }
    if let Some(pass) = Pass::new(sigma_y) {
        // Several columns at once: a row of them is one stretch of memory.
        let mut lines = vec![[0u8; N]; height * COLUMNS];
        for x in (0..width).step_by(COLUMNS) {
            let count = COLUMNS.min(width - x);
            for y in 0..height {
                for (k, px) in data[y * width + x..][..count].iter().enumerate() {
                    lines[k * height + y] = *px;
                }
            }
            for line in lines.chunks_exact_mut(height).take(count) {
                pass.run(line, &mut scratch[..height]);
            }
            for y in 0..height {
                for (k, px) in data[y * width + x..][..count].iter_mut().enumerate() {
                    *px = lines[k * height + y];
                }
            }
        }
    }
}

enum Pass {
    Kernel(Vec<f32>),
    /// Window size of the three boxes.
    Boxes(usize),
}

impl Pass {
    fn new(sigma: f64) -> Option<Self> {
        let sigma = sigma.min(MAX_SIGMA);
        if sigma <= 0.01 || !sigma.is_finite() {
            return None;
        }
        if sigma < 2.0 {
            let radius = (sigma * 3.0).ceil() as i32;
            let weight = |i: i32| (-f64::from(i * i) / (2.0 * sigma * sigma)).exp();
            let total: f64 = (-radius..=radius).map(weight).sum();
            return Some(Self::Kernel((-radius..=radius).map(|i| (weight(i) / total) as f32).collect()));
        }
        let window = (sigma * 3.0 * (2.0 * std::f64::consts::PI).sqrt() / 4.0 + 0.5).floor();
        Some(Self::Boxes((window as usize).max(1)))
    }

    fn run<const N: usize>(&self, line: &mut [[u8; N]], scratch: &mut [[u8; N]]) {
        if line.iter().all(|p| *p == [0; N]) {
            return;
        }
        match self {
            Self::Kernel(kernel) => {
                scratch.copy_from_slice(line);
                let radius = kernel.len() / 2;
                for (i, out) in line.iter_mut().enumerate() {
                    let mut sum = [0.0f32; N];
                    for (k, w) in kernel.iter().enumerate() {
                        let Some(p) = (i + k).checked_sub(radius).and_then(|j| scratch.get(j)) else { continue };
                        for c in 0..N {
                            sum[c] += f32::from(p[c]) * w;
                        }
                    }
                    *out = sum.map(|s| (s + 0.5) as u8);
                }
            }
            Self::Boxes(d) => {
                let half = d / 2;
                if d % 2 == 1 {
                    box_pass(line, scratch, half, half);
                    box_pass(scratch, line, half, half);
                    box_pass(line, scratch, half, half);
                } else {
                    box_pass(line, scratch, half, half - 1);
                    box_pass(scratch, line, half - 1, half);
                    box_pass(line, scratch, half, half);
                }
                line.copy_from_slice(scratch);
            }
        }
    }
}

/// Averages `before + 1 + after` neighbours.
fn box_pass<const N: usize>(from: &[[u8; N]], to: &mut [[u8; N]], before: usize, after: usize) {
    let size = (before + after + 1) as u64;
    // Multiplication by a reciprocal: exact enough for eight bits at any window this file makes.
    let reciprocal = ((1u64 << 32) + size / 2) / size;
    let mut sum = [0u64; N];
    for p in from.iter().take(after) {
        for c in 0..N {
            sum[c] += u64::from(p[c]);
        }
    }
    for (i, out) in to.iter_mut().enumerate().take(from.len()) {
        if let Some(p) = from.get(i + after) {
            for c in 0..N {
                sum[c] += u64::from(p[c]);
            }
        }
        *out = std::array::from_fn(|c| ((sum[c] * reciprocal + (1 << 31)) >> 32).min(255) as u8);
        if let Some(p) = i.checked_sub(before).and_then(|j| from.get(j)) {
            for c in 0..N {
                sum[c] -= u64::from(p[c]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A blur spreads what is there and loses nearly none of it.
    #[test]
    fn energy_is_kept() {
        for sigma in [0.5, 1.0, 1.9, 2.0, 3.7, 8.0, 20.0] {
            let (w, h) = (161usize, 161usize);
            let mut data = vec![[0u8; 1]; w * h];
            for y in 60..101 {
                for x in 60..101 {
                    data[y * w + x] = [255];
                }
            }
            let before: u64 = data.iter().map(|p| u64::from(p[0])).sum();
            blur(&mut data, w, sigma, sigma);
            let after: u64 = data.iter().map(|p| u64::from(p[0])).sum();
            let ratio = after as f64 / before as f64;
            assert!((0.97..=1.03).contains(&ratio), "sigma {sigma}: {ratio}");
            assert_eq!(data[80 * w + 60], data[80 * w + 100], "sigma {sigma}: symmetric");
        }
    }
}
