//! `cove files`: the six file tools for people, by the same crate that agents use.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use cove_files::{FileTool, MAX_WRITE_BYTES, Stop, Workspace};
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::terminal::{self, PLAIN, RED, note};

#[derive(Debug, ClapArgs)]
pub(crate) struct Files {
    /// The folder that is the workspace; nothing outside it can be reached
    #[arg(long, value_name = "DIR", default_value = ".", global = true)]
    workspace: PathBuf,
    /// Print the tool's own result object, or `{"error": {code, message}}`
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Show a text file, or name a picture's type
    Read {
        path: String,
        /// First line, counted from 1
        #[arg(long)]
        offset: Option<u64>,
        /// How many lines
        #[arg(long)]
        limit: Option<u64>,
    },
    /// Write a whole file; missing folders are created
    Write {
        path: String,
        /// The content, or `-` for standard input
        #[arg(long, value_name = "TEXT|-", allow_hyphen_values = true)]
        content: String,
    },
    /// Replace a text that occurs exactly once
    Edit {
        path: String,
        /// Text to replace
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        old: String,
        /// Replacement
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        new: String,
    },
    /// Search in files
    Grep {
        pattern: String,
        path: Option<String>,
        /// Only files that match, e.g. '*.ts'
        #[arg(long)]
        glob: Option<String>,
        /// Ignore case
        #[arg(long)]
        ignore_case: bool,
        /// Treat the pattern as plain text
        #[arg(long)]
        literal: bool,
        /// Lines before and after each match
        #[arg(long)]
        context: Option<u64>,
        /// Maximum number of matches
        #[arg(long)]
        limit: Option<u64>,
    },
    /// Find files by a glob
    Find {
        pattern: String,
        path: Option<String>,
        /// Maximum number of results
        #[arg(long)]
        limit: Option<u64>,
    },
    /// List a folder
    Ls {
        path: Option<String>,
        /// Maximum number of entries
        #[arg(long)]
        limit: Option<u64>,
    },
}

pub(crate) fn files(args: Files) -> anyhow::Result<Exit> {
    let (tool, call) = call(args.tool)?;
    let result = Workspace::open(&args.workspace).and_then(|workspace| workspace.call(tool, call, &Stop::default()));
    match (result, args.json) {
        (Ok(result), true) => terminal::json_line(&result.to_json())?,
        (Ok(result), false) => writeln!(terminal::out(), "{}", result.first_text())?,
        (Err(error), true) => {
            terminal::json_line(&json!({ "error": { "code": error.code, "message": error.message } }))?;
            return Ok(Exit::Guest);
        }
        (Err(error), false) => {
            note!("{RED}{}:{PLAIN} {}", error.code, error.message);
            return Ok(Exit::Guest);
        }
    }
    Ok(Exit::Ok)
}

/// The tool's own call: arguments that were not typed are absent.
fn call(tool: Tool) -> std::io::Result<(FileTool, Value)> {
    let (tool, fields): (FileTool, Vec<(&str, Value)>) = match tool {
        Tool::Read { path, offset, limit } => {
            (FileTool::Read, vec![("path", path.into()), ("offset", offset.into()), ("limit", limit.into())])
        }
        Tool::Write { path, content } => {
            (FileTool::Write, vec![("path", path.into()), ("content", content_text(content)?.into())])
        }
        Tool::Edit { path, old, new } => {
            (FileTool::Edit, vec![("path", path.into()), ("oldText", old.into()), ("newText", new.into())])
        }
        Tool::Grep { pattern, path, glob, ignore_case, literal, context, limit } => {
            let flag = |on: bool| if on { Value::Bool(true) } else { Value::Null };
            let fields = vec![
                ("pattern", pattern.into()),
                ("path", path.into()),
                ("glob", glob.into()),
                ("ignoreCase", flag(ignore_case)),
                ("literal", flag(literal)),
                ("context", context.into()),
                ("limit", limit.into()),
            ];
            (FileTool::Grep, fields)
        }
        Tool::Find { pattern, path, limit } => {
            (FileTool::Find, vec![("pattern", pattern.into()), ("path", path.into()), ("limit", limit.into())])
        }
        Tool::Ls { path, limit } => (FileTool::Ls, vec![("path", path.into()), ("limit", limit.into())]),
    };
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    let object: Map<String, Value> = given.map(|(name, value)| (name.to_owned(), value)).collect();
    Ok((tool, Value::Object(object)))
}

fn content_text(content: String) -> std::io::Result<String> {
    if content != "-" {
        return Ok(content);
    }
    let mut text = String::new();
    // One byte more than may be written: the tool then says that it is too much.
    std::io::stdin().take(MAX_WRITE_BYTES as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}
