//! Names of Node.js in a function body: what can be given harmlessly is given, as text before the user's own.
//!
//! It is guest code like any other: it runs in the guest's world, with the guest's rights, in either engine. A program
//! that uses none of the names gets none of the text, so it costs nothing.

use std::fmt::Write as _;

use cove_core::FS_TOOL;
use oxc_ast::ast::{ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind};

use crate::rewriter::Rewriter;
use crate::text::quote;

/// The modules that `require` and `import()` give, each a function of the others.
const MODULES: &[(&str, &str)] = &[
    ("buffer", include_str!("node/buffer.js")),
    ("process", include_str!("node/process.js")),
    ("util", include_str!("node/util.js")),
    ("path", include_str!("node/path.js")),
    ("events", include_str!("node/events.js")),
    ("url", include_str!("node/url.js")),
    ("assert", include_str!("node/assert.js")),
    ("crypto", include_str!("node/crypto.js")),
    ("fs", include_str!("node/fs.js")),
    ("fs/promises", "(need) => { need('buffer'); return need('fs').promises }"),
    ("path/posix", "(need) => need('path')"),
    ("assert/strict", "(need) => need('assert')"),
    (
        "stream/web",
        "() => { const { ReadableStream, WritableStream, TransformStream, TextEncoderStream, TextDecoderStream, CompressionStream, \
         DecompressionStream, CountQueuingStrategy, ByteLengthQueuingStrategy } = globalThis; return { ReadableStream, WritableStream, \
         TransformStream, TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream, CountQueuingStrategy, \
         ByteLengthQueuingStrategy } }",
    ),
    ("perf_hooks", "() => ({ performance: globalThis.performance })"),
    (
        "timers/promises",
        "() => ({ setTimeout: (ms, value) => new Promise((done) => setTimeout(done, ms, value)), \
         setImmediate: (value) => new Promise((done) => setTimeout(done, 0, value)) })",
    ),
    ("querystring", include_str!("node/querystring.js")),
    ("os", include_str!("node/os.js")),
    ("stream", include_str!("node/stream.js")),
    ("stream/promises", "(need) => need('stream').promises"),
    ("readline", include_str!("node/readline.js")),
    ("readline/promises", "(need) => need('readline').promises"),
    ("string_decoder", include_str!("node/string_decoder.js")),
];

/// Modules that work on a workspace; the presence of the tool [`FS_TOOL`] says that there is one.
const ON_A_WORKSPACE: &[&str] = &["fs", "fs/promises"];

const REQUIRE: &str = include_str!("node/require.js");

/// Names that a body may use without declaring them, in the order in which they are made.
const NAMES: &[(&str, &str)] = &[
    ("Buffer", "__cove_k(\"buffer\").Buffer"),
    ("process", "__cove_k(\"process\")"),
    ("global", "globalThis"),
    ("__dirname", "\"/\""),
    ("__filename", "\"/code.js\""),
    ("setImmediate", "(run,...args)=>setTimeout(run,0,...args)"),
    ("clearImmediate", "(id)=>clearTimeout(id)"),
    ("alert", "(...args)=>{console.log(...args)}"),
    (
        "confirm",
        "()=>{console.warn(\"confirm() has nobody to ask here and gives false; pass the answer as input\");return false}",
    ),
    (
        "prompt",
        "()=>{console.warn(\"prompt() has nobody to ask here and gives null; pass the answer as input\");return null}",
    ),
];

/// What is written for a body that uses names of Node's.
#[derive(Default)]
pub(crate) struct NodeFrame {
    /// Around the function.
    pub(crate) around: String,
    /// Where the function begins: what must be awaited.
    pub(crate) before: String,
    /// What it returns if it exports.
    pub(crate) exported: &'static str,
}

/// Whether a name is given to bodies that use it.
pub(crate) fn is_given(name: &str) -> bool {
    matches!(name, "require" | "module" | "exports") || NAMES.iter().any(|(given, _)| *given == name)
}

/// The module of that name, with or without `node:`.
fn module(name: &str) -> Option<&'static (&'static str, &'static str)> {
    let name = name.strip_prefix("node:").unwrap_or(name);
    MODULES.iter().find(|(given, _)| *given == name)
}

