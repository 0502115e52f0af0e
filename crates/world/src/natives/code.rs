//! Text that becomes code while the guest runs: `eval`, the function constructors, compartments, modules.

use std::rc::Rc;

use cove_script::{Mode, PrepareOptions, Prepared, prepare};
use rquickjs::{Ctx, Exception, IntoJs, Object, Value};

use super::{put, string};
use crate::blame::{IMPORT_NOT_ALLOWED, MODULE_NOT_FOUND};
use crate::raw;
use crate::state::State;

/// Longest text that becomes code at run time: as long as a cell may be.
const MAX_DYNAMIC_BYTES: usize = 1 << 20;

/// Longest module; popular libraries have up to a few hundred kilobytes.
const MAX_MODULE_BYTES: usize = 8 << 20;

/// Files whose code belongs to a module begin so.
const MODULE_PREFIX: &str = "module:";

pub(super) fn install<'js>(natives: &Object<'js>, state: &Rc<State>) -> rquickjs::Result<()> {
    let known = Rc::clone(state);
    put(natives, "prepareDynamic", move |ctx: Ctx<'js>, text: Value<'js>| -> rquickjs::Result<String> {
        Ok(strict(&known.prepare_dynamic(&ctx, &string(&text)?)?.code))
    })?;
    let known = Rc::clone(state);
    put(
        natives,
        "prepareFunction",
        move |ctx: Ctx<'js>, head: String, parameters: Value<'js>, body: Value<'js>| -> rquickjs::Result<String> {
            let (parameters, body) = (string(&parameters)?, string(&body)?);
            // In two shapes, so that parameters cannot close one and go on behind it.
            known.check_part(&ctx, &format!("(function anonymous({parameters}\n){{}})"), Mode::Dynamic)?;
            known.check_part(&ctx, &format!("(({parameters}\n)=>{{}})"), Mode::Dynamic)?;
            // Nor may a body. What closes a method of an object goes on behind a comma; that of a class does not.
            match head.strip_suffix("function*") {
                Some(prefix) => {
                    let method = format!("{prefix}*anonymous() {{\n{body}\n}}");
                    known.check_part(&ctx, &format!("({{{method}}})"), Mode::Dynamic)?;
                    known.check_part(&ctx, &format!("(class {{{method}}})"), Mode::Dynamic)?;
                }
                None => {
                    known.check_part(&ctx, &body, Mode::FunctionBody)?;
                }
            }
            let whole = format!("({head} anonymous({parameters}\n) {{\n{body}\n}})");
            Ok(strict(&known.prepare_dynamic(&ctx, &whole)?.code))
        },
    )?;
    let known = Rc::clone(state);
    put(natives, "mayMakeFunctions", move |ctx: Ctx<'js>| -> rquickjs::Result<()> {
        if known.compartments.get() {
            return Err(Exception::throw_type(
                &ctx,
                "functions are no longer made from text here, because a Compartment exists that must not reach this \
                 world's globals; use compartment.evaluate, or eval",
            ));
        }
        Ok(())
    })?;
    let known = Rc::clone(state);
    put(natives, "compartmentMade", move || known.compartments.set(true))?;
    put(natives, "callerModule", |ctx: Ctx<'js>| -> Option<String> {
        raw::caller_file(&ctx)?.strip_prefix(MODULE_PREFIX).map(str::to_owned)
    })?;
    let known = Rc::clone(state);
    put(natives, "moduleFunction", move |ctx: Ctx<'js>, name: String| known.module_function(&ctx, &name))
}

/// Dynamic text runs through the engine's indirect `eval`, whose strictness comes from the text itself. The `void 0`
/// keeps the directive from becoming the value of an empty program.
fn strict(code: &str) -> String {
    format!("\"use strict\";void 0;{code}")
}

impl State {
    fn prepare_dynamic(&self, ctx: &Ctx<'_>, text: &str) -> rquickjs::Result<Prepared> {
        self.check_part(ctx, text, Mode::Dynamic)
    }

    fn check_part(&self, ctx: &Ctx<'_>, text: &str, mode: Mode) -> rquickjs::Result<Prepared> {
        if text.len() > MAX_DYNAMIC_BYTES {
            let message = format!("text that becomes code may have {MAX_DYNAMIC_BYTES} bytes");
            return Err(Exception::throw_range(ctx, &message));
        }
        let tool_names = self.tool_names.borrow();
        let options = PrepareOptions {
            guards: self.guards.get(),
            tool_names: tool_names.as_slice(),
            file_name: "eval.js",
            ..PrepareOptions::new(mode)
        };
        prepare(text, &options).map_err(|refusal| Exception::throw_syntax(ctx, &refusal.message))
    }

    /// The function that runs a module, or why there is none: a sentence and a code.
    fn module_function<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
        let imports = self.imports.borrow();
        if !imports.allows(name) {
            return vec![imports.refusal(name).as_str(), IMPORT_NOT_ALLOWED].into_js(ctx);
        }
        let Some(text) = imports.modules.get(name) else {
            return vec![imports.missing(name).as_str(), MODULE_NOT_FOUND].into_js(ctx);
        };
        if text.len() > MAX_MODULE_BYTES {
            return Err(Exception::throw_range(ctx, &format!("module {name} is longer than {MAX_MODULE_BYTES} bytes")));
        }
        let file = format!("{MODULE_PREFIX}{name}");
        // No guards: a module's text comes from the host, and a library may loop where a cell should not.
        let options = PrepareOptions { guards: false, file_name: &file, ..PrepareOptions::new(Mode::Module) };
        let prepared = prepare(text, &options)
            .map_err(|refusal| Exception::throw_syntax(ctx, &format!("{name}: {}", refusal.message)))?;
        let function = crate::run::evaluate(ctx, &prepared.code, &file)?;
        drop(imports);
        self.sources.borrow_mut().keep(file, prepared);
        Ok(function)
    }
}
