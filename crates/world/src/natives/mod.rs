//! The native functions behind the prelude. Guest code never sees this object; it sees what the prelude makes of it.

mod code;
mod compression;
mod crypto;
mod end;
mod file_url;
mod intl;
mod look;
mod pattern;
mod talk;
mod text;
mod time;
mod url;

use std::rc::Rc;

use rquickjs::function::IntoJsFunc;
use rquickjs::{Ctx, Function, Object, Value};

use crate::raw;
use crate::state::State;

pub(crate) use end::{count_step, guard_promises, install_end, start_steps, steps_used};

/// All of them, as one object.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> rquickjs::Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    put(&natives, "define", |ctx: Ctx<'js>, name: String, value: Value<'js>| -> rquickjs::Result<()> {
        raw::define(&ctx.globals(), &name, &value, true, false, true)
    })?;
    look::install(&natives, state)?;
    talk::install(&natives, state)?;
    time::install(&natives, state)?;
    text::install(&natives)?;
    url::install(&natives)?;
    code::install(&natives, state)?;
    Ok(natives)
}

/// What one file that is loaded late has for itself; nobody else needs it, so that it is made with the file.
pub(crate) fn of_late_file<'js>(ctx: &Ctx<'js>, file: &str) -> rquickjs::Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    match file {
        "compression.js" => compression::install(&natives)?,
        "intl.js" => intl::install(&natives)?,
        "keys.js" => crypto::install_keys(&natives)?,
        "rsa.js" => crypto::install_rsa(&natives)?,
        "pattern.js" => pattern::install(&natives)?,
        "subtle.js" => crypto::install(&natives)?,
        _ => {}
    }
    Ok(natives)
}

/// Defines one native function.
fn put<'js, P, F>(natives: &Object<'js>, name: &str, function: F) -> rquickjs::Result<()>
where
    F: IntoJsFunc<'js, P> + 'js,
{
    natives.set(name, Function::new(natives.ctx().clone(), function)?.with_name(name)?)
}

/// The text of an argument that the prelude has made a string.
fn string(value: &Value<'_>) -> rquickjs::Result<String> {
    raw::text(value).ok_or(rquickjs::Error::Allocation)
}
