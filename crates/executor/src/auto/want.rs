//! What an embedded run failed for want of: something that Chrome has, or stack.
//!
//! Of what is not there at all, QuickJS says no more than its error's type and sentence, so that is what is read here;
//! what the embedded engine refuses itself says so in a field of the fault. A guest can write such an error itself; all
//! it gets by it is that `auto` tries its code in Chrome.

use cove_core::{EngineReason, Fault, FaultKind};

use crate::choice::BROWSER_ONLY;

/// The names of Chrome's constructors and namespaces that the embedded engine lacks, in order. Names in small letters are
/// not here: too many of them (`name`, `status`, `length`) are the variables that a program has forgotten.
const CHROME_NAMES: &str = include_str!("chrome_names.txt");

/// Functions of Chrome's that the embedded engine lacks, as programs write them.
const CHROME_FUNCTIONS: &[&str] = &[
    "DOMMatrix.fromFloat32Array",
    "DOMMatrix.fromFloat64Array",
    "DOMMatrix.fromMatrix",
    "DOMPoint.fromPoint",
    "DOMRect.fromRect",
    "Error.captureStackTrace",
    "Iterator.zip",
    "Iterator.zipKeyed",
    "SubtleCrypto.supports",
    "URL.createObjectURL",
    "URL.revokeObjectURL",
    "console.clear",
    "console.profile",
    "console.profileEnd",
    "console.timeStamp",
    "performance.clearMarks",
    "performance.clearMeasures",
    "performance.getEntries",
    "performance.getEntriesByName",
    "performance.getEntriesByType",
    "performance.mark",
    "performance.measure",
];

/// Methods of Chrome's whose names mean nothing else.
const CHROME_METHODS: &[&str] =
    &["toTemporalInstant", "getPublicKey", "encapsulateKey", "decapsulateKey", "textStream"];

/// A namespace whose members Chrome has all of.
const CHROME_NAMESPACE: &str = "Intl.";

/// Why Chrome should be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Want {
    /// The reason.
    pub(super) reason: EngineReason,
    /// The same as a clause.
    pub(super) because: String,
}

/// What a fault of the embedded engine's is for want of, if Chrome has it.
pub(super) fn want_of(fault: &Fault) -> Option<Want> {
    let missing = |because: String| Some(Want { reason: EngineReason::MissingFeature, because });
    match fault.kind {
        // Cove's own parser had no objection, or nothing would have run.
        FaultKind::Syntax => missing("the embedded engine cannot read this code".to_owned()),
        FaultKind::Exception => {
            let (error_type, sentence) = fault.message.split_once(": ")?;
            match error_type {
                "RangeError" | "InternalError" if is_stack(sentence) => {
                    let because = "the embedded engine ran out of stack".to_owned();
                    Some(Want { reason: EngineReason::StackOverflow, because })
                }
                "ReferenceError" => {
                    let name = sentence.strip_suffix(" is not defined")?.trim_matches('\'');
                    is_chromes(name).then(|| missing(lacks(name)))?
                }
                "TypeError" if let Some(callee) = callee(sentence) => {
                    let method = callee.rsplit_once('.').map(|(_, method)| method);
                    let has = CHROME_FUNCTIONS.contains(&callee)
                        || callee.starts_with(CHROME_NAMESPACE)
                        || method.is_some_and(|method| CHROME_METHODS.contains(&method));
                    has.then(|| missing(lacks(callee)))?
                }
                _ if fault.needs_browser => {
                    missing("the code asks for something that the embedded engine does not have".to_owned())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn lacks(name: &str) -> String {
    format!("the embedded engine does not have `{name}`")
}

fn is_stack(sentence: &str) -> bool {
    ["call stack", "stack overflow", "too many arguments"].iter().any(|said| sentence.contains(said))
}

fn is_chromes(name: &str) -> bool {
    BROWSER_ONLY.iter().any(|(known, _)| *known == name) || CHROME_NAMES.lines().any(|known| known == name)
}

fn callee(sentence: &str) -> Option<&str> {
    [" is not a function", " is not a constructor"].iter().find_map(|end| sentence.strip_suffix(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_chrome_has_is_a_want() {
        let check = |kind: FaultKind, message: &str, expected: Option<EngineReason>| {
            let want = want_of(&Fault::new(kind, message));
            assert_eq!(want.map(|want| want.reason), expected, "{message}");
        };
        let (missing, stack) = (Some(EngineReason::MissingFeature), Some(EngineReason::StackOverflow));
        let thrown = |message: &str, expected| check(FaultKind::Exception, message, expected);
        thrown("ReferenceError: AudioData is not defined", missing);
        thrown("ReferenceError: document is not defined", missing);
        thrown("ReferenceError: 'AudioBuffer' is not defined", missing);
        thrown("TypeError: Error.captureStackTrace is not a function", missing);
        thrown("TypeError: Intl.Segmenter is not a constructor", missing);
        thrown("TypeError: new Date().toTemporalInstant is not a function", missing);
        thrown("RangeError: Maximum call stack size exceeded", stack);
        thrown("RangeError: too many arguments in function call (only 65535 allowed)", stack);
        check(FaultKind::Syntax, "SyntaxError: unexpected token", missing);
        for own in [
            "ReferenceError: total is not defined",
            "ReferenceError: name is not defined",
            "ReferenceError: AudioData",
            "TypeError: list.forEch is not a function",
            "TypeError: object is not extensible",
            "TypeError: cannot read property 'x' of undefined",
            "RangeError: Invalid array length",
            "SyntaxError: unexpected end of JSON",
            "Error: AudioData is not defined",
            "Uncaught 1",
        ] {
            thrown(own, None);
        }
        let refused = Fault { needs_browser: true, ..Fault::new(FaultKind::Exception, "RangeError: no such calendar") };
        assert_eq!(want_of(&refused).map(|want| want.reason), missing);
        thrown("RangeError: no such calendar; use engine \"browser\" for it", None);
        check(FaultKind::Timeout, "ReferenceError: AudioData is not defined", None);
        check(FaultKind::Tool, "RangeError: Maximum call stack size exceeded", None);
    }

    /// Sorted, each once, and none that a program may have forgotten to declare.
    #[test]
    fn the_list_is_in_order() {
        let names: Vec<&str> = CHROME_NAMES.lines().collect();
        assert!(names.is_sorted() && names.len() > 800, "{}", names.len());
        assert!(names.iter().all(|name| name.starts_with(|first: char| first.is_ascii_uppercase())));
    }
}
