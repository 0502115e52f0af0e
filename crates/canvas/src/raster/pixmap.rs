//! A rectangle of premultiplied pixels, charged to a memory budget.

use std::rc::Rc;

use super::pixel;
use crate::CanvasError;
use crate::color::ColorSpace;
use crate::limits::{Charge, MemoryBudget};

/// Pixels, row by row.
#[derive(Debug)]
pub(crate) struct Pixmap {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) space: ColorSpace,
    pub(crate) data: Vec<u32>,
    charge: Charge,
}

impl Pixmap {
    /// Transparent pixels; fails rather than aborts when there is no room for them.
    pub(crate) fn new(
        width: u32,
        height: u32,
        space: ColorSpace,
        budget: &Rc<MemoryBudget>,
    ) -> Result<Self, CanvasError> {
        let count = width as usize * height as usize;
        let charge = budget.charge(count.saturating_mul(4))?;
        let mut data = Vec::new();
        data.try_reserve_exact(count)
            .map_err(|_| CanvasError::TooLarge(format!("no memory for {width} x {height} pixels")))?;
        data.resize(count, 0);
        Ok(Self { width, height, space, data, charge })
    }

    pub(crate) fn try_clone(&self) -> Result<Self, CanvasError> {
        let mut copy = Self::new(self.width, self.height, self.space, self.charge.budget())?;
        copy.data.copy_from_slice(&self.data);
        Ok(copy)
    }

    pub(crate) fn budget(&self) -> &Rc<MemoryBudget> {
        self.charge.budget()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    #[inline]
    pub(crate) fn row(&self, y: usize) -> &[u32] {
        let w = self.width as usize;
        &self.data[y * w..(y + 1) * w]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, y: usize) -> &mut [u32] {
        let w = self.width as usize;
        &mut self.data[y * w..(y + 1) * w]
    }

    /// The same picture in another space.
    pub(crate) fn converted(&self, space: ColorSpace) -> Result<Self, CanvasError> {
        let mut copy = self.try_clone()?;
        if space != self.space {
            for px in &mut copy.data {
                *px = convert_pixel(*px, self.space, space);
            }
            copy.space = space;
        }
        Ok(copy)
    }
}

/// Converts one premultiplied pixel between spaces.
pub(crate) fn convert_pixel(px: u32, from: ColorSpace, to: ColorSpace) -> u32 {
    let [r, g, b, a] = pixel::unpremultiply(px);
    if a == 0 || from == to {
        return px;
    }
    let rgb = from.convert(to, [r, g, b].map(|v| f32::from(v) / 255.0));
    pixel::from_float(rgb, f32::from(a) / 255.0)
}

/// The pixels for writing: copied first when somebody else still looks at them.
pub(crate) fn make_mut(shared: &mut Rc<Pixmap>) -> Result<&mut Pixmap, CanvasError> {
    if Rc::get_mut(shared).is_none() {
        *shared = Rc::new(shared.try_clone()?);
    }
    Rc::get_mut(shared).ok_or_else(|| CanvasError::InvalidState("the pixels are in use".into()))
}
