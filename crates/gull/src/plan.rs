//! A command, checked: what is passed on, which files go in and come out.
//!
//! Nothing here touches a file or a process. A plan says *what* a word is; `stage.rs` gives agent-browser paths of its
//! own for the files, so that it never learns where the workspace lies.

use cove_chrome::AddressRule;
use cove_core::beginning_chars;
use cove_files::rel_path;
use cove_workspace::RelPath;

use crate::address;
use crate::refusal::CommandRefusal;
use crate::verbs::{COMMON_FLAGS, FORMS, Form, OWNED_FLAGS, OWNED_VERBS, Takes};
use crate::words::split;

/// Commands in one `batch`.
const MAX_BATCH: usize = 100;

/// One word of a command that will be passed on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Word {
    Text(String),
    /// A file of the workspace to read.
    In(RelPath),
    /// A file of the workspace to write; `later` when another command will finish it.
    Out {
        path: RelPath,
        later: bool,
    },
}

impl Word {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// What a command line comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    /// Says what there is, without a browser.
    Help,
    /// Ends the browser; what it has stored stays.
    Close,
    /// One command. `literal`: a word of text looks like a flag, so it has to go where no flags are looked for.
    One { words: Vec<Word>, json: bool, literal: bool },
    /// Several commands in one call.
    Batch { options: Vec<String>, commands: Vec<Vec<Word>> },
}

/// What a plan is checked against.
pub(crate) struct Rules<'a> {
    /// The network that the browser has.
    pub(crate) network: &'a AddressRule,
    /// Whether `localhost` is the sandbox.
    pub(crate) inside: bool,
    /// Makes the name of a file that the command leaves open: its prefix and its ending.
    pub(crate) name_file: &'a dyn Fn(&str, &str) -> String,
}

impl Plan {
    /// Reads and checks a command line.
    pub(crate) fn read(line: &str, rules: &Rules<'_>) -> Result<Self, CommandRefusal> {
        let mut words = split(line)?;
        // Models often write the program's name, too.
        if words.first().is_some_and(|word| word == "agent-browser") {
            words.remove(0);
        }
        flags_last(&mut words);
        // `help click` is what others call `click --help`.
        if words.len() == 2 && words[0] == "help" && !words[1].starts_with('-') {
            words = vec![words.remove(1), "--help".to_owned()];
        }
        match words.first().map(String::as_str) {
            Some("help" | "--help" | "-h") if words.len() == 1 => Ok(Self::Help),
            None => Err(CommandRefusal::new("the command is empty").hint("try `open <url>`, then `snapshot -i`")),
            Some("batch") => batch(&words, rules),
            Some("close" | "quit" | "exit") if words.len() == 1 => Ok(Self::Close),
            Some(_) => {
                let Checked { words, json, literal } = check(&words, rules)?;
                Ok(Self::One { words, json, literal })
            }
        }
    }
}

/// Flags that every command understands may stand before it (`--json get url`); here they follow.
pub(crate) fn flags_last(words: &mut [String]) {
    let common = |word: &String| COMMON_FLAGS.iter().find(|(flag, _)| flag == word).map(|(_, takes)| *takes);
    let mut length = 0;
    while let Some(takes) = words.get(length).and_then(common) {
        length += if takes == Takes::Nothing { 1 } else { 2 };
    }
    if length < words.len() {
        words.rotate_left(length);
    }
}

/// What there is to ask for, in the order of the table.
pub(crate) fn help() -> String {
    let mut verbs: Vec<&str> = Vec::new();
    for form in FORMS {
        if !verbs.contains(&form.verb) {
            verbs.push(form.verb);
        }
    }
    format!(
        "Commands: {}\n`<command> --help` explains one, `skills get core --full` is the guide. Files are paths below \
         /workspace. Begin with `open <url>`, then `snapshot -i`, then `click @e1`.\n",
        verbs.join(", ")
    )
}

fn batch(words: &[String], rules: &Rules<'_>) -> Result<Plan, CommandRefusal> {
    let mut options = Vec::new();
    let mut commands = Vec::new();
    for word in words.iter().skip(1) {
        match word.as_str() {
            "--json" | "--bail" | "--omit-command" => options.push(word.clone()),
            flag if flag.starts_with('-') => return Err(refused_flag("batch", flag)),
            line => {
                let inner = split(line)?;
                if matches!(inner.first().map(String::as_str), Some("batch" | "close" | "quit" | "exit") | None) {
                    return Err(CommandRefusal::new(format!("`{line}` is not allowed inside a batch")));
                }
                let checked = check(&inner, rules)?;
                if checked.json {
                    return Err(CommandRefusal::new("inside a batch, `--json` belongs to `batch` itself"));
                }
                commands.push(checked.words);
            }
        }
    }
    if commands.is_empty() {
        return Err(CommandRefusal::new("the batch is empty").hint("batch \"open <url>\" \"snapshot -i\""));
    }
    if commands.len() > MAX_BATCH {
        return Err(CommandRefusal::new(format!("a batch has at most {MAX_BATCH} commands")));
    }
    Ok(Plan::Batch { options, commands })
}

