//! The programs of the suite and how each is prepared.
#![allow(dead_code, reason = "not every test binary uses all of it")]

use std::path::PathBuf;

use cove_core::{ImportPolicy, Position};
use cove_script::{Mode, PrepareOptions, Prepared, SourceRefusal, prepare};

/// Where the programs are.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suite")
}

/// One program.
pub(crate) struct Case {
    /// `suite/<mode>/<name>.js` or `.ts`.
    pub(crate) path: PathBuf,
    /// Its text.
    pub(crate) source: String,
}

/// Every program, by name.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for mode in std::fs::read_dir(folder()).unwrap() {
        for file in std::fs::read_dir(mode.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "js" || extension == "ts") {
                let source = std::fs::read_to_string(&path).unwrap();
                all.push(Case { path, source });
            }
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

impl Case {
    /// `mode/name.js`.
    pub(crate) fn name(&self) -> String {
        self.path.strip_prefix(folder()).unwrap().display().to_string()
    }

    /// The file that says what becomes of it.
    pub(crate) fn expected_path(&self) -> PathBuf {
        self.path.with_extension("out")
    }

    /// Cell, body and so on, by folder.
    pub(crate) fn mode(&self) -> String {
        self.path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// Prepares it as its folder says.
    pub(crate) fn prepare(&self) -> Result<Prepared, SourceRefusal> {
        let (mode, guards) = match self.mode().as_str() {
            "cell" => (Mode::Cell, true),
            "body" => (Mode::FunctionBody, true),
            "plain" => (Mode::FunctionBody, false),
            "dynamic" => (Mode::Dynamic, true),
            "module" => (Mode::Module, true),
            other => panic!("no mode {other}"),
        };
        let tools = ["search".to_owned(), "final_answer".to_owned()];
        let policy =
            ImportPolicy { authorized: vec!["lodash".to_owned(), "@scope/pkg".to_owned()], ..ImportPolicy::default() };
        let file_name = self.path.file_name().unwrap().to_str().unwrap();
        let options = PrepareOptions {
            mode,
            guards,
            tool_names: &tools,
            imports: Some(&policy),
            mark_calls: false,
            last_value: false,
            file_name,
        };
        // The program's own last line end belongs to the file, not to the program.
        prepare(self.text(), &options)
    }

    /// The program without the file's last line end.
    pub(crate) fn text(&self) -> &str {
        self.source.strip_suffix('\n').unwrap_or(&self.source)
    }

    /// What the `.out` file should say.
    pub(crate) fn outcome(&self) -> String {
        let place = |at: Position| format!("{}:{}", at.line, at.column);
        match self.prepare() {
            Ok(prepared) => {
                let free: Vec<_> =
                    prepared.free_names.iter().map(|free| format!("{}@{}", free.name, place(free.position))).collect();
                let declared = prepared.declared.join(" ");
                let language = prepared.language;
                format!("{language:?}\ndeclares: {declared}\nuses: {}\n---\n{}\n", free.join(" "), prepared.code)
            }
            Err(refusal) => {
                let at = refusal.position.map_or("nowhere".to_owned(), place);
                let hint = refusal.hint.unwrap_or_default();
                let frame = refusal.frame.unwrap_or_default();
                format!("{:?} at {at}\n{}\nhint: {hint}\n---\n{frame}\n", refusal.kind, refusal.message)
            }
        }
    }
}
