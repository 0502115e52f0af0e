//! `cove sandbox exec`: whatever can run in a sandbox, by one word. Python and commands are heard while they run.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use cove_api::{BrowserExecRequest, JavaScriptExecRequest, PythonExecRequest, ShellExecRequest};
use cove_client::Client;

use super::args::Exec;
use super::live::Printed;
use super::{print_json, processes, wait};
use crate::exit::Exit;
use crate::terminal::{self, DIM, PLAIN, RED, note};

/// The most code that is read from a file or from standard input: what Bay takes in one body.
const MAX_CODE_BYTES: u64 = 8 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shell,
    Python,
    JavaScript,
    Browser,
}

pub(super) async fn exec(bay: &Client, args: Exec, json: bool) -> anyhow::Result<Exit> {
    let (kind, text) = match understood(&args) {
        Ok(understood) => understood,
        Err(error) => {
            note!("{RED}error:{PLAIN} {error:#}");
            return Ok(Exit::Usage);
        }
    };
    let (id, timeout) = (args.id.as_str(), args.timeout);
    if args.detach {
        return processes::start(bay, id, text, (args.name, args.restart), json).await;
    }
    let work = async {
        match kind {
            Kind::Shell => {
                let mut printed = listen(bay, id, json).await;
                let request = ShellExecRequest {
                    command: text,
                    timeout,
                    cwd: None,
                    include_code: false,
                    description: None,
                    tags: None,
                    output_tag: printed.as_ref().map(Printed::tag),
                };
                let run = bay.exec_shell(id, &request);
                let done = match &mut printed {
                    Some(printed) => printed.during(run, |done| done.execution_id.clone()).await?,
                    None => run.await?,
                };
                shown(json, &done, done.success, &done.output, done.error.as_deref(), printed.as_ref())
            }
            Kind::Python => {
                let mut printed = listen(bay, id, json).await;
                let request = PythonExecRequest {
                    code: text,
                    timeout,
                    include_code: false,
                    description: None,
                    tags: None,
                    output_tag: printed.as_ref().map(Printed::tag),
                    ..PythonExecRequest::default()
                };
                let run = bay.exec_python(id, &request);
                let done = match &mut printed {
                    Some(printed) => printed.during(run, |done| done.execution_id.clone()).await?,
                    None => run.await?,
                };
                let pictures = done.data.as_ref().map_or(0, |data| data.output.images.len());
                if pictures > 0 && !json {
                    note!("{DIM}{pictures} pictures; `--json` has them{PLAIN}");
                }
                shown(json, &done, done.success, &done.output, done.error.as_deref(), printed.as_ref())
            }
            Kind::JavaScript => {
                let request: JavaScriptExecRequest =
                    serde_json::from_value(serde_json::json!({ "code": text, "timeout": timeout }))?;
                let done = bay.exec_javascript(id, &request).await?;
                for image in done.data.iter().filter(|_| !json).flat_map(|data| &data.images) {
                    note!("{DIM}picture{PLAIN} {0} (cove sandbox cp {id}:@{0} .)", image.name);
                }
                shown(json, &done, done.success, &done.output, done.error.as_deref(), None)
            }
            Kind::Browser => {
                let request = BrowserExecRequest {
                    cmd: text,
                    timeout,
                    description: None,
                    tags: None,
                    learn: false,
                    include_trace: false,
                };
                let done = bay.exec_browser(id, &request).await?;
                shown(json, &done, done.success, &done.output, done.error.as_deref(), None)
            }
        }
    };
    wait::with_progress(&format!("{id} works"), work).await
}

/// Whoever reads JSON reads it at the end.
async fn listen(bay: &Client, id: &str, json: bool) -> Option<Printed> {
    if json { None } else { Printed::listen(bay, id).await }
}

