//! The parameters of the six tools: one table for the JSON schemas, the checks and the positional forms.
//!
//! A model that sends `limit: "10"` should read "`limit` must be a whole number", not a parser's complaint; and what
//! the schema promises and what is checked cannot drift apart when both are this table.

use serde_json::{Map, Value, json};

use crate::error::FileError;

/// One of the six tools, or what `require('fs')` is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileTool {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `edit`
    Edit,
    /// `grep`
    Grep,
    /// `find`
    Find,
    /// `ls`
    Ls,
    /// The operations of `require('fs')`: for the text that defines it, not for models.
    Fs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// A whole number of at least this.
    Count(u64),
    Flag,
    Edits,
}

struct Param {
    name: &'static str,
    kind: Kind,
    required: bool,
    /// Empty where the name says it all: schemas are in a model's window before its first word.
    about: &'static str,
}

const fn param(name: &'static str, kind: Kind, required: bool, about: &'static str) -> Param {
    Param { name, kind, required, about }
}

const WHERE: Param = param("path", Kind::Text, false, "Folder or file; default: the workspace");

static READ: &[Param] = &[
    param("path", Kind::Text, true, ""),
    param("offset", Kind::Count(0), false, "First line, from 1"),
    param("limit", Kind::Count(1), false, "Lines"),
];
static WRITE: &[Param] = &[param("path", Kind::Text, true, ""), param("content", Kind::Text, true, "")];
static EDIT: &[Param] = &[
    param("path", Kind::Text, true, ""),
    param("oldText", Kind::Text, false, ""),
    param("newText", Kind::Text, false, ""),
    param("edits", Kind::Edits, false, "Instead of oldText and newText"),
];
static GREP: &[Param] = &[
    param("pattern", Kind::Text, true, "Regular expression"),
    WHERE,
    param("glob", Kind::Text, false, "Only these files: '*.ts', 'src/**/*.py'; '!' in front excludes"),
    param("ignoreCase", Kind::Flag, false, ""),
    param("literal", Kind::Flag, false, "The pattern is plain text"),
    param("context", Kind::Count(0), false, "Lines around each match"),
    param("limit", Kind::Count(1), false, "Default 100"),
];
static FIND: &[Param] = &[
    param("pattern", Kind::Text, true, "'*.rs': a name at any depth; 'src/**/*.rs': a path"),
    WHERE,
    param("limit", Kind::Count(1), false, "Default 1000"),
];
static LS: &[Param] =
    &[param("path", Kind::Text, false, "Default: the workspace"), param("limit", Kind::Count(1), false, "Default 500")];

impl FileTool {
    /// All six that models and people use.
    pub const ALL: [Self; 6] = [Self::Read, Self::Write, Self::Edit, Self::Grep, Self::Find, Self::Ls];

    /// What guest code gets.
    pub const FOR_CODE: [Self; 7] = [Self::Read, Self::Write, Self::Edit, Self::Grep, Self::Find, Self::Ls, Self::Fs];

    /// How many bytes a call brings into the workspace, or `None` if it makes nothing there.
    pub fn brings(self, args: &Value) -> Option<u64> {
        match self {
            Self::Write | Self::Edit => Some(args["content"].as_str().map_or(0, str::len) as u64),
            Self::Fs => crate::fs::brings(args),
            Self::Read | Self::Grep | Self::Find | Self::Ls => None,
        }
    }