struct Checked {
    words: Vec<Word>,
    json: bool,
    literal: bool,
}

fn check(words: &[String], rules: &Rules<'_>) -> Result<Checked, CommandRefusal> {
    let (form, mut rest) = find_form(words)?;
    let mut done: Vec<Word> = words.iter().take(words.len() - rest.len()).map(Word::text).collect();
    let mut checked = Checked { words: Vec::new(), json: false, literal: false };
    let mut plain: Vec<&str> = Vec::new();
    let mut flagged: Vec<Word> = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match flag_of(form, word)? {
            None => plain.push(word),
            Some(Takes::Nothing) => {
                checked.json |= word == "--json";
                flagged.push(Word::text(word));
            }
            Some(takes) => {
                let value = rest.split_first();
                // `wait --download` may come without a path.
                let bare = value.is_none_or(|(value, _)| value.starts_with("--"));
                flagged.push(Word::text(word));
                if form.verb == "webmcp" && value.is_some_and(|(value, _)| value.starts_with('@')) {
                    return Err(CommandRefusal::new("a value that begins with @ would be read as a file"));
                }
                match value {
                    Some((value, after)) if !(bare && takes == Takes::Out) => {
                        rest = after;
                        flagged.push(read_value(takes, value, rules)?);
                    }
                    _ if takes == Takes::Out => flagged.push(named(form, rules, ("download", "bin"))?),
                    _ => return Err(CommandRefusal::new(format!("{word} needs a value"))),
                }
            }
        }
    }
    checked.literal = plain.iter().any(|word| looks_like_a_flag(word));
    place(form, &plain, rules, &mut done)?;
    done.extend(flagged);
    checked.words = done;
    Ok(checked)
}

/// The row of the table for a command, and the words after its name.
fn find_form(words: &[String]) -> Result<(&'static Form, &[String]), CommandRefusal> {
    let verb = words.first().map(String::as_str).unwrap_or_default();
    let second = words.get(1).map(String::as_str);
    let of_verb = || FORMS.iter().filter(|form| form.verb == verb);
    if let Some(form) = of_verb().find(|form| form.sub.is_some() && form.sub == second) {
        return Ok((form, words.get(2..).unwrap_or_default()));
    }
    if let Some(form) = of_verb().find(|form| form.sub.is_none()) {
        return Ok((form, words.get(1..).unwrap_or_default()));
    }
    let subs: Vec<&str> = of_verb().filter_map(|form| form.sub).collect();
    if !subs.is_empty() {
        // `get --help`: no second word, no harm.
        if let (Some("--help" | "-h"), Some(form)) = (second, of_verb().next()) {
            return Ok((form, words.get(1..).unwrap_or_default()));
        }
        let given = second.map_or_else(String::new, |second| format!(" {}", shown(second)));
        return Err(CommandRefusal::new(format!("`{verb}{given}` is not available"))
            .hint(format!("{verb} {}", subs.join(" | "))));
    }
    if let Some((_, why)) = OWNED_VERBS.iter().find(|(owned, _)| *owned == verb) {
        return Err(CommandRefusal::new(format!("`{verb}` is not available: {why}")));
    }
    if OWNED_FLAGS.contains(&verb.split('=').next().unwrap_or_default()) {
        return Err(refused_flag("", verb));
    }
    if verb.starts_with('-') {
        return Err(CommandRefusal::new(format!("a command does not begin with a flag: {}", shown(verb)))
            .hint("flags follow the command that they belong to"));
    }
    let refusal = CommandRefusal::new(format!("Unknown command: {}", shown(verb)));
    Err(match nearest(verb, FORMS.iter().map(|form| form.verb)) {
        Some(near) => refusal.hint(format!("did you mean `{near}`?")),
        None => refusal.hint("start with `open <url>`, then `snapshot -i`"),
    })
}