impl<'a> Rewriter<'a, '_> {
    /// Whether `import(name)` gives a module of Node's here: no other of that name is allowed, and there is one.
    pub(crate) fn imports_node(&self, name: &str) -> bool {
        self.is_body()
            && module(name).is_some_and(|(name, _)| self.is_there(name))
            && self.options.imports.is_none_or(|policy| !policy.allows(name))
    }

    /// A static import of such a module: its names are declared where the function begins.
    pub(crate) fn node_import(&mut self, it: &ImportDeclaration<'a>) {
        self.blank_item(it.span);
        let module = it.source.value.as_str();
        let mut names = Vec::new();
        let mut whole = None;
        for specifier in it.specifiers.iter().flatten() {
            let local = specifier.local();
            self.check_name(local.name.as_str(), local.span.start);
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind == ImportOrExportKind::Type => {}
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    names.push(format!("{}:{}", quote(one.imported.name().as_str()), local.name));
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => names.push(format!("default:{}", local.name)),
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => whole = Some(local.name.as_str()),
            }
        }
        let bindings = &mut self.module.node_bindings;
        let loaded = format!("await __cove_b({})", quote(module));
        let _ = write!(bindings, "const {{{}}}={loaded};", names.join(","));
        if let Some(whole) = whole {
            let _ = write!(bindings, "const {whole}={loaded};");
        }
        self.module.node_imports.push(module.to_owned());
    }

    /// Whether a module works in this session.
    fn is_there(&self, name: &str) -> bool {
        !ON_A_WORKSPACE.contains(&name) || self.options.tool_names.iter().any(|tool| tool == FS_TOOL)
    }

    /// The text for the names that the body uses and does not declare.
    pub(crate) fn node_frame(&mut self) -> NodeFrame {
        // A name that is only asked for its type is absent, as in any sandbox.
        let used = std::mem::take(&mut self.node_names);
        if used.is_empty() && self.module.node_imports.is_empty() {
            return NodeFrame::default();
        }
        let uses = |name: &str| used.contains(&name);
        let (requires, exports) = (uses("require"), uses("module") || uses("exports"));
        let (mut head, mut before) = (String::new(), std::mem::take(&mut self.module.node_bindings));
        if requires || !self.module.node_imports.is_empty() || uses("Buffer") || uses("process") {
            self.write_modules(&mut head, requires, uses("Buffer"), uses("process"));
        }
        for (name, value) in NAMES.iter().filter(|(name, _)| uses(name)) {
            let _ = write!(head, "let {name}={value};");
        }
        if requires || exports {
            head.push_str("let module={exports:{},id:\".\",filename:\"/code.js\",loaded:false,children:[]};");
        }
        if uses("exports") {
            head.push_str("let exports=module.exports;");
        }
        if requires {
            let modules: Vec<String> = std::mem::take(&mut self.module.required);
            let allowed = |name: &String| self.options.imports.is_some_and(|policy| policy.allows(name));
            head.push_str("const __cove_r={__proto__:null};");
            for name in modules.iter().filter(|name| allowed(name)) {
                before.push_str(&preload(name));
            }
            let _ = write!(head, "let require=({})(__cove_k,__cove_r,module);", flat(REQUIRE));
        }
        self.free.retain(|(name, _)| !used.contains(name));
        // A program that says what it exports and returns nothing means the export; a function is called with the input.
        let exported = if exports && self.top_return.is_none() {
            "\n;if(typeof module.exports===\"function\")return module.exports(input);\
             if(typeof module.exports!==\"object\"||Object.keys(module.exports??[0]).length>0)return module.exports;"
        } else {
            ""
        };
        NodeFrame { around: head, before, exported }
    }

    fn write_modules(&self, head: &mut String, requires: bool, buffer: bool, process: bool) {
        let mut wanted: Vec<&str> = Vec::new();
        let named = || self.module.required.iter().chain(&self.module.node_imports);
        let all = requires && (self.module.requires_any || self.module.required.is_empty());
        for (name, _) in MODULES.iter().filter(|(name, _)| self.is_there(name)) {
            let direct = all
                || named().any(|one| module(one).is_some_and(|(given, _)| given == name))
                || (buffer && *name == "buffer")
                || (process && *name == "process");
            if direct {
                wanted.push(name);
            }
        }
        // What they need in their turn. Whoever names no stream needs none of `fs`.
        let mut at = 0;
        while let Some((name, text)) = wanted.get(at).and_then(|name| MODULES.iter().find(|(given, _)| given == name)) {
            at += 1;
            for (other, _) in MODULES.iter().filter(|(other, _)| text.contains(&format!("need('{other}')"))) {
                let spared = *name == "fs" && *other == "stream" && !self.source.contains("Stream");
                if !wanted.contains(other) && !spared {
                    wanted.push(other);
                }
            }
        }
        head.push_str("const __cove_k=((d,c)=>{const need=(n)=>c[n]??=d[n]?.(need);return need})({__proto__:null,");
        for (name, text) in MODULES.iter().filter(|(name, _)| wanted.contains(name)) {
            let _ = write!(head, "{}:{},", quote(name), flat(text));
        }
        head.push_str("},{__proto__:null});");
        if !self.module.node_imports.is_empty() {
            head.push_str(
                "const __cove_b=async(n)=>{const m=__cove_k(n.replace(\"node:\",\"\"));return{__proto__:null,...m,default:m}};",
            );
        }
    }
}

/// Loads a module that is allowed before the text runs, so that `require` can give it at once. A failure is kept until the
/// name is really required.
pub(crate) fn preload(name: &str) -> String {
    let name = quote(name);
    format!(
        "try{{const __cove_i=await __cove_import({name});\
         __cove_r[{name}]=()=>\"module.exports\" in __cove_i?__cove_i[\"module.exports\"]:__cove_i}}\
         catch(__cove_e){{__cove_catch(__cove_e);__cove_r[{name}]=()=>{{throw __cove_e}}}}"
    )
}

/// The text on one line: the user's first line stays the first.
fn flat(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    lines.join(" ")
}