fn shown(
    json: bool,
    answer: &impl serde::Serialize,
    success: bool,
    output: &str,
    error: Option<&str>,
    printed: Option<&Printed>,
) -> anyhow::Result<Exit> {
    let exit = if success { Exit::Ok } else { Exit::Guest };
    if json {
        print_json(answer)?;
        return Ok(exit);
    }
    let error = error.map(|error| printed.map_or(error, |printed| printed.rest_of_error(error)));
    let output = printed.map_or(output.into(), |printed| printed.rest(output));
    let mut out = terminal::out();
    out.write_all(output.as_bytes())?;
    let mid_line = printed.filter(|_| output.is_empty()).is_some_and(Printed::is_mid_line);
    if mid_line || (!output.is_empty() && !output.ends_with('\n')) {
        out.write_all(b"\n")?;
    }
    drop(out);
    if let Some(error) = error.filter(|error| !error.is_empty() && **error != *output) {
        note!("{RED}{}{PLAIN}", error.trim_end());
    }
    Ok(exit)
}

/// What is to run, and where: as said, else by the file's ending, else as a command.
fn understood(args: &Exec) -> anyhow::Result<(Kind, String)> {
    let file = match args.words.as_slice() {
        [word] if args.code.is_none() => Some(word.as_str()),
        _ => None,
    };
    let guessed = file.filter(|_| !args.detach).filter(|file| Path::new(file).is_file()).and_then(|file| {
        match Path::new(file).extension()?.to_str()? {
            "py" => Some(Kind::Python),
            "js" | "mjs" | "ts" | "mts" => Some(Kind::JavaScript),
            _ => None,
        }
    });
    let kind = match (args.python, args.js, args.browser) {
        (true, ..) => Kind::Python,
        (_, true, _) => Kind::JavaScript,
        (_, _, true) => Kind::Browser,
        _ => guessed.unwrap_or(Kind::Shell),
    };
    let text = match (kind, &args.code, file) {
        (_, Some(code), _) if args.words.is_empty() => code.clone(),
        (_, Some(_), _) => anyhow::bail!("give either -c CODE or a command, not both"),
        (_, None, _) if args.words.is_empty() => anyhow::bail!("nothing to run: give a command, a file, or -c CODE"),
        (Kind::Python | Kind::JavaScript, None, Some(file)) => read(file)?,
        (Kind::Python | Kind::JavaScript, None, None) => anyhow::bail!("give one file, or -c CODE"),
        // One word is a command line as it is; several are words, and stay what they are.
        (Kind::Shell | Kind::Browser, None, Some(line)) => line.to_owned(),
        (Kind::Shell | Kind::Browser, None, None) => {
            args.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        }
    };
    Ok((kind, text))
}

fn read(file: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut source: Box<dyn std::io::Read> = match file {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).with_context(|| path.to_owned())?),
    };
    source.by_ref().take(MAX_CODE_BYTES).read_to_string(&mut text).with_context(|| file.to_owned())?;
    Ok(text)
}

/// A word that a shell takes as one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        exec: Exec,
    }

    #[test]
    fn what_is_typed_is_understood() {
        let check = |words: &[&str], kind: Kind, text: &str| {
            let typed = Typed::try_parse_from([&["exec", "sandbox-1"], words].concat()).unwrap();
            assert_eq!(understood(&typed.exec).unwrap(), (kind, text.to_owned()), "{words:?}");
        };
        check(&["--", "ls", "-l"], Kind::Shell, "ls -l");
        check(&["ls | wc"], Kind::Shell, "ls | wc");
        check(&["--", "echo", "a b", "it's"], Kind::Shell, r"echo 'a b' 'it'\''s'");
        check(&["--python", "-c", "1 + 1"], Kind::Python, "1 + 1");
        check(&["--js", "-c", "return 1"], Kind::JavaScript, "return 1");
        check(&["--browser", "open https://example.com"], Kind::Browser, "open https://example.com");
        check(&["--browser", "--", "fill", "@e1", "a b"], Kind::Browser, "fill @e1 'a b'");
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("a.py");
        std::fs::write(&script, "print(1)").unwrap();
        check(&[script.to_str().unwrap()], Kind::Python, "print(1)");
        let typed = Typed::try_parse_from(["exec", "sandbox-1"]).unwrap();
        assert!(understood(&typed.exec).is_err());
    }
}
