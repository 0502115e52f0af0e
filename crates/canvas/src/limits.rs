//! How large pictures may get, and how much memory all of them together may hold.
//!
//! A script names sizes freely; nothing here trusts them. Every pixel buffer is charged to one shared
//! [`MemoryBudget`] before it is allocated, so ten thousand canvases and one huge one meet the same wall.

use std::cell::Cell;
use std::rc::Rc;

use crate::CanvasError;

/// Longest side of a canvas in pixels: what browsers allow, and what the rasteriser's coordinates can hold.
pub(crate) const MAX_SIDE: u32 = 32_767;
/// Most pixels of one canvas: 16,384², the area at which browsers stop drawing.
pub(crate) const MAX_AREA: u64 = 16_384 * 16_384;
/// Most states on the `save()` stack. A script that saves more often keeps running; further states are only counted.
pub const MAX_SAVED_STATES: usize = 16_384;
/// Most segments one path may hold: a million-point path draws, an endless loop of `lineTo` stops growing.
pub(crate) const MAX_PATH_ELEMENTS: usize = 2_000_000;

/// Bytes of pixel memory shared by all canvases, bitmaps and layers of one world.
#[derive(Debug)]
pub struct MemoryBudget {
    limit_bytes: usize,
    used_bytes: Cell<usize>,
}

impl MemoryBudget {
    /// A budget of `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Rc<Self> {
        Rc::new(Self { limit_bytes, used_bytes: Cell::new(0) })
    }

    /// Bytes in all.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Bytes in use now.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.get()
    }

    /// Takes `bytes` out of the budget until the returned charge is dropped.
    pub(crate) fn charge(self: &Rc<Self>, bytes: usize) -> Result<Charge, CanvasError> {
        let total = self.used_bytes.get().saturating_add(bytes);
        if total > self.limit_bytes {
            return Err(CanvasError::TooLarge(format!(
                "the picture needs {bytes} bytes of pixels; {} of {} are in use",
                self.used_bytes.get(),
                self.limit_bytes
            )));
        }
        self.used_bytes.set(total);
        Ok(Charge { budget: Rc::clone(self), bytes })
    }
}

/// A share of the budget; gives itself back when dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Rc<MemoryBudget>,
    bytes: usize,
}

impl Charge {
    pub(crate) fn budget(&self) -> &Rc<MemoryBudget> {
        &self.budget
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let left = self.budget.used_bytes.get().saturating_sub(self.bytes);
        self.budget.used_bytes.set(left);
    }
}

/// The limits one canvas is created under.
#[derive(Debug, Clone)]
pub struct CanvasLimits {
    /// Longest side in pixels; never more than `MAX_SIDE`.
    pub max_side: u32,
    /// Most pixels; never more than `MAX_AREA`.
    pub max_area: u64,
    /// Where pixel memory is charged.
    pub budget: Rc<MemoryBudget>,
}

impl CanvasLimits {
    /// Browser limits over a budget of `limit_bytes`.
    pub fn with_budget(budget: Rc<MemoryBudget>) -> Self {
        Self { max_side: MAX_SIDE, max_area: MAX_AREA, budget }
    }

    /// Whether a canvas of this size is within the limits.
    pub(crate) fn check(&self, width: u32, height: u32) -> Result<(), CanvasError> {
        let side = self.max_side.min(MAX_SIDE);
        let area = self.max_area.min(MAX_AREA);
        if width > side || height > side || u64::from(width) * u64::from(height) > area {
            return Err(CanvasError::TooLarge(format!(
                "a canvas of {width} x {height} is too large: at most {side} pixels a side and {area} in all"
            )));
        }
        Ok(())
    }
}

impl Default for CanvasLimits {
    /// Browser limits, and one gigabyte of pixels: the largest canvas a browser would draw on.
    fn default() -> Self {
        Self::with_budget(MemoryBudget::new(1 << 30))
    }
}
