//! One line of advice for a fault: what there is instead of what the code looked for.

/// Names that programs expect from other worlds, and what to do here.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["require", "module", "exports"],
        "There is no require here; `await import(\"name\")` loads the modules that this session authorises.",
    ),
    (
        &["process"],
        "There is no process here: no environment, no arguments, no exit. Pass values in as variables, and end with the value or `final_answer`.",
    ),
    (
        &[
            "document",
            "window",
            "location",
            "navigator",
            "localStorage",
            "sessionStorage",
            "history",
            "XMLHttpRequest",
            "HTMLElement",
            "Image",
            "alert",
            "confirm",
            "prompt",
        ],
        "This engine is not a browser: it has no page. Use engine \"browser\" for that, or plain JavaScript; `getCanvas` is here for drawing.",
    ),
    (
        &["fs", "path", "os", "child_process", "http", "https", "net"],
        "There is no file system and no network here; the session's tools are the only way out.",
    ),
    (
        &["Buffer"],
        "There is no Buffer here; Uint8Array with toBase64/fromBase64/toHex, TextEncoder and TextDecoder do the same.",
    ),
    (
        &["WebSocket", "EventSource", "Worker", "SharedWorker", "BroadcastChannel"],
        "There is no such connection here; call a tool instead.",
    ),
    (
        &["WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics"],
        "It was taken out of this world on purpose: it would let code watch the collector or the clock. WeakMap and WeakSet are here.",
    ),
    (&["WebAssembly"], "There is no WebAssembly in this engine; use engine \"browser\"."),
    (&["print"], "Use console.log."),
    (&["__dirname", "__filename", "global"], "There is no file and no Node here; globalThis is the global object."),
];

/// What the two engines say where something is frozen, and where it cannot be changed.
const FROZEN: &[&str] = &["not extensible", "could not delete property", "Cannot delete property"];
const NO_CHANGE: &[&str] =
    &["read-only", "read only", "constant variable", "has only a getter", "no setter for property"];

/// The advice for an error of this type, if there is any.
pub fn hint(error_type: Option<&str>, message: &str) -> Option<String> {
    match error_type? {
        "ReferenceError" => {
            let name = missing_name(message)?;
            let found = INSTEAD.iter().find(|(names, _)| names.contains(&name));
            found.map(|(_, advice)| (*advice).to_owned())
        }
        "RangeError" if message.contains("call stack") => Some(
            "The recursion is too deep for the stack: use a loop or an explicit list. \
             A call such as `Math.max(...xs)` with very many arguments ends so, too: use `reduce`."
                .to_owned(),
        ),
        "RangeError" | "InternalError" if message.contains("too many arguments") => Some(
            "A call takes at most 65,534 arguments. Instead of `Math.max(...xs)` write \
             `xs.reduce((a, b) => Math.max(a, b))`; instead of `list.push(...xs)` a loop or `list = list.concat(xs)`."
                .to_owned(),
        ),
        "TypeError" if FROZEN.iter().any(|said| message.contains(said)) => Some(
            "It is frozen: a built-in such as `Array.prototype`, a variable from outside, or what the code froze itself. \
             Write a function of your own instead of a new method; to get a BigInt into JSON, convert it with `String(x)`."
                .to_owned(),
        ),
        "TypeError" if NO_CHANGE.iter().any(|said| message.contains(said)) => Some(
            "It cannot be changed: a `const`, or part of something frozen (built-ins, variables from outside, tools). Use `let`, a copy, or a function of your own."
                .to_owned(),
        ),
        "TypeError" if message.ends_with(" is not a function") => {
            crate::members::advice(message.strip_prefix("TypeError: ")?.strip_suffix(" is not a function")?)
        }
        _ => None,
    }
}

/// `x` in `ReferenceError: x is not defined`.
fn missing_name(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("ReferenceError: ")?;
    let (name, _) = rest.split_once(" is not defined")?;
    Some(name.trim_matches('\''))
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn what_is_missing_is_answered_with_what_is_there() {
        let check = |message: &str, word: &str| {
            let advice = hint(Some("ReferenceError"), message);
            assert!(advice.as_deref().is_some_and(|advice| advice.contains(word)), "{message}: {advice:?}");
        };
        check("ReferenceError: require is not defined", "import");
        check("ReferenceError: process is not defined", "variables");
        check("ReferenceError: document is not defined", "browser");
        check("ReferenceError: Buffer is not defined", "Uint8Array");
        assert_eq!(hint(Some("ReferenceError"), "ReferenceError: foo is not defined"), None);
        assert_eq!(hint(None, "Uncaught 1"), None);
    }
}
