//! Matrices: the arithmetic behind `DOMMatrix`, and reading a matrix from any object that looks like one.

use cove_canvas::DomMatrix;
use rquickjs::{Array, Ctx, Object, Result, Value};

use crate::call::{Call, coerced_text, function, number};
use crate::raise::{lift, type_error};

const NAMES_2D: [(&str, &str, usize, f64); 6] = [
    ("a", "m11", 0, 1.0),
    ("b", "m12", 1, 0.0),
    ("c", "m21", 4, 0.0),
    ("d", "m22", 5, 1.0),
    ("e", "m41", 12, 0.0),
    ("f", "m42", 13, 0.0),
];
const NAMES_3D: [(&str, usize); 10] = [
    ("m13", 2),
    ("m14", 3),
    ("m23", 6),
    ("m24", 7),
    ("m31", 8),
    ("m32", 9),
    ("m33", 10),
    ("m34", 11),
    ("m43", 14),
    ("m44", 15),
];

/// A `DOMMatrixInit` as a matrix; `undefined` and `null` are the identity.
pub(crate) fn matrix_arg<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<DomMatrix> {
    let mut matrix = DomMatrix::IDENTITY;
    if value.is_undefined() || value.is_null() {
        return Ok(matrix);
    }
    let Some(object) = value.as_object() else {
        return Err(type_error(ctx, "the provided value is not of type 'DOMMatrixInit'"));
    };
    for (short, long, at, default) in NAMES_2D {
        let short: Value<'js> = object.get(short)?;
        let long: Value<'js> = object.get(long)?;
        matrix.m[at] = match (short.is_undefined(), long.is_undefined()) {
            (true, true) => default,
            (false, true) => number(ctx, short)?,
            (true, false) => number(ctx, long)?,
            (false, false) => {
                let (a, b) = (number(ctx, short)?, number(ctx, long)?);
                if a != b && !(a.is_nan() && b.is_nan()) {
                    return Err(type_error(ctx, "the matrix says two different things of one element"));
                }
                b
            }
        };
    }
    let flag: Value<'js> = object.get("is2D")?;
    let mut is_2d = true;
    for (name, at) in NAMES_3D {
        let value: Value<'js> = object.get(name)?;
        if !value.is_undefined() {
            let value = number(ctx, value)?;
            is_2d &= value == DomMatrix::IDENTITY.m[at];
            matrix.m[at] = value;
        }
    }
    match flag.as_bool() {
        Some(true) if !is_2d => return Err(type_error(ctx, "the matrix has 3D elements but says it is 2D")),
        Some(said) => matrix.is_2d = said,
        None => matrix.is_2d = is_2d,
    }
    Ok(matrix)
}

/// A matrix as the prelude keeps it: seventeen numbers, the last telling whether it is 2D.
pub(crate) fn to_list<'js>(ctx: &Ctx<'js>, matrix: &DomMatrix) -> Result<Value<'js>> {
    let list = Array::new(ctx.clone())?;
    for (i, v) in matrix.m.iter().enumerate() {
        list.set(i, *v)?;
    }
    list.set(16, matrix.is_2d)?;
    Ok(list.into_value())
}

fn from_list<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<DomMatrix> {
    let list = value.into_array().ok_or_else(|| type_error(ctx, "not a matrix"))?;
    let mut matrix = DomMatrix::IDENTITY;
    for (i, slot) in matrix.m.iter_mut().enumerate() {
        *slot = list.get(i)?;
    }
    matrix.is_2d = list.get(16)?;
    Ok(matrix)
}

/// From the constructor's argument: nothing, a transform list, or 6 or 16 numbers.
fn parse<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let ctx = c.ctx();
    let matrix = if !c.has(0) {
        DomMatrix::IDENTITY
    } else if let Some(object) = c.arg(0).as_object() {
        let values = crate::path::sequence(ctx, object)?;
        let values = values.into_iter().map(|v| number(ctx, v)).collect::<Result<Vec<_>>>()?;
        lift(ctx, DomMatrix::from_slice(&values))?
    } else {
        lift(ctx, DomMatrix::parse(&coerced_text(ctx, c.arg(0))?))?
    };
    to_list(ctx, &matrix)
}

fn init<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    to_list(c.ctx(), &matrix_arg(c.ctx(), &c.arg(0))?)
}

/// `op(name, matrix, …numbers)`: a new matrix.
fn op<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let name = c.text(0)?;
    let m = from_list(c.ctx(), c.arg(1))?;
    let given = |i: usize, default: f64| if c.has(i + 2) { c.number(i + 2) } else { Ok(default) };
    let out = match name.as_str() {
        "multiply" => m.multiply(&from_list(c.ctx(), c.arg(2))?),
        "translate" => m.translate(given(0, 0.0)?, given(1, 0.0)?, given(2, 0.0)?),
        "scale" => {
            let x = given(0, 1.0)?;
            m.scale(x, given(1, x)?, given(2, 1.0)?, [given(3, 0.0)?, given(4, 0.0)?, given(5, 0.0)?])
        }
        "scale3d" => {
            let s = given(0, 1.0)?;
            m.scale(s, s, s, [given(1, 0.0)?, given(2, 0.0)?, given(3, 0.0)?])
        }
        "rotate" => {
            let x = given(0, 0.0)?;
            // One angle alone turns around z.
            if c.has(3) || c.has(4) { m.rotate(x, given(1, 0.0)?, given(2, 0.0)?) } else { m.rotate(0.0, 0.0, x) }
        }
        "rotateFromVector" => m.rotate_from_vector(given(0, 0.0)?, given(1, 0.0)?),
        "rotateAxisAngle" => m.rotate_axis_angle(given(0, 0.0)?, given(1, 0.0)?, given(2, 0.0)?, given(3, 0.0)?),
        "skewX" => m.skew_x(given(0, 0.0)?),
        "skewY" => m.skew_y(given(0, 0.0)?),
        "flipX" => m.flip_x(),
        "flipY" => m.flip_y(),
        _ => m.inverse(),
    };
    to_list(c.ctx(), &out)
}

fn point<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let m = from_list(c.ctx(), c.arg(0))?;
    let p = m.transform_point([c.number(1)?, c.number(2)?, c.number(3)?, c.number(4)?]);
    c.js(p.to_vec())
}

fn css<'js>(c: &Call<'_, 'js>) -> Result<Value<'js>> {
    let m = from_list(c.ctx(), c.arg(0))?;
    let text = lift(c.ctx(), m.to_css())?;
    c.js(text)
}

/// Defines the natives behind `DOMMatrix`.
pub(crate) fn natives<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("matrixParse", function(ctx, "matrixParse", 1, parse)?)?;
    natives.set("matrixInit", function(ctx, "matrixInit", 1, init)?)?;
    natives.set("matrixOp", function(ctx, "matrixOp", 2, op)?)?;
    natives.set("matrixPoint", function(ctx, "matrixPoint", 5, point)?)?;
    natives.set("matrixCss", function(ctx, "matrixCss", 1, css)?)
}
