//! The strip generator and its buffers, kept between calls.

use vello_common::fearless_simd::Level;
use vello_common::kurbo::StrokeCtx;
use vello_common::peniko::Fill;
use vello_common::strip_generator::{StripGenerator, StripStorage};

use super::clip::Clip;
use crate::geometry::flatten::flatten;
use crate::geometry::{Affine, BezPath, PathEl, hit::FillRule};

/// Buffers larger than this are given back after a call, so that one huge path does not stay.
const KEEP_BYTES: usize = 4 << 20;

/// Turns outlines into coverage.
#[derive(Debug)]
pub(crate) struct Coverage {
    generator: StripGenerator,
    pub(crate) storage: StripStorage,
    pub(crate) stroke: StrokeCtx,
    size: (u16, u16),
    lines: Vec<PathEl>,
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            generator: StripGenerator::new(1, 1, Level::new()),
            storage: StripStorage::default(),
            stroke: StrokeCtx::default(),
            size: (1, 1),
            lines: Vec::new(),
        }
    }
}

impl Coverage {
    /// Fills `storage` with the coverage of a path on a target of `width` × `height` pixels.
    pub(crate) fn fill(
        &mut self,
        path: &BezPath,
        t: Affine,
        rule: FillRule,
        (width, height): (u32, u32),
        clip: Option<&Clip>,
    ) {
        let size = (width.min(u32::from(u16::MAX)) as u16, height.min(u32::from(u16::MAX)) as u16);
        if self.size != size {
            self.generator.reset(size.0, size.1);
            self.size = size;
        }
        if self.storage.alphas.capacity() > KEEP_BYTES {
            self.storage = StripStorage::default();
        }
        self.storage.clear();
        let fill = match rule {
            FillRule::NonZero => Fill::NonZero,
            FillRule::EvenOdd => Fill::EvenOdd,
        };
        let clip = clip.and_then(Clip::path_data);
        flatten(path, &t, &mut self.lines);
        let lines = self.lines.iter().copied();
        self.generator.generate_filled_path(lines, fill, Affine::IDENTITY, None, &mut self.storage, clip);
        if self.lines.capacity() * size_of::<PathEl>() > KEEP_BYTES {
            self.lines = Vec::new();
        }
    }
}
