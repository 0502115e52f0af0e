//! The tests of the language: where they lie, and which of them apply.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the harness gives besides, in both engines.
const HOST: &str = r#"
globalThis.reportCompare = function () {};
globalThis.$262 = { global: globalThis };
globalThis.$STATE = {};
globalThis.$BEGIN = function () { $STATE.promise = new Promise(function (yes, no) { $STATE.yes = yes; $STATE.no = no }); };
globalThis.$DONE = function (failure) { if (failure) $STATE.no(failure); else $STATE.yes(); };
globalThis.$END = async function () { try { await $STATE.promise } finally { $BEGIN() } };
$BEGIN();
"#;

/// What a test must end with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// It runs to its end.
    Pass,
    /// It is no program.
    Refused,
    /// It throws an error of this kind.
    Threw(String),
}

/// A test that applies to the body of a strict function.
#[derive(Debug, Clone)]
pub struct Test {
    /// Its path below `language`.
    pub path: String,
    /// Its text, with what waits for its end if it is asynchronous.
    pub source: String,
    /// Which harness it needs.
    pub harness: usize,
    /// What must come of it.
    pub expected: Expected,
}

/// The tests and their harnesses.
pub struct Suite {
    pub harness: Vec<String>,
    pub tests: Vec<Test>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/test262")
}

impl Suite {
    /// Reads every test whose number fits: `every` = 1 means all of them.
    pub fn read(every: usize) -> Self {
        let root = root();
        let shell = std::fs::read_to_string(root.join("shell.js")).expect("test262 is missing: run scripts/setup");
        let (shell, _) = shell.split_once("// file: test262-host.js").expect("the harness ends with its host");
        let mut files = Vec::new();
        collect(&root.join("language"), &mut files);
        files.sort();
        let mut harness = BTreeMap::new();
        let mut suite = Self { harness: Vec::new(), tests: Vec::new() };
        for file in files.into_iter().step_by(every) {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let Some((expected, is_async)) = applies(&text) else { continue };
            let path = file.strip_prefix(root.join("language")).unwrap().to_str().unwrap().to_owned();
            let wanted = harness_of(&file, &root, shell);
            let next = suite.harness.len();
            let index = *harness.entry(wanted.clone()).or_insert(next);
            if index == next {
                suite.harness.push(wanted);
            }
            let source = if is_async { format!("{text}\n;await $END()") } else { text };
            suite.tests.push(Test { path, source, harness: index, expected });
        }
        suite
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            // Modules are the host's; static imports are refused by rule.
            if !["module-code", "import", "export"].contains(&name) {
                collect(&path, files);
            }
        } else if name.ends_with(".js") && !["shell.js", "browser.js"].contains(&name) && !name.contains("_FIXTURE") {
            files.push(path);
        }
    }
}

/// The harness of all folders above a test.
fn harness_of(file: &Path, root: &Path, shell: &str) -> String {
    let mut parts = vec![HOST.to_owned()];
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != root) {
        parts.push(std::fs::read_to_string(folder.join("shell.js")).unwrap_or_default());
    }
    parts.push(shell.to_owned());
    parts.reverse();
    parts.join("\n")
}

/// What must come of a test, and whether it is asynchronous; none for a test of something else: sloppy code, modules, other
/// realms, proposals.
fn applies(text: &str) -> Option<(Expected, bool)> {
    const OTHER: &[&str] = &["noStrict", "module", "raw", "CanBlockIsFalse"];
    const FEATURES: &[&str] = &[
        "cross-realm",
        "decorators",
        "import-assertions",
        "import-attributes",
        "source-phase-imports",
        "import-defer",
        "tail-call-optimization",
        "regexp-modifiers",
        "regexp-duplicate-named-groups",
        "explicit-resource-management",
        "json-modules",
        "dynamic-import",
        "import.meta",
        "SharedArrayBuffer",
        "Atomics",
        "WeakRef",
        "FinalizationRegistry",
    ];
    let front = text.split_once("/*---")?.1.split_once("---*/")?.0;
    let list = |key: &str| {
        let line = front.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap_or_default();
        line.trim().trim_matches(['[', ']']).split(',').map(|word| word.trim().to_owned()).collect::<Vec<_>>()
    };
    let flags = list("flags:");
    if flags.iter().any(|flag| OTHER.contains(&flag.as_str()))
        || list("features:").iter().any(|feature| FEATURES.contains(&feature.as_str()))
        || text.contains("$262.createRealm")
        || text.contains("$262.evalScript")
    {
        return None;
    }
    let negative = front.split_once("negative:").map(|(_, rest)| rest);
    let word = |key: &str| {
        let line = negative?.lines().find_map(|line| line.trim().strip_prefix(key))?;
        Some(line.trim().to_owned())
    };
    let expected = match (word("phase:").as_deref(), word("type:")) {
        (Some("runtime"), Some(kind)) => Expected::Threw(kind),
        (Some(_), _) => Expected::Refused,
        (None, _) => Expected::Pass,
    };
    Some((expected, flags.iter().any(|flag| flag == "async")))
}