    /// Its short name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
            Self::Grep => "grep",
            Self::Find => "find",
            Self::Ls => "ls",
            Self::Fs => "fs",
        }
    }

    /// The tool of that name, in either naming scheme (`read`, `readTool`).
    pub fn from_name(name: &str) -> Option<Self> {
        let short = name.strip_suffix("Tool").unwrap_or(name);
        Self::ALL.into_iter().find(|tool| tool.name() == short)
    }

    fn params(self) -> &'static [Param] {
        match self {
            Self::Read => READ,
            Self::Write => WRITE,
            Self::Edit => EDIT,
            Self::Grep => GREP,
            Self::Find => FIND,
            Self::Ls => LS,
            Self::Fs => &[],
        }
    }

    /// JSON Schema of the tool's one argument.
    pub fn schema(self) -> Value {
        let properties: Map<String, Value> =
            self.params().iter().map(|param| (param.name.to_owned(), param.schema())).collect();
        let required: Vec<_> = self.params().iter().filter(|param| param.required).map(|param| param.name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// The one object that positional arguments stand for: `read(path, {offset})`, `edit(path, oldText, newText)`.
    pub fn arguments(self, args: Vec<Value>) -> Result<Value, FileError> {
        if args.is_empty() || args.len() == 1 && (args[0].is_object() || args[0].is_null()) {
            return Ok(args.into_iter().next().filter(Value::is_object).unwrap_or_else(|| json!({})));
        }
        let mut object = Map::new();
        let mut names = self.params().iter();
        for arg in args {
            match arg {
                Value::Object(options) => object.extend(options),
                Value::Array(edits) if self == Self::Edit => drop(object.insert("edits".to_owned(), edits.into())),
                arg => {
                    let Some(param) = names.next() else {
                        return Err(FileError::invalid_args(format!("{}: too many arguments", self.name())));
                    };
                    object.insert(param.name.to_owned(), arg);
                }
            }
        }
        Ok(Value::Object(object))
    }

    /// Checks names and types; leaves out what is null and writes whole numbers as such.
    pub(crate) fn checked(self, args: Value) -> Result<Value, FileError> {
        let tool = self.name();
        let Value::Object(args) = args else {
            return Err(FileError::invalid_args(format!("{tool}: the argument must be an object")));
        };
        let mut checked = Map::new();
        for (name, value) in args {
            let Some(param) = self.params().iter().find(|param| param.name == name) else {
                let known: Vec<_> = self.params().iter().map(|param| format!("`{}`", param.name)).collect();
                return Err(FileError::invalid_args(format!(
                    "{tool}: there is no parameter `{}`; known are {}",
                    crate::path::shown(name.as_bytes()),
                    known.join(", ")
                )));
            };
            if !value.is_null() {
                checked.insert(name, param.check(tool, value)?);
            }
        }
        match self.params().iter().find(|param| param.required && !checked.contains_key(param.name)) {
            Some(param) => Err(FileError::invalid_args(format!("{tool}: `{}` is missing", param.name))),
            None => Ok(Value::Object(checked)),
        }
    }
}

impl Param {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Count(min) => json!({"type": "integer", "minimum": min}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Edits => json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                    "required": ["oldText", "newText"],
                },
            }),
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    fn check(&self, tool: &str, value: Value) -> Result<Value, FileError> {
        let wrong = |what: &str| Err(FileError::invalid_args(format!("{tool}: `{}` must be {what}", self.name)));
        match (self.kind, &value) {
            (Kind::Text, Value::String(_)) | (Kind::Flag, Value::Bool(_)) => Ok(value),
            (Kind::Text, _) => wrong("a string"),
            (Kind::Flag, _) => wrong("true or false"),
            (Kind::Count(min), number) => match whole(number).filter(|count| *count >= min) {
                Some(count) => Ok(count.into()),
                None => wrong(&format!("a whole number of at least {min}")),
            },
            (Kind::Edits, Value::Array(edits)) if !edits.is_empty() && edits.iter().all(is_edit) => Ok(value),
            (Kind::Edits, _) => wrong("a list of objects with the strings `oldText` and `newText`"),
        }
    }
}

/// A number that JavaScript would call an integer; `2.0` is one.
fn whole(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    let from_float = |float: f64| ((0.0..=9e15).contains(&float) && float.fract() == 0.0).then_some(float as u64);
    value.as_u64().or_else(|| from_float(value.as_f64()?))
}

