//! Source in, prepared source out.
//!
//! One parse, one walk, one pass of text splices: TypeScript is blanked in place, loops get step guards, `catch`
//! clauses let the end of a run through, a cell keeps its names and its last value. No line is ever added inside the
//! user's own text, so every place in the prepared code maps back to a line and column the user wrote.
//!
//! This crate reads no file, starts no thread and runs no code. What it refuses, it refuses with a sentence, a place
//! and a code frame; it never panics on its input and never overflows the stack of its caller.
//!
//! ```
//! use cove_script::{Mode, PrepareOptions, prepare};
//!
//! let prepared = prepare("const n: number = 41; n + 1", &PrepareOptions::cell()).unwrap();
//! assert_eq!(prepared.declared, ["n"]);
//! let refusal = prepare("let x = ;", &PrepareOptions::new(Mode::FunctionBody)).unwrap_err();
//! assert_eq!(refusal.position.unwrap().column, 9);
//! ```

mod ambient;
mod asked;
mod assigned;
mod builtin;
mod calls;
mod cell;
mod class;
mod commonjs;
mod complete;
mod edits;
mod enums;
mod frame;
mod generic;
mod guard;
mod habits;
mod hints;
mod iterated;
mod last_match;
mod lines;
mod locales;
mod members;
mod module;
mod names;
mod nesting;
mod node;
mod options;
mod own_members;
mod parse;
mod patch;
mod prepare;
mod prepared;
mod redeclared;
mod refusal;
mod rewriter;
mod scan;
mod stack;
mod text;
mod tool_calls;
mod types;
mod value;
mod walk;

pub use calls::Call;
pub use complete::is_complete;
pub use frame::code_frame;
pub use hints::hint;
pub use options::{Language, Mode, PrepareOptions};
pub use prepare::{MAX_SOURCE_BYTES, prepare};
pub use prepared::{ColumnUnit, FreeName, Prepared};
pub use refusal::SourceRefusal;
pub use tool_calls::{ToolPlace, tool_places};
