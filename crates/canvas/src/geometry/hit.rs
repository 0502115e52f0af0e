//! Whether a point lies inside a path.
//!
//! Points on the outline count as inside, as the standard says; that is why plain winding numbers are not enough.

use vello_common::kurbo::{ParamCurveNearest, PathSeg};

use super::{BezPath, PathEl, Point, Shape};

/// How near to the outline counts as on it, in pixels.
const ON_EDGE: f64 = 1e-7;

/// Which points are inside where subpaths overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FillRule {
    /// Counts crossings with their direction.
    #[default]
    NonZero,
    /// Counts crossings.
    EvenOdd,
}

impl FillRule {
    /// Parses `nonzero` or `evenodd`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "nonzero" => Some(Self::NonZero),
            "evenodd" => Some(Self::EvenOdd),
            _ => None,
        }
    }
}

/// A copy of the path in which every subpath ends where it began.
fn closed(path: &BezPath) -> BezPath {
    let mut out = BezPath::with_capacity(path.elements().len() + 4);
    let mut open = false;
    for el in path.elements() {
        match el {
            PathEl::MoveTo(_) if open => {
                out.push(PathEl::ClosePath);
                open = false;
            }
            PathEl::MoveTo(_) => {}
            PathEl::ClosePath => open = false,
            _ => open = true,
        }
        out.push(*el);
    }
    if open {
        out.push(PathEl::ClosePath);
    }
    out
}

/// Whether the point is inside the path or on its outline.
pub(crate) fn contains(path: &BezPath, rule: FillRule, p: Point) -> bool {
    if path.elements().len() < 2 {
        return false;
    }
    let path = closed(path);
    let bounds = path.bounding_box().inflate(ON_EDGE, ON_EDGE);
    if p.x < bounds.x0 || p.x > bounds.x1 || p.y < bounds.y0 || p.y > bounds.y1 {
        return false;
    }
    let winding = path.winding(p);
    let inside = match rule {
        FillRule::NonZero => winding != 0,
        FillRule::EvenOdd => winding % 2 != 0,
    };
    inside || path.segments().any(|s| on_edge(&s, p))
}

fn on_edge(segment: &PathSeg, p: Point) -> bool {
    let near = segment.bounding_box().inflate(ON_EDGE, ON_EDGE);
    p.x >= near.x0
        && p.x <= near.x1
        && p.y >= near.y0
        && p.y <= near.y1
        && segment.nearest(p, ON_EDGE * ON_EDGE).distance_sq <= ON_EDGE * ON_EDGE
}
