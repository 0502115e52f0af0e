//! CommonJS and UMD texts: `module`, `exports` and `require`.
//!
//! `require` answers at once, and a module here is loaded by waiting for it. So what a text requires by a literal name
//! is loaded before its first character runs; a failure is kept until the name is really required, for many libraries
//! only try. What the text exports is told twice: as `default`, and name by name.

use oxc_ast::ast::{CallExpression, Expression};

use crate::node::preload;
use crate::options::Mode;
use crate::rewriter::Rewriter;

impl<'a> Rewriter<'a, '_> {
    /// Notes `require("name")`, if the name `require` is the wrapper's.
    pub(crate) fn note_require(&mut self, it: &CallExpression<'a>) {
        let Expression::Identifier(callee) = &it.callee else { return };
        if callee.name != "require" || !matches!(self.options.mode, Mode::Module | Mode::FunctionBody) {
            return;
        }
        let reference = callee.reference_id.get().map(|id| self.scoping.get_reference(id));
        if reference.is_none_or(|reference| reference.symbol_id().is_some()) {
            return;
        }
        let name = match it.arguments.first().and_then(|argument| argument.as_expression()) {
            Some(Expression::StringLiteral(text)) => text.value.as_str(),
            Some(Expression::TemplateLiteral(text)) => match text.single_quasi() {
                Some(quasi) => quasi.as_str(),
                None => {
                    self.module.requires_any = true;
                    return;
                }
            },
            _ => {
                self.module.requires_any = true;
                return;
            }
        };
        if self.module.required_seen.insert(name.to_owned()) {
            self.module.required.push(name.to_owned());
        }
    }

    /// The wrapper of a CommonJS text.
    pub(crate) fn commonjs_frame(&self) -> (String, String) {
        let mut head = "(async function(__cove_exports){\"use strict\";\
                        const __cove_m={exports:{}},__cove_r={__proto__:null};\
                        Object.defineProperty(__cove_exports,\"module.exports\",{get:()=>__cove_m.exports});"
            .to_owned();
        head.push_str(&self.own_classes());
        for name in &self.module.required {
            head.push_str(&preload(name));
        }
        head.push_str("(function(module,exports,require){");
        let tail = "\n}).call(__cove_m.exports,__cove_m,__cove_m.exports,function require(__cove_s){\
                    if(!(__cove_s in __cove_r))throw new Error(\"Cannot require \"+__cove_s+\": only names written as a \
                    literal can be required; import() takes others\");return __cove_r[__cove_s]()});\
                    const __cove_x=__cove_m.exports;\
                    if(__cove_x!==null&&(typeof __cove_x===\"object\"||typeof __cove_x===\"function\"))\
                    for(const __cove_k of Object.keys(__cove_x))__cove_exports[__cove_k]=__cove_x[__cove_k];\
                    __cove_exports.default=__cove_x})";
        (head, tail.to_owned())
    }
}
