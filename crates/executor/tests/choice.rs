//! `auto`: which program gets which engine, and why. The table is the specification.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use cove_core::EngineName;
use cove_executor::{BROWSER_ONLY, EMBEDDED_LANGUAGES, choose};
use cove_script::{Mode, PrepareOptions, prepare};

fn check(code: &str, needs: Option<&str>) {
    let prepared =
        prepare(code, &PrepareOptions::new(Mode::FunctionBody)).unwrap_or_else(|refusal| panic!("{code}: {refusal:?}"));
    let choice = choose(&prepared);
    match needs {
        Some(name) => {
            assert_eq!(choice.engine, EngineName::Browser, "{code}");
            assert!(choice.because.contains(&format!("`{name}`")), "{code}: {}", choice.because);
        }
        None => assert_eq!(choice.engine, EngineName::Embedded, "{code}: {}", choice.because),
    }
}

/// Programs that need a browser, each with the name that says so.
#[test]
fn programs_for_the_browser() {
    for (code, name) in [
        ("return document.title", "document"),
        ("document.body.innerHTML = '<p>hi</p>'", "document"),
        ("return window.innerWidth", "window"),
        ("window.x = 1; return document", "window"),
        ("if (typeof document === 'undefined') throw 1; return document.title", "document"),
        ("return typeof window !== 'undefined' || window.x", "window"),
        ("return typeof window !== 'undefined' ? 1 : window", "window"),
        ("if (typeof window !== 'undefined') return document", "document"),
        ("return typeof window.x", "window"),
        ("return self === this", "self"),
        ("return location.href", "location"),
        ("return navigator.userAgent", "navigator"),
        ("localStorage.setItem('a', 1)", "localStorage"),
        ("return indexedDB.open('x')", "indexedDB"),
        ("requestAnimationFrame(() => {})", "requestAnimationFrame"),
        ("class A extends HTMLElement {}", "HTMLElement"),
        ("customElements.define('a-b', class extends HTMLElement {})", "customElements"),
        ("return new DOMParser().parseFromString(input, 'text/html')", "DOMParser"),
        ("new MutationObserver(() => {})", "MutationObserver"),
        ("return getComputedStyle(x)", "getComputedStyle"),
        ("const w = new Worker('x.js')", "Worker"),
        ("new WebSocket('wss://x')", "WebSocket"),
        ("const r = new XMLHttpRequest()", "XMLHttpRequest"),
        ("return WebAssembly.compile(input)", "WebAssembly"),
        ("return Temporal.PlainDate.from('2024-01-31').add({ months: 1 }).toString()", "Temporal"),
        ("return new AudioContext().sampleRate", "AudioContext"),
        ("const f = () => { const g = () => document; return g() }; return f()", "document"),
        ("return `${location}`", "location"),
        ("return { document }", "document"),
        ("return [...document.querySelectorAll('a')].map(a => a.href)", "document"),
        ("let x: HTMLElement = document.body; return x.tagName", "document"),
        ("return new SharedArrayBuffer(8)", "SharedArrayBuffer"),
        ("for (const k in window) return k", "window"),
        ("return screen.width", "screen"),
        ("return matchMedia('(x)')", "matchMedia"),
        ("return new WeakRef({})", "WeakRef"),
        ("/(a)(b)/.exec('ab'); return RegExp.$2", "RegExp.$2"),
        ("if (/b/.test(input)) return RegExp['lastMatch']", "RegExp.lastMatch"),
        ("return new Date(0).toLocaleDateString('is-IS')", "is-IS"),
        ("return new Intl.DateTimeFormat('is').format(0)", "is"),
        ("return Intl.PluralRules(['sw-KE']).select(1)", "sw-KE"),
        ("return ['b', 'a'].sort((a, b) => a.localeCompare(b, 'is'))", "is"),
        ("return (1e6).toLocaleString('sw', { style: 'currency', currency: 'EUR' })", "sw"),
    ] {
        check(code, Some(name));
    }
}

