//! What a caller may ask of `prepare`.

use cove_core::ImportPolicy;

/// What the text is, and so what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The body of an async function of `input`; `return` gives the value.
    FunctionBody,
    /// A cell of a session: its top-level names persist, its last expression is its value.
    Cell,
    /// Text given to `eval` or `Function` inside the guest: a plain script with guards.
    Dynamic,
    /// The text of a module, ES or CommonJS.
    Module,
}

/// What the text was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Plain JavaScript.
    JavaScript,
    /// JavaScript with types, which were blanked.
    TypeScript,
}

/// How to prepare a text.
#[derive(Debug, Clone, Copy)]
pub struct PrepareOptions<'a> {
    /// What the text is.
    pub mode: Mode,
    /// Step guards in loops. Cells have them always.
    pub guards: bool,
    /// Names of tools: nobody may assign them, no cell may declare them at its top level.
    pub tool_names: &'a [String],
    /// A literal `import("x")` that this policy does not allow is refused here. `None`: decided at run time.
    pub imports: Option<&'a ImportPolicy>,
    /// Marks calls with calls among their arguments, so that an engine which knows a call only by what was read last
    /// says which one failed. V8 needs none.
    pub mark_calls: bool,
    /// The last expression is the value of a function body that has no `return` of its own.
    pub last_value: bool,
    /// The name shown in code frames.
    pub file_name: &'a str,
}

impl PrepareOptions<'_> {
    /// Guards on, no tools, imports decided at run time.
    pub fn new(mode: Mode) -> Self {
        let file_name = match mode {
            Mode::FunctionBody => "code.js",
            Mode::Cell => "cell.js",
            Mode::Dynamic => "eval.js",
            Mode::Module => "module.js",
        };
        Self { mode, guards: true, tool_names: &[], imports: None, mark_calls: false, last_value: false, file_name }
    }

    /// The options of an executor's cell.
    pub fn cell() -> Self {
        Self::new(Mode::Cell)
    }
}
