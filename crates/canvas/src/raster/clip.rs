//! The clip of a context: a pixel rectangle, and where that is not enough, coverage inside it.

use std::cell::OnceCell;
use std::rc::Rc;

use vello_common::clip::PathDataRef;
use vello_common::geometry::RectU16;
use vello_common::strip::{Strip, visit_strip_fill_segments};

use super::IRect;
use crate::CanvasError;
use crate::limits::{Charge, MemoryBudget};

/// Coverage of a clip that is no plain rectangle.
#[derive(Debug)]
pub(crate) struct ClipShape {
    strips: Vec<Strip>,
    alphas: Vec<u8>,
    /// The same coverage as bytes over the clip's bounds, made when first needed (text, layers).
    dense: OnceCell<Vec<u8>>,
    _charge: Option<Charge>,
}

/// What may be drawn on. Cloning shares the coverage: a deep stack of `save()` costs little.
#[derive(Debug, Clone)]
pub(crate) struct Clip {
    pub(crate) bounds: IRect,
    pub(crate) shape: Option<Rc<ClipShape>>,
}

impl Clip {
    pub(crate) fn rect(bounds: IRect) -> Self {
        Self { bounds, shape: None }
    }

    /// A clip from generated strips, already cut with the clip before it.
    /// Its memory, that of the bytes that may follow included, is charged to `budget`.
    pub(crate) fn from_strips(
        strips: &[Strip],
        alphas: &[u8],
        within: IRect,
        budget: Option<&Rc<MemoryBudget>>,
    ) -> Result<Self, CanvasError> {
        let mut bounds = IRect::new(i32::MAX, i32::MAX, i32::MIN, i32::MIN);
        let mut add = |x0: u16, x1: u16, y: u16| {
            bounds.x0 = bounds.x0.min(x0.into());
            bounds.x1 = bounds.x1.max(x1.into());
            bounds.y0 = bounds.y0.min(y.into());
            bounds.y1 = bounds.y1.max(i32::from(y) + 4);
        };
        let everything = RectU16::new(0, 0, u16::MAX, u16::MAX);
        visit_strip_fill_segments(
            strips,
            everything,
            &mut add,
            |add, s| add(s.x0(), s.x1(), s.y()),
            |add, s| add(s.x0(), s.x1(), s.y()),
        );
        let bounds = bounds.intersect(&within);
        if bounds.is_empty() {
            return Ok(Self::rect(IRect::EMPTY));
        }
        let bytes = size_of_val(strips) + alphas.len() + (bounds.width() * bounds.height()) as usize;
        let charge = budget.map(|b| b.charge(bytes)).transpose()?;
        let shape =
            ClipShape { strips: strips.to_vec(), alphas: alphas.to_vec(), dense: OnceCell::new(), _charge: charge };
        Ok(Self { bounds, shape: Some(Rc::new(shape)) })
    }

    /// The coverage in the form the strip generator cuts paths with.
    pub(crate) fn path_data(&self) -> Option<PathDataRef<'_>> {
        let shape = self.shape.as_ref()?;
        let b = &self.bounds;
        Some(PathDataRef {
            strips: &shape.strips,
            alphas: &shape.alphas,
            bbox: RectU16::new(b.x0 as u16, b.y0 as u16, b.x1 as u16, b.y1 as u16),
        })
    }

    /// Coverage of the pixels `x0..x1` of row `y`, all of which lie in the bounds; `None` means fully covered.
    pub(crate) fn row(&self, y: i32, x0: i32, x1: i32) -> Option<&[u8]> {
        let shape = self.shape.as_ref()?;
        let dense = shape.dense.get_or_init(|| self.make_dense(shape));
        let start = ((y - self.bounds.y0) * self.bounds.width() - self.bounds.x0) as isize;
        dense.get((start + x0 as isize) as usize..(start + x1 as isize) as usize)
    }

    fn make_dense(&self, shape: &ClipShape) -> Vec<u8> {
        let b = self.bounds;
        let width = b.width() as usize;
        let mut dense = vec![0u8; width * b.height() as usize];
        let everything = RectU16::new(0, 0, u16::MAX, u16::MAX);
        let put = |dense: &mut Vec<u8>, x: i32, y: i32, a: u8| {
            if x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1 {
                dense[(y - b.y0) as usize * width + (x - b.x0) as usize] = a;
            }
        };
        visit_strip_fill_segments(
            &shape.strips,
            everything,
            &mut dense,
            |dense, s| {
                for (i, x) in (s.x0()..s.x1()).enumerate() {
                    for row in 0..4 {
                        let alpha = shape.alphas.get(s.alpha_idx as usize + i * 4 + row).copied().unwrap_or(0);
                        put(dense, x.into(), i32::from(s.y()) + row as i32, alpha);
                    }
                }
            },
            |dense, s| {
                for x in s.x0()..s.x1() {
                    for row in 0..4 {
                        put(dense, x.into(), i32::from(s.y()) + row, 255);
                    }
                }
            },
        );
        dense
    }
}
