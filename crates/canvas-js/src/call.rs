//! One call from JavaScript: `this`, arguments, and their conversion by the rules of WebIDL.
//!
//! Arguments are converted before anything of ours is borrowed, because converting may run the script's own code.

use rquickjs::class::JsClass;
use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::object::Accessor;
use rquickjs::{Class, Coerced, Ctx, FromJs, Function, IntoJs, Object, Result, Value};

use crate::raise::type_error;
use crate::realm;

/// The call in progress.
pub(crate) struct Call<'a, 'js> {
    params: Params<'a, 'js>,
}

impl<'js> Call<'_, 'js> {
    pub(crate) fn ctx(&self) -> &Ctx<'js> {
        self.params.ctx()
    }

    pub(crate) fn len(&self) -> usize {
        self.params.len()
    }

    /// Throws unless there are at least `count` arguments.
    pub(crate) fn need(&self, count: usize) -> Result<()> {
        if self.len() < count {
            let message = format!(
                "{count} argument{} required, but only {} present",
                if count == 1 { "" } else { "s" },
                self.len()
            );
            return Err(type_error(self.ctx(), &message));
        }
        Ok(())
    }

    /// `this` as an object of a class.
    pub(crate) fn this<C: JsClass<'js>>(&self) -> Result<Class<'js, C>> {
        Class::from_value(&self.params.this()).map_err(|_| type_error(self.ctx(), "Illegal invocation"))
    }

    /// The argument, or `undefined`.
    pub(crate) fn arg(&self, index: usize) -> Value<'js> {
        self.params.arg(index).unwrap_or_else(|| Value::new_undefined(self.ctx().clone()))
    }

    /// Whether the argument is there and not `undefined`.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.params.arg(index).is_some_and(|v| !v.is_undefined())
    }

    /// The argument as a number, of any kind.
    pub(crate) fn number(&self, index: usize) -> Result<f64> {
        number(self.ctx(), self.arg(index))
    }

    /// The first `N` arguments as numbers; throws when there are fewer.
    pub(crate) fn numbers<const N: usize>(&self) -> Result<[f64; N]> {
        self.need(N)?;
        let mut out = [0.0; N];
        for (i, slot) in out.iter_mut().enumerate() {
            *slot = self.number(i)?;
        }
        Ok(out)
    }

    /// The argument as text.
    pub(crate) fn text(&self, index: usize) -> Result<String> {
        text(self.ctx(), self.arg(index))
    }

    /// The argument as a truth value.
    pub(crate) fn truth(&self, index: usize) -> Result<bool> {
        Coerced::<bool>::from_js(self.ctx(), self.arg(index)).map(|c| c.0)
    }

    /// The argument as a finite number; throws otherwise.
    pub(crate) fn finite(&self, index: usize) -> Result<f64> {
        let value = self.number(index)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(type_error(self.ctx(), "the provided double value is non-finite"))
        }
    }

    pub(crate) fn undefined(&self) -> Value<'js> {
        Value::new_undefined(self.ctx().clone())
    }

    pub(crate) fn js(&self, value: impl IntoJs<'js>) -> Result<Value<'js>> {
        value.into_js(self.ctx())
    }
}

/// `ToNumber`.
pub(crate) fn number<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<f64> {
    if let Some(number) = value.as_number() {
        return Ok(number);
    }
    if value.is_undefined() {
        return Ok(f64::NAN);
    }
    if value.is_big_int() || value.is_symbol() {
        return Err(type_error(ctx, "cannot convert the value to a number"));
    }
    Coerced::<f64>::from_js(ctx, value).map(|c| c.0)
}

/// `ToString`, with lone surrogates replaced.
pub(crate) fn text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<String> {
    let string = match value.clone().into_string() {
        Some(string) => string,
        None => return coerced_text(ctx, value),
    };
    match string.to_string() {
        Ok(text) => Ok(text),
        Err(_) => {
            let repair = realm::with(ctx, |realm| realm.well_formed.clone())?;
            Function::from_js(ctx, repair)?.call((string,))
        }
    }
}

/// `ToString` for any value.
pub(crate) fn coerced_text<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<String> {
    if value.is_symbol() {
        return Err(type_error(ctx, "cannot convert a Symbol value to a string"));
    }
    if value.is_string() {
        return text(ctx, value);
    }
    let string = Coerced::<rquickjs::String<'js>>::from_js(ctx, value)?.0;
    text(ctx, string.into_value())
}

/// The body of a native function.
pub(crate) type Body = for<'a, 'js> fn(&Call<'a, 'js>) -> Result<Value<'js>>;

/// A native behind a JavaScript function.
struct Native(Body);

/// Tells our functions from those the binding makes of closures.
struct Plain;

impl<'js> IntoJsFunc<'js, Plain> for Native {
    fn param_requirements() -> ParamRequirement {
        ParamRequirement::any()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> Result<Value<'js>> {
        (self.0)(&Call { params })
    }
}

/// Makes a function of a native.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, name: &str, length: usize, body: Body) -> Result<Function<'js>> {
    Function::new(ctx.clone(), Native(body))?.with_name(name)?.with_length(length)
}

/// Defines methods on a prototype, as WebIDL does: enumerable, writable, configurable.
pub(crate) fn methods<'js>(target: &Object<'js>, list: &[(&str, usize, Body)]) -> Result<()> {
    for (name, length, body) in list {
        target.set(*name, function(target.ctx(), name, *length, *body)?)?;
    }
    Ok(())
}

/// Defines attributes on a prototype. A setter gets the new value as its first argument.
pub(crate) fn attributes<'js>(target: &Object<'js>, list: &[(&str, Body, Option<Body>)]) -> Result<()> {
    for (name, get, set) in list {
        match set {
            Some(set) => {
                let accessor = Accessor::new(Native(*get), Native(*set)).enumerable().configurable();
                target.prop(*name, accessor)?;
            }
            None => target.prop(*name, Accessor::new_get(Native(*get)).enumerable().configurable())?,
        }
    }
    Ok(())
}
