//! Habits of sloppy code in a function body: names that are assigned and never declared, functions that are used outside of
//! the block that declares them, Markdown around the code.

use std::borrow::Cow;
use std::fmt::Write as _;

use oxc_ast::ast::Function;
use oxc_syntax::scope::ScopeFlags;

use crate::node;
use crate::rewriter::Rewriter;

/// Names that are there already, in one engine or the other: assigning them means them.
const GLOBALS: &str = " \
    Object Function Array Number Boolean String Symbol BigInt Math JSON Date RegExp Error EvalError RangeError ReferenceError \
    SyntaxError TypeError URIError AggregateError SuppressedError Map Set WeakMap WeakSet WeakRef FinalizationRegistry Promise \
    Proxy Reflect ArrayBuffer SharedArrayBuffer DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array \
    Int32Array Uint32Array Float16Array Float32Array Float64Array BigInt64Array BigUint64Array Iterator Intl WebAssembly \
    DisposableStack AsyncDisposableStack Temporal parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI \
    encodeURIComponent escape unescape eval globalThis undefined NaN Infinity console setTimeout setInterval clearTimeout \
    clearInterval queueMicrotask structuredClone atob btoa URL URLSearchParams TextEncoder TextDecoder crypto performance fetch \
    Headers Request Response AbortController AbortSignal Event EventTarget CustomEvent DOMException Blob File FormData document \
    window self location history navigator localStorage sessionStorage indexedDB onerror onmessage onload onunhandledrejection \
    onrejectionhandled onbeforeunload harden lockdown Compartment final_answer getCanvas OffscreenCanvas Path2D DOMMatrix \
    ImageData createImageBitmap Image reportError requestAnimationFrame cancelAnimationFrame XMLHttpRequest WebSocket Worker \
    HTMLElement Element Node ReadableStream WritableStream TransformStream CompressionStream DecompressionStream MessageChannel \
    MessagePort MessageEvent CryptoKey SubtleCrypto URLPattern input arguments ";

impl<'a> Rewriter<'a, '_> {
    /// Notes a name that is assigned without having been read, and is declared nowhere.
    pub(crate) fn note_assigned(&mut self, name: &'a str) {
        if !self.implicit.contains(&name) && !is_known(name) {
            self.implicit.push(name);
        }
    }

    /// A function that is declared in a block and used outside of it, as sloppy code may: its name becomes a variable of the
    /// run, which is set where the block begins to run the declaration.
    pub(crate) fn block_function(&mut self, it: &Function<'a>) {
        let Some(id) = it.id.as_ref().filter(|_| self.is_body() && it.body.is_some() && !it.r#async && !it.generator)
        else {
            return;
        };
        let name: &'a str = id.name.as_str();
        let whole = ScopeFlags::Top | ScopeFlags::Function | ScopeFlags::ClassStaticBlock;
        let in_block = id
            .symbol_id
            .get()
            .is_some_and(|symbol| !self.scoping.scope_flags(self.scoping.symbol_scope_id(symbol)).intersects(whole));
        if !in_block || !self.scoping.root_unresolved_references().contains_key(name) || is_known(name) {
            return;
        }
        self.note_assigned(name);
        self.block_functions.insert(name);
        self.edits.insert(it.span.start, format!("__cove_s_{name}({name});"));
    }

    /// Their declarations. A name that the program also knows as a property of the global object stays one.
    pub(crate) fn implicit_names(&self) -> String {
        let names: Vec<&str> =
            self.implicit.iter().copied().filter(|name| !self.global_members.contains(name)).collect();
        let mut text = if names.is_empty() { String::new() } else { format!("let {};", names.join(",")) };
        for name in &self.block_functions {
            let _ = write!(text, "const __cove_s_{name}=(__cove_f)=>{{{name}=__cove_f}};");
        }
        text
    }
}

/// Whether a name is there already, in one engine or the other.
fn is_known(name: &str) -> bool {
    GLOBALS.split(' ').any(|global| global == name) || node::is_given(name)
}

/// The text without a Markdown fence around it; every character stays where it was.
pub(crate) fn without_fence(source: &str) -> Cow<'_, str> {
    let body = source.trim_start();
    if !(body.starts_with("```") || body.starts_with("~~~")) {
        return Cow::Borrowed(source);
    }
    let mark = &body[..3];
    let start = source.len() - body.len();
    let Some(first) = body.find('\n') else { return Cow::Borrowed(source) };
    let word = body[3..first].trim();
    if !word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '.')) {
        return Cow::Borrowed(source);
    }
    let trimmed = source.trim_end();
    let last = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let closed = last > start && trimmed[last..].trim() == mark;
    let blank = |range: &str| " ".repeat(range.len());
    let (inner, end) = if closed {
        (&source[start + first..last], blank(&source[last..trimmed.len()]))
    } else {
        (&source[start + first..], String::new())
    };
    let rest = if closed { &source[trimmed.len()..] } else { "" };
    // Anything else with a fence in it is no fenced program.
    if inner.lines().any(|line| line.trim_start().starts_with(mark)) {
        return Cow::Borrowed(source);
    }
    Cow::Owned(format!("{}{}{inner}{end}{rest}", &source[..start], blank(&source[start..start + first])))
}

#[cfg(test)]
mod tests {
    use super::without_fence;

    #[test]
    fn a_fence_becomes_blanks() {
        let check = |source: &str, expected: &str| {
            let bare = without_fence(source);
            assert_eq!(bare, expected);
            assert_eq!(bare.len(), source.len());
        };
        check("```js\nreturn 1\n```", "     \nreturn 1\n   ");
        check("\n```typescript\nreturn 1\n```\n\n", "\n             \nreturn 1\n   \n\n");
        check("```\r\nreturn 1", "    \nreturn 1");
        check("return 1", "return 1");
        check("```js\na\n```\ntext\n```js\nb\n```", "```js\na\n```\ntext\n```js\nb\n```");
        check("```not a word\nreturn 1\n```", "```not a word\nreturn 1\n```");
    }
}
