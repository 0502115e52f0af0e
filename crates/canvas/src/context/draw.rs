//! The one way from a shape to pixels: shadow, filter, compositing, clip, in the standard's order.

use super::Context2d;
use super::state::Shadow;
use crate::CanvasError;
use crate::filter::Filter;
use crate::geometry::Rect;
use crate::raster::IRect;
use crate::raster::blend::CompositeOp;
use crate::raster::blur::{blur, margin};
use crate::raster::coverage::Coverage;
use crate::raster::pixel;
use crate::raster::pixmap::{Pixmap, make_mut};
use crate::raster::shader::Shader;
use crate::raster::target::Target;

/// Paints a shape onto a target: the canvas itself, or a layer beside it.
pub(super) type Paint<'a> = dyn FnMut(&mut Target<'_>, &mut Coverage, &mut Shader) + 'a;

/// Pixels beside the canvas, and where on it their first one belongs.
type Layer = (Pixmap, (i32, i32));

impl Context2d {
    /// Draws a shape that stays within `bounds` (device space) with a shader; `None` paints nothing.
    pub(super) fn draw(&mut self, bounds: Rect, shader: Option<Shader>, paint: &mut Paint<'_>) {
        let result = self.try_draw(bounds, shader, paint);
        self.record(result);
    }

    fn try_draw(&mut self, bounds: Rect, shader: Option<Shader>, paint: &mut Paint<'_>) -> Result<(), CanvasError> {
        let op = self.state.op;
        if self.pixels.is_empty() || (self.state.clip.bounds.is_empty()) {
            return Ok(());
        }
        let mut shader = match shader {
            Some(shader) => shader,
            None if op.is_unbounded() => Shader::Solid(0),
            None => return Ok(()),
        };
        let has_filter = !self.state.filter.is_none();
        let has_shadow = self.state.shadow.is_visible() && op != CompositeOp::Copy;
        if !has_filter && !has_shadow && !op.is_unbounded() {
            if matches!(shader, Shader::Solid(0)) {
                return Ok(());
            }
            let Self { pixels, state, coverage, .. } = self;
            let pixels = make_mut(pixels)?;
            let mut target = Target { pixels, origin: (0, 0), clip: Some(&state.clip), op };
            paint(&mut target, coverage, &mut shader);
            return Ok(());
        }
        let clip = self.state.clip.clone();
        let filter = std::rc::Rc::clone(&self.state.filter);
        let shape = IRect::around(&bounds);
        if has_shadow {
            let shadow = self.state.shadow;
            let (dx, dy) = (shadow.dx.round() as i32, shadow.dy.round() as i32);
            let spread = if shadow.blur > 0.0 { margin(shadow.blur / 2.0) } else { 0 };
            let wanted = clip.bounds.inflate(spread).shift(dx.saturating_neg(), dy.saturating_neg());
            if let Some((layer, at)) = self.render_layer(&shape, &wanted, &filter, &mut shader, paint)? {
                let cast = cast_shadow(&layer, &shadow, spread)?;
                let at = (at.0 - spread + dx, at.1 - spread + dy);
                let mut target = Target { pixels: make_mut(&mut self.pixels)?, origin: (0, 0), clip: Some(&clip), op };
                target.layer(&cast, at.0, at.1);
            } else if op.is_unbounded() {
                self.composite_nothing(op)?;
            }
        }
        if !has_filter && !op.is_unbounded() {
            let Self { pixels, state, coverage, .. } = self;
            let mut target = Target { pixels: make_mut(pixels)?, origin: (0, 0), clip: Some(&state.clip), op };
            paint(&mut target, coverage, &mut shader);
            return Ok(());
        }
        match self.render_layer(&shape, &clip.bounds, &filter, &mut shader, paint)? {
            Some((layer, at)) => {
                let mut target = Target { pixels: make_mut(&mut self.pixels)?, origin: (0, 0), clip: Some(&clip), op };
                target.layer(&layer, at.0, at.1);
            }
            None if op.is_unbounded() => self.composite_nothing(op)?,
            None => {}
        }
        Ok(())
    }

    fn composite_nothing(&mut self, op: CompositeOp) -> Result<(), CanvasError> {
        let empty = Pixmap::new(0, 0, self.pixels.space, self.pixels.budget())?;
        let clip = self.state.clip.clone();
        Target { pixels: make_mut(&mut self.pixels)?, origin: (0, 0), clip: Some(&clip), op }.layer(&empty, 0, 0);
        Ok(())
    }

    /// Draws the shape onto a layer of its own, as far as `wanted` can see it, and filters it.
    fn render_layer(
        &mut self,
        shape: &IRect,
        wanted: &IRect,
        filter: &Filter,
        shader: &mut Shader,
        paint: &mut Paint<'_>,
    ) -> Result<Option<Layer>, CanvasError> {
        let reach = filter.margin();
        let region = shape.inflate(reach).intersect(&wanted.inflate(reach));
        if region.is_empty() {
            return Ok(None);
        }
        let (width, height) = (region.width() as u32, region.height() as u32);
        let mut layer = Pixmap::new(width, height, self.pixels.space, self.pixels.budget())?;
        let origin = (region.x0, region.y0);
        let mut target = Target { pixels: &mut layer, origin, clip: None, op: CompositeOp::SourceOver };
        paint(&mut target, &mut self.coverage, shader);
        filter.apply(&mut layer)?;
        Ok(Some((layer, origin)))
    }
}

/// The layer's alpha, blurred and in the shadow's colour, with `spread` more pixels on each side.
fn cast_shadow(layer: &Pixmap, shadow: &Shadow, spread: i32) -> Result<Pixmap, CanvasError> {
    let spread = spread as usize;
    let (width, height) = (layer.width as usize + 2 * spread, layer.height as usize + 2 * spread);
    let tint = pixel::from_float(shadow.color.rgb_in(layer.space), shadow.color.alpha());
    let mut out = Pixmap::new(width as u32, height as u32, layer.space, layer.budget())?;
    let mut alpha = Vec::new();
    let _charge = layer.budget().charge(width * height)?;
    alpha.try_reserve_exact(width * height).map_err(|_| CanvasError::TooLarge("no memory for a shadow".into()))?;
    alpha.resize(width * height, [0u8; 1]);
    for y in 0..layer.height as usize {
        let start = (y + spread) * width + spread;
        for (a, px) in alpha[start..].iter_mut().zip(layer.row(y)) {
            *a = [(px >> 24) as u8];
        }
    }
    if shadow.blur > 0.0 {
        blur(&mut alpha, width, shadow.blur / 2.0, shadow.blur / 2.0);
    }
    for (px, a) in out.data.iter_mut().zip(&alpha) {
        *px = pixel::scale(tint, u32::from(a[0]));
    }
    Ok(out)
}
