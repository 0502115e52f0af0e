//! Modules given as text.

use crate::rewriter::Rewriter;

/// What a module's own syntax left to say at its beginning and end.
#[derive(Debug, Default)]
pub(crate) struct ModuleParts {}

impl Rewriter<'_, '_> {
    pub(crate) fn module_frame(&self) -> (String, String) {
        (
            "(async function(__cove_exports){\"use strict\";const module={exports:{}};(function(module,exports,require){"
                .to_owned(),
            "\n}).call(module.exports,module,module.exports,void 0);Object.assign(__cove_exports,module.exports);\
             __cove_exports.default=module.exports})"
                .to_owned(),
        )
    }
}
