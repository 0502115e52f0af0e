//! `auto`: which engine a program needs, decided from the names it uses and nothing else.
//!
//! The decision is made on the parsed program, never on its text, so a comment about `document` does not start a
//! browser, and the same program always gets the same engine on the same build.

use cove_core::EngineName;
use cove_script::Prepared;

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
    ("Intl", "languages and regions"),
    ("WeakRef", "the collector"),
    ("FinalizationRegistry", "the collector"),
    ("ReadableByteStreamController", "byte streams"),
    ("ReadableStreamBYOBReader", "byte streams"),
    ("ReadableStreamBYOBRequest", "byte streams"),
];

/// Languages and time zones that the embedded engine knows with all their words, in lower case. Others need a browser.
const EMBEDDED_LOCALES: &[&str] = &["en", "en-us", "en-gb", "default", "utc", "gmt", "etc/utc", "etc/gmt"];

/// An engine and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The engine.
    pub engine: EngineName,
    /// One clause, for the outcome.
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
    let foreign =
        program.locales.iter().find(|locale| !EMBEDDED_LOCALES.contains(&locale.name.to_lowercase().as_str()));
    if let (None, Some(locale)) = (&needed, foreign) {
        let because = format!("the program asks for `{}` at line {}", locale.name, locale.position.line);
        return Choice { engine: EngineName::Browser, because };
    }
    match needed {
        Some((name, what, position)) => Choice {
            engine: EngineName::Browser,
            because: format!("the program uses `{name}` ({what}) at line {}", position.line),
        },
        None => Choice {
            engine: EngineName::Embedded,
            because: "the program needs nothing that only a browser has".to_owned(),
        },
    }
}