fn is_edit(value: &Value) -> bool {
    let is_text = |name| value.get(name).is_some_and(Value::is_string);
    value.as_object().is_some_and(|edit| edit.len() == 2) && is_text("oldText") && is_text("newText")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileErrorCode;

    #[test]
    fn wrong_arguments_are_named() {
        for (tool, args, words) in [
            (FileTool::Read, json!(1), "must be an object"),
            (FileTool::Read, json!({}), "`path` is missing"),
            (FileTool::Read, json!({"path": null}), "`path` is missing"),
            (FileTool::Read, json!({"path": 1}), "`path` must be a string"),
            (FileTool::Read, json!({"path": "a", "limit": 0}), "`limit` must be a whole number of at least 1"),
            (FileTool::Read, json!({"path": "a", "limit": "10"}), "`limit` must be a whole number"),
            (FileTool::Read, json!({"path": "a", "offset": -1}), "`offset` must be a whole number"),
            (FileTool::Read, json!({"path": "a", "offset": 1.5}), "`offset` must be a whole number"),
            (FileTool::Read, json!({"path": "a", "offest": 1}), "no parameter `offest`; known are `path`, `offset`"),
            (FileTool::Edit, json!({"path": "a", "edits": []}), "`edits` must be a list"),
            (FileTool::Edit, json!({"path": "a", "edits": [{"oldText": "x"}]}), "`edits` must be a list"),
            (FileTool::Grep, json!({"pattern": "x", "literal": "yes"}), "`literal` must be true or false"),
        ] {
            let error = tool.checked(args.clone()).unwrap_err();
            assert_eq!(error.code, FileErrorCode::InvalidArgs);
            assert!(error.message.contains(words), "{args}: {error}");
        }
        assert_eq!(
            FileTool::Read.checked(json!({"path": "a", "limit": 2.0, "offset": null})).unwrap(),
            json!({"path": "a", "limit": 2})
        );
    }

    #[test]
    fn positional_arguments_mean_the_same() {
        for (tool, args, object) in [
            (FileTool::Read, json!(["a"]), json!({"path": "a"})),
            (FileTool::Read, json!(["a", {"offset": 2}]), json!({"path": "a", "offset": 2})),
            (FileTool::Read, json!(["a", 2, 3]), json!({"path": "a", "offset": 2, "limit": 3})),
            (FileTool::Write, json!(["a", "b"]), json!({"path": "a", "content": "b"})),
            (FileTool::Edit, json!(["a", "b", "c"]), json!({"path": "a", "oldText": "b", "newText": "c"})),
            (FileTool::Edit, json!(["a", [1]]), json!({"path": "a", "edits": [1]})),
            (FileTool::Grep, json!(["a", "b", {"limit": 1}]), json!({"pattern": "a", "path": "b", "limit": 1})),
            (FileTool::Find, json!(["a"]), json!({"pattern": "a"})),
            (FileTool::Ls, json!([]), json!({})),
            (FileTool::Ls, json!([null]), json!({})),
            (FileTool::Ls, json!([{"path": "x"}]), json!({"path": "x"})),
        ] {
            let Value::Array(args) = args else { unreachable!() };
            assert_eq!(tool.arguments(args).unwrap(), object);
        }
        assert_eq!(
            FileTool::Ls.arguments(vec![json!("a"), json!(1), json!(2)]).unwrap_err().code,
            FileErrorCode::InvalidArgs
        );
    }

    #[test]
    fn schemas_name_what_is_required() {
        assert_eq!(FileTool::Grep.schema()["required"], json!(["pattern"]));
        assert_eq!(FileTool::Edit.schema()["properties"]["edits"]["items"]["required"], json!(["oldText", "newText"]));
        assert_eq!(FileTool::from_name("lsTool"), Some(FileTool::Ls));
        assert_eq!(FileTool::from_name("rm"), None);
    }
}