/// What a word takes, if it is a flag of this command; `None` for a plain word.
fn flag_of(form: &Form, word: &str) -> Result<Option<Takes>, CommandRefusal> {
    if !word.starts_with('-') || word == "-" || word.parse::<f64>().is_ok() {
        return Ok(None);
    }
    let known = |name: &str| form.flags.iter().chain(COMMON_FLAGS).find(|(flag, _)| *flag == name).map(|(_, t)| *t);
    if let Some(takes) = known(word) {
        return Ok(Some(takes));
    }
    let base = word.split('=').next().unwrap_or_default();
    if OWNED_FLAGS.contains(&base) {
        return Err(refused_flag(form.verb, base));
    }
    if known(base).is_some() {
        return Err(CommandRefusal::new(format!("write `{base} <value>`, with a space instead of `=`")));
    }
    // Text may begin with a dash; a selector or an address never does.
    if form.many && form.words.last() == Some(&Takes::Value) {
        return Ok(None);
    }
    let refusal = CommandRefusal::new(format!("`{}` has no flag {}", form.verb, shown(word)));
    let flags: Vec<&str> = form.flags.iter().map(|(flag, _)| *flag).collect();
    Err(if flags.is_empty() { refusal } else { refusal.hint(format!("its flags: {}", flags.join(" "))) })
}

/// Gives the plain words their meaning, in order.
fn place(form: &Form, plain: &[&str], rules: &Rules<'_>, done: &mut Vec<Word>) -> Result<(), CommandRefusal> {
    let mut takes = form.words.iter().copied();
    let mut last = None;
    let mut plain = plain.iter().copied().peekable();
    // `screenshot [selector] [path]` and `network har start | stop [path]`: an optional word before the file.
    if form.verb == "screenshot" {
        takes.next();
        if plain.peek().is_some_and(|word| is_selector(word)) {
            done.extend(plain.next().map(Word::text));
        }
    }
    for word in plain {
        let next = match takes.next() {
            Some(next) => next,
            None if form.many => last.unwrap_or(Takes::Value),
            None => {
                let refusal =
                    CommandRefusal::new(format!("`{}` has an unexpected argument: {}", form.verb, shown(word)));
                let opens = form.verb == "read";
                return Err(if opens { refusal.hint("`open` the address, then `read` the page") } else { refusal });
            }
        };
        last = Some(next);
        done.push(read_value(next, word, rules)?);
    }
    let starting = matches!(done.last(), Some(Word::Text(word)) if form.sub == Some("har") && word != "stop");
    if takes.next().is_some_and(|next| next == Takes::Out)
        && !starting
        && let Some(names) = form.default_out
        // `download` without a selector is incomplete; agent-browser says so best.
        && (form.words.len() == 1 || form.verb == "screenshot" || done.len() > form.words.len() - 1)
    {
        done.push(named(form, rules, names)?);
    }
    Ok(())
}

fn named(form: &Form, rules: &Rules<'_>, default: (&str, &str)) -> Result<Word, CommandRefusal> {
    let (prefix, ending) = form.default_out.unwrap_or(default);
    read_value(Takes::Out, &(rules.name_file)(prefix, ending), rules)
}

fn read_value(takes: Takes, word: &str, rules: &Rules<'_>) -> Result<Word, CommandRefusal> {
    let file = || {
        let path = rel_path(word).map_err(|error| CommandRefusal::new(error.to_string()))?;
        if path.is_root() || word.ends_with('/') {
            return Err(CommandRefusal::new(format!("{} names a folder, not a file", shown(word))));
        }
        Ok(path)
    };
    match takes {
        Takes::Nothing => Ok(Word::text(word)),
        Takes::Value => Ok(Word::text(word)),
        Takes::Url => address::check(word, rules.network, rules.inside).map(|()| Word::text(word)),
        Takes::In => Ok(Word::In(file()?)),
        Takes::Out => Ok(Word::Out { path: file()?, later: false }),
        Takes::OutLater => Ok(Word::Out { path: file()?, later: true }),
    }
}

/// Whether `screenshot`'s first word means an element: agent-browser's own distinction, made stricter.
fn is_selector(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let picture = [".png", ".jpg", ".jpeg", ".webp"].iter().any(|ending| lower.ends_with(ending));
    let dotted = word.starts_with('.') && !word.starts_with("./") && !word.starts_with("..");
    word.starts_with(['@', '#', '[']) || (!picture && (dotted || !word.contains('/')))
}

fn looks_like_a_flag(word: &str) -> bool {
    word.starts_with('-') && word != "-" && word.parse::<f64>().is_err()
}

fn refused_flag(verb: &str, flag: &str) -> CommandRefusal {
    let of = if verb.is_empty() { String::new() } else { format!(" of `{verb}`") };
    CommandRefusal::new(format!(
        "the flag {}{of} is not available: the sandbox chooses its own browser and session",
        shown(flag)
    ))
}

/// The nearest known name, if one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(&word.to_lowercase(), name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().max(3) / 2)
        .map(|(_, name)| name)
}

/// A guest's word inside a sentence of ours: short, and on one line.
pub(crate) fn shown(word: &str) -> String {
    let (beginning, is_cut) = beginning_chars(word, 80);
    format!("{}{}", beginning.escape_debug(), if is_cut { "…" } else { "" })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
