//! The 33 cases of the contract as data, so that every door is held to the same table.
//!
//! A door's test gives each case an empty folder that is the door's workspace, and a function that calls a tool:
//!
//! ```
//! use cove_files::{FileTool, Stop, Workspace, testkit};
//!
//! for case in testkit::matrix() {
//!     let dir = tempfile::tempdir()?;
//!     let workspace = Workspace::open(dir.path())?;
//!     case.run(dir.path(), &mut |tool, args| {
//!         let tool = FileTool::from_name(tool).ok_or("no such tool")?;
//!         workspace.call(tool, args, &Stop::default()).map(|r| r.to_json()).map_err(|e| e.to_string())
//!     })?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod edit;
mod read;
mod search;
mod write;

use std::path::Path;

use serde_json::Value;

/// One test of the contract: files, then calls with what each must answer.
#[derive(Debug, Clone)]
pub struct Case {
    /// `test_read_01` … `test_ls_33`
    pub name: &'static str,
    /// Files that are there before, by path.
    pub files: Vec<(&'static str, Vec<u8>)>,
    /// Folders that are there before.
    pub folders: Vec<&'static str>,
    /// The calls, in order.
    pub steps: Vec<Step>,
}

/// One call.
#[derive(Debug, Clone)]
pub struct Step {
    /// `read`, `write`, …
    pub tool: &'static str,
    /// The one argument.
    pub args: Value,
    /// Everything that must hold afterwards.
    pub expect: Vec<Expect>,
}

/// Something that must hold after a call.
#[derive(Debug, Clone)]
pub enum Expect {
    /// The first block is exactly this text.
    Text(String),
    /// The first block contains this text.
    Contains(String),
    /// The first block does not contain this text.
    Lacks(String),
    /// There is one block only.
    OneBlock,
    /// The second block is this picture.
    Image(&'static str, Vec<u8>),
    /// There are no details.
    NoDetails,
    /// The details hold this value at this JSON pointer.
    Detail(&'static str, Value),
    /// The details hold a text at this JSON pointer that contains this one.
    DetailContains(&'static str, &'static str),
    /// The call fails, and its message contains this text.
    Fails(&'static str),
    /// The file holds exactly this.
    File(&'static str, Vec<u8>),
}

/// Calls a tool of the door under test: name, argument, and the JSON of the result or the message of the error.
pub type Call<'a> = dyn FnMut(&str, Value) -> Result<Value, String> + 'a;

/// All 33 cases, in order.
pub fn matrix() -> Vec<Case> {
    let mut cases = read::cases();
    cases.extend(write::cases());
    cases.extend(edit::cases());
    cases.extend(search::cases());
    cases
}

impl Case {
    fn new(name: &'static str) -> Self {
        Self { name, files: Vec::new(), folders: Vec::new(), steps: Vec::new() }
    }

    fn file(mut self, path: &'static str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path, content.into()));
        self
    }

    fn folder(mut self, path: &'static str) -> Self {
        self.folders.push(path);
        self
    }

    fn call(mut self, tool: &'static str, args: Value, expect: Vec<Expect>) -> Self {
        self.steps.push(Step { tool, args, expect });
        self
    }

    /// Makes the files in `dir`, which must be the workspace of the door under test.
    pub fn prepare(&self, dir: &Path) -> std::io::Result<()> {
        for folder in &self.folders {
            std::fs::create_dir_all(dir.join(folder))?;
        }
        for (path, content) in &self.files {
            let path = dir.join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, content)?;
        }
        Ok(())
    }

    /// Prepares the folder, makes the calls and says what does not hold.
    pub fn run(&self, dir: &Path, call: &mut Call<'_>) -> Result<(), String> {
        self.prepare(dir).map_err(|error| format!("{}: {error}", self.name))?;
        for step in &self.steps {
            let result = call(step.tool, step.args.clone());
            for expect in &step.expect {
                expect.check(&result, dir).map_err(|wrong| {
                    format!("{}: {}({}): {wrong}\nanswer: {result:?}", self.name, step.tool, step.args)
                })?;
            }
        }
        Ok(())
    }
}

impl Expect {
    fn check(&self, result: &Result<Value, String>, dir: &Path) -> Result<(), String> {
        if let Self::File(path, content) = self {
            let found = std::fs::read(dir.join(path)).map_err(|error| format!("{path}: {error}"))?;
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return (found == *content)
                .then_some(())
                .ok_or_else(|| format!("{path} holds {:?}, not {:?}", shown(&found), shown(content)));
        }
        let value = match (self, result) {
            (Self::Fails(words), Err(message)) if message.contains(words) => return Ok(()),
            (Self::Fails(words), _) => return Err(format!("expected a failure with {words:?}")),
            (_, Err(message)) => return Err(format!("failed with {message:?}")),
            (_, Ok(value)) => value,
        };
        let text = value.pointer("/content/0/text").and_then(Value::as_str).ok_or("the first block is no text")?;
        let blocks = value["content"].as_array().map_or(0, Vec::len);
        let detail = |pointer: &str| value.get("details").and_then(|details| details.pointer(pointer)).cloned();
        let holds = match self {
            Self::Text(expected) => text == expected,
            Self::Contains(part) => text.contains(part),
            Self::Lacks(part) => !text.contains(part),
            Self::OneBlock => blocks == 1,
            Self::Image(mime, bytes) => {
                use base64::Engine as _;
                let data = base64::engine::general_purpose::STANDARD.encode(bytes);
                value.pointer("/content/1")
                    == Some(&serde_json::json!({"type": "image", "mimeType": mime, "data": data}))
            }
            Self::NoDetails => value.get("details").is_none_or(Value::is_null),
            Self::Detail(pointer, expected) => detail(pointer).as_ref() == Some(expected),
            Self::DetailContains(pointer, part) => {
                detail(pointer).is_some_and(|found| found.as_str().is_some_and(|found| found.contains(part)))
            }
            Self::Fails(_) | Self::File(..) => true,
        };
        holds.then_some(()).ok_or_else(|| format!("{self:?} does not hold"))
    }
}
