//! `auto`: which engine a program needs, decided from the names it uses and nothing else.
//!
//! The decision is made on the parsed program, never on its text, so a comment about `document` does not start a
//! browser, and the same program always gets the same engine on the same build.

use cove_core::{EngineName, EngineReason};
use cove_script::Prepared;

/// What `RegExp.$1` and its kin stand for.
const LAST_MATCH: &str = "what the last match has left";

/// Global names that only a real browser has, each with what it stands for.
///
/// A name belongs here when code that reads it cannot do its work without one. Names that the embedded engine has
/// itself (`URL`, `fetch`, `crypto`, `OffscreenCanvas`, …) do not.
pub const BROWSER_ONLY: &[(&str, &str)] = &[
    ("document", "the document"),
    ("window", "the window"),
    ("self", "the window"),
    ("parent", "the window"),
    ("top", "the window"),
    ("frames", "the window"),
    ("opener", "the window"),
    ("location", "the page's address"),
    ("history", "the page's history"),
    ("navigator", "the browser"),
    ("screen", "the screen"),
    ("visualViewport", "the screen"),
    ("devicePixelRatio", "the screen"),
    ("innerWidth", "the screen"),
    ("innerHeight", "the screen"),
    ("matchMedia", "style"),
    ("getComputedStyle", "style"),
    ("getSelection", "the document"),
    ("CSS", "style"),
    ("CSSStyleSheet", "style"),
    ("localStorage", "storage"),
    ("sessionStorage", "storage"),
    ("indexedDB", "storage"),
    ("caches", "storage"),
    ("cookieStore", "storage"),
    ("requestAnimationFrame", "frames"),
    ("cancelAnimationFrame", "frames"),
    ("requestIdleCallback", "frames"),
    ("cancelIdleCallback", "frames"),
    ("customElements", "elements"),
    ("Element", "elements"),
    ("HTMLElement", "elements"),
    ("HTMLCanvasElement", "elements"),
    ("HTMLImageElement", "elements"),
    ("HTMLInputElement", "elements"),
    ("SVGElement", "elements"),
    ("Node", "elements"),
    ("NodeList", "elements"),
    ("Document", "elements"),
    ("DocumentFragment", "elements"),
    ("ShadowRoot", "elements"),
    ("DOMParser", "parsing of markup"),
    ("XMLSerializer", "parsing of markup"),
    ("XPathEvaluator", "parsing of markup"),
    ("XSLTProcessor", "parsing of markup"),
    ("Range", "the document"),
    ("Selection", "the document"),
    ("MutationObserver", "observers"),
    ("ResizeObserver", "observers"),
    ("IntersectionObserver", "observers"),
    ("PerformanceObserver", "observers"),
    ("Worker", "workers"),
    ("SharedWorker", "workers"),
    ("ServiceWorker", "workers"),
    ("BroadcastChannel", "messages"),
    ("postMessage", "messages"),
    ("WebSocket", "the network"),
    ("XMLHttpRequest", "the network"),
    ("EventSource", "the network"),
    ("RTCPeerConnection", "the network"),
    ("WebGLRenderingContext", "WebGL"),
    ("WebGL2RenderingContext", "WebGL"),
    ("GPU", "WebGPU"),
    ("Audio", "sound"),
    ("AudioContext", "sound"),
    ("OfflineAudioContext", "sound"),
    ("MediaRecorder", "sound"),
    ("VideoDecoder", "video"),
    ("VideoEncoder", "video"),
    ("FileReader", "files"),
    ("SharedArrayBuffer", "shared memory"),
    ("Atomics", "shared memory"),
    ("WebAssembly", "WebAssembly"),
    ("Temporal", "Temporal"),
    ("RegExp.$1", LAST_MATCH),
    ("RegExp.$2", LAST_MATCH),
    ("RegExp.$3", LAST_MATCH),
    ("RegExp.$4", LAST_MATCH),
    ("RegExp.$5", LAST_MATCH),
    ("RegExp.$6", LAST_MATCH),
    ("RegExp.$7", LAST_MATCH),
    ("RegExp.$8", LAST_MATCH),
    ("RegExp.$9", LAST_MATCH),
    ("RegExp.input", LAST_MATCH),
    ("RegExp.lastMatch", LAST_MATCH),
    ("RegExp.lastParen", LAST_MATCH),
    ("RegExp.leftContext", LAST_MATCH),
    ("RegExp.rightContext", LAST_MATCH),
    ("WeakRef", "the collector"),
    ("FinalizationRegistry", "the collector"),
];

/// Languages that the embedded engine knows. Others need a browser. Time zones it knows all.
pub const EMBEDDED_LANGUAGES: &[&str] = &[
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fil", "fr", "he", "hi", "hr", "hu",
    "id", "it", "ja", "ko", "lt", "lv", "ms", "nb", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "ta",
    "te", "th", "tr", "uk", "ur", "vi", "zh",
];

/// An engine and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The engine.
    pub engine: EngineName,
    /// Why.
    pub reason: EngineReason,
    /// The same as one clause, for the outcome.
    pub because: String,
}

/// Chooses for a prepared program.
///
/// A name that is only asked for (`typeof document`), or used behind that question, is not needed: such code has something
/// to do without it.
pub fn choose(program: &Prepared) -> Choice {
    let needed = program.free_names.iter().filter(|free| free.needed).find_map(|free| {
        BROWSER_ONLY.iter().find(|(name, _)| *name == free.name).map(|(name, what)| (name, what, free.position))
    });
    let foreign = program.locales.iter().find(|locale| is_foreign(&locale.name));
    if let (None, Some(locale)) = (&needed, foreign) {
        let because = format!("the program asks for `{}` at line {}", locale.name, locale.position.line);
        return Choice { engine: EngineName::Browser, reason: EngineReason::NeedsBrowser, because };
    }
    match needed {
        Some((name, what, position)) => Choice {
            engine: EngineName::Browser,
            reason: EngineReason::NeedsBrowser,
            because: format!("the program uses `{name}` ({what}) at line {}", position.line),
        },
        None => Choice {
            engine: EngineName::Embedded,
            reason: EngineReason::NeedsNoBrowser,
            because: "the program needs nothing that only a browser has".to_owned(),
        },
    }
}

/// Whether a name is that of a language which the embedded engine does not know. What has neither two nor three letters is
/// nobody's language.
fn is_foreign(name: &str) -> bool {
    let language = name.split('-').next().unwrap_or_default();
    let is_language = matches!(language.len(), 2 | 3) && language.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_language && !EMBEDDED_LANGUAGES.contains(&language.to_ascii_lowercase().as_str())
}