/// Programs that do not, although some of them look like it.
#[test]
fn programs_for_the_embedded_engine() {
    for code in [
        "",
        "return 1 + 1",
        "return input.a",
        "return typeof document",
        "if (typeof window !== 'undefined') return window.innerWidth; return 1",
        "const RegExp = { $1: 2 }; return RegExp.$1",
        "return RegExp.escape('.') + RegExp.prototype",
        "const g = typeof window !== 'undefined' ? window : globalThis; return g.x",
        "return typeof window === 'object' && window.document",
        "if ('undefined' != typeof self && (typeof document !== 'undefined')) { self.x = document.title }",
        "return new FontFace('x', input)",
        "// document.title\nreturn 1",
        "/* window */ return 1",
        "return 'document.title'",
        "return `window ${1}`",
        "return /document/.test(input)",
        "const document = { title: 1 }; return document.title",
        "function f(window) { return window } return f(1)",
        "return ((location) => location)(1)",
        "return input.document.title",
        "return { document: 1 }.document",
        "return { window() { return 1 } }",
        "class A { navigator = 1; document() {} }",
        "try { x } catch (window) { return 1 }",
        "for (const screen of [1]) return screen",
        "import('x').then(({ document }) => document)",
        "document: for (;;) break document",
        "return globalThis.document",
        "const { location } = input; return location",
        "let history = []; history.push(1); return history",
        "return [1].map(self => self)",
        "var top = 1; return top",
        "const canvas = getCanvas(10, 10); canvas.getContext('2d').fillRect(0, 0, 1, 1)",
        "return new URL('https://x/y').pathname",
        "return crypto.randomUUID()",
        "return new Intl.NumberFormat('de').format(1)",
        "return Intl.DateTimeFormat().resolvedOptions().timeZone",
        "return new Intl.Locale('is-IS').language",
        "return Intl.getCanonicalLocales('IS')",
        "return new Intl.DateTimeFormat(['is', 'en']).format(0)",
        "return new Intl.DateTimeFormat(input.locale).format(0)",
        "return ['b', 'a'].sort((a, b) => a.localeCompare(b, 'sv'))",
        "return 'is'.localeCompare('en')",
        "return new Date(0).toLocaleDateString('fr-FR')",
        "return (1e6).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' })",
        "return (1e6).toLocaleString('ZH-hant-TW')",
        "return new Date(0).toLocaleString('default', { month: 'long' })",
        "return new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' })",
        "return new Date(0).toLocaleString([], { timeZone: 'EST' })",
        "return crypto.subtle.importKey('raw', input, 'AES-GCM', false, ['encrypt'])",
        "return ReadableStream.from([1]).pipeThrough(new TransformStream()).pipeTo(new WritableStream())",
        "return new ReadableStreamBYOBReader(new ReadableStream({ type: 'bytes' }))",
        "return new Response(input.pipeThrough(new DecompressionStream('gzip'))).text()",
        "return new Blob(['x']).stream().pipeThrough(new CompressionStream('gzip'))",
        "const f = new FormData(); f.append('a', 1); return [...f]",
        "const { port1, port2 } = new MessageChannel(); port1.postMessage(1)",
        "return new URLPattern({ pathname: '/:id' }).test(input)",
        "return await fetch('https://x')",
        "return structuredClone({ a: 1 })",
        "setTimeout(() => {}, 1)",
        "return new TextEncoder().encode('x')",
        "console.log(performance.now())",
        "interface Window { a: string } const w: Window = { a: '' }; return w",
        "type Node = { next: Node }; return 1",
        "return new OffscreenCanvas(1, 1)",
        "return Promise.all([1, 2])",
        "return (1e6).toLocaleString()",
        "return new Date(0).toLocaleDateString('en-GB', { month: 'long', timeZone: 'UTC' })",
    ] {
        check(code, None);
    }
}

/// Every name of the table decides by itself.
#[test]
fn every_name_of_the_table_counts() {
    for (name, what) in BROWSER_ONLY {
        check(&format!("return {name}"), Some(name));
        assert!(!what.is_empty());
    }
}

/// The list of languages is that of the engine's data.
#[test]
fn the_languages_are_those_of_the_data() {
    assert_eq!(EMBEDDED_LANGUAGES, cove_intl::Library::languages().unwrap());
}
