//! A PNG as sixels: six rows of pixels at a time, one colour after another, 255 colours at most.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;

use color_quant::NeuQuant;

use super::Window;

/// As many as every terminal has registers for, less one that some keep for the background.
const MAX_COLORS: usize = 255;

/// How wide a picture may be where the terminal does not say how wide it is.
const USUAL_WIDTH_PX: u32 = 1000;

/// The most pixels that are decoded to be shown.
const MAX_PIXELS: u64 = 64 << 20;

/// Every n-th pixel is looked at to choose the colours: 1 is best, 30 is quickest.
const SAMPLE: i32 = 10;

/// The whole sequence, or nothing if this is no picture that can be shown.
pub(super) fn from_png(png: &[u8], window: Option<Window>) -> Option<String> {
    let widest = window.map_or(0, |window| window.width_px);
    let picture = Picture::decode(png)?.narrowed(if widest == 0 { USUAL_WIDTH_PX } else { widest });
    Some(picture.encode())
}

struct Picture {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl Picture {
    fn decode(png: &[u8]) -> Option<Self> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().ok()?;
        let (width, height) = (reader.info().width, reader.info().height);
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return None;
        }
        let mut bytes = vec![0; reader.output_buffer_size()?];
        let frame = reader.next_frame(&mut bytes).ok()?;
        bytes.truncate(frame.buffer_size());
        let rgba = match frame.color_type {
            png::ColorType::Rgba => bytes,
            png::ColorType::GrayscaleAlpha => {
                bytes.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect()
            }
            _ => return None,
        };
        Some(Self { width: width as usize, height: height as usize, rgba })
    }

    /// Made smaller until it fits: each pixel is the mean of a block.
    fn narrowed(self, widest: u32) -> Self {
        let block = self.width.div_ceil((widest as usize).max(1));
        if block <= 1 {
            return self;
        }
        let (width, height) = (self.width / block, (self.height / block).max(1));
        let mut rgba = Vec::with_capacity(width * height * 4);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let (mut sum, mut count) = ([0u32; 4], 0);
            for row in (y * block..(y * block + block).min(self.height)).map(|row| row * self.width) {
                let pixels = self.rgba.get((row + x * block) * 4..(row + x * block + block) * 4).unwrap_or_default();
                for pixel in pixels.chunks_exact(4) {
                    sum.iter_mut().zip(pixel).for_each(|(sum, byte)| *sum += u32::from(*byte));
                    count += 1;
                }
            }
            rgba.extend(sum.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX)));
        }
        Self { width, height, rgba }
    }

    /// The colours and, for each pixel, which one it has; none where it is more clear than not.
    fn indexed(&self) -> (Vec<[u8; 3]>, Vec<Option<u8>>) {
        let opaque = |pixel: &[u8]| pixel[3] >= 128;
        let mut exact: HashMap<[u8; 3], u8> = HashMap::new();
        let mut colors = Vec::new();
        for pixel in self.rgba.chunks_exact(4).filter(|pixel| opaque(pixel)) {
            let color = [pixel[0], pixel[1], pixel[2]];
            if let Entry::Vacant(place) = exact.entry(color) {
                let Some(index) = u8::try_from(colors.len()).ok().filter(|_| colors.len() < MAX_COLORS) else {
                    return self.quantized();
                };
                place.insert(index);
                colors.push(color);
            }
        }
        let index = |pixel: &[u8]| exact.get(&[pixel[0], pixel[1], pixel[2]]).copied().filter(|_| opaque(pixel));
        (colors, self.rgba.chunks_exact(4).map(index).collect())
    }

    fn quantized(&self) -> (Vec<[u8; 3]>, Vec<Option<u8>>) {
        let net = NeuQuant::new(SAMPLE, MAX_COLORS, &self.rgba);
        let colors = net.color_map_rgb().as_chunks().0.to_vec();
        // The same colour is looked up once: a chart has thousands of pixels of each.
        let mut known: HashMap<[u8; 4], u8> = HashMap::new();
        let mut index = |pixel: &[u8; 4]| {
            let found = known.entry(*pixel).or_insert_with(|| u8::try_from(net.index_of(pixel)).unwrap_or(0));
            (pixel[3] >= 128).then_some(*found)
        };
        (colors, self.rgba.as_chunks().0.iter().map(&mut index).collect())
    }

    fn encode(&self) -> String {
        let (colors, pixels) = self.indexed();
        // 0;1: clear pixels leave what is there. Then the aspect (1:1) and the size.
        let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", self.width, self.height);
        let percent = |byte: u8| (u32::from(byte) * 100 + 127) / 255;
        for (index, [r, g, b]) in colors.iter().enumerate() {
            let _ = write!(out, "#{index};2;{};{};{}", percent(*r), percent(*g), percent(*b));
        }
        for band in pixels.chunks(self.width.max(1) * 6) {
            self.band(band, &mut out);
            out.push('-');
        }
        out.push_str("\x1b\\");
        out
    }

    /// Six rows (or what is left): for each colour in them one line of characters, whose bits are rows.
    fn band(&self, pixels: &[Option<u8>], out: &mut String) {
        let mut bits: HashMap<u8, Vec<u8>> = HashMap::new();
        for (row, line) in pixels.chunks(self.width).enumerate() {
            for (x, color) in line.iter().enumerate().filter_map(|(x, color)| Some((x, (*color)?))) {
                let columns = bits.entry(color).or_insert_with(|| vec![0; self.width]);
                if let Some(column) = columns.get_mut(x) {
                    *column |= 1 << row;
                }
            }
        }
        let mut colors: Vec<_> = bits.into_iter().collect();
        colors.sort_unstable_by_key(|(color, _)| *color);
        for (index, (color, columns)) in colors.iter().enumerate() {
            let _ = write!(out, "{}#{color}", if index == 0 { "" } else { "$" });
            let used = columns.iter().rposition(|bits| *bits != 0).map_or(0, |last| last + 1);
            for run in columns.get(..used).unwrap_or_default().chunk_by(|a, b| a == b) {
                let char = char::from(b'?' + run[0]);
                match run.len() {
                    1..4 => out.extend(std::iter::repeat_n(char, run.len())),
                    length => {
                        let _ = write!(out, "!{length}{char}");
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: usize, height: usize, pixel: impl Fn(usize, usize) -> [u8; 4]) -> Picture {
        let rgba = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).flat_map(|(x, y)| pixel(x, y)).collect();
        Picture { width, height, rgba }
    }

    #[test]
    fn few_colours_are_exact() {
        let red = picture(8, 7, |x, _| if x < 7 { [255, 0, 0, 255] } else { [0, 0, 0, 0] });
        assert_eq!(red.encode(), "\x1bP0;1;0q\"1;1;8;7#0;2;100;0;0#0!7~-#0!7@-\x1b\\");
    }

    #[test]
    fn many_colours_become_few_and_stay_near() {
        let many = picture(64, 64, |x, y| [(x * 4) as u8, (y * 4) as u8, 128, 255]);
        let (colors, pixels) = many.indexed();
        assert!(colors.len() <= MAX_COLORS);
        let off = many.rgba.chunks_exact(4).zip(&pixels).map(|(pixel, index)| {
            let color = colors[usize::from(index.unwrap())];
            pixel.iter().zip(color).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>()
        });
        assert!(off.sum::<u32>() / (64 * 64) < 20);
    }

    #[test]
    fn what_is_too_wide_is_narrowed() {
        let wide = picture(3000, 30, |_, _| [10, 20, 30, 255]).narrowed(1000);
        assert_eq!((wide.width, wide.height), (1000, 10));
        assert!(wide.rgba.chunks_exact(4).all(|pixel| pixel == [10, 20, 30, 255]));
    }
}
