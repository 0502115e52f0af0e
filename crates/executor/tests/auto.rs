//! `auto` with both real engines: what is tried in Chrome, who wins a race, and what keeps a run where it began.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cove_chrome::{ChromeEngine, ChromeOptions, find_browser};
use cove_core::{
    Engine, EngineChoice, EngineName, EngineReason, EngineReport, FaultKind, LogLine, LogSink, NetworkPolicy,
    RunReport, RunRequest, ToolSet, ToolSpec,
};
use cove_embedded::EmbeddedEngine;
use cove_executor::{Runner, RunnerOptions};
use cove_testkit::processes::{below, stat};
use cove_testkit::{PATIENCE, Site, until};
use serde_json::{Value, json};

const EMBEDDED: EngineName = EngineName::Embedded;
const BROWSER: EngineName = EngineName::Browser;

struct Stage {
    runner: Runner,
    chrome: Arc<ChromeEngine>,
    heard: Arc<Mutex<Vec<(String, Instant)>>>,
    called: Arc<Mutex<Vec<Value>>>,
}

impl Stage {
    fn new() -> Self {
        if let Err(error) = find_browser(None) {
            panic!("these tests need a browser ({error}); run scripts/setup");
        }
        Self::with(None, NetworkPolicy::default())
    }

    fn with(browser: Option<PathBuf>, network: NetworkPolicy) -> Self {
        let options =
            ChromeOptions { browser, open_timeout: PATIENCE, launch_timeout: PATIENCE, ..ChromeOptions::default() };
        let chrome = Arc::new(ChromeEngine::new(options));
        let heard: Arc<Mutex<Vec<(String, Instant)>>> = Arc::default();
        let ear = Arc::clone(&heard);
        let sink: LogSink =
            Arc::new(move |line: &LogLine| ear.lock().unwrap().push((line.text.clone(), Instant::now())));
        let called: Arc<Mutex<Vec<Value>>> = Arc::default();
        let calls = Arc::clone(&called);
        let note = ToolSpec::new("note", move |call| {
            calls.lock().unwrap().extend(call.args);
            async { Ok(json!("noted")) }
        });
        let runner = Runner::new(RunnerOptions {
            embedded: Some(Arc::new(EmbeddedEngine::default())),
            browser: Some(Arc::clone(&chrome) as Arc<dyn Engine>),
            tools: ToolSet::new(vec![note]).unwrap(),
            log_sink: Some(sink),
            network,
            ..RunnerOptions::default()
        });
        Self { runner, chrome, heard, called }
    }

    async fn run(&self, code: &str) -> RunReport {
        self.runner.run(RunRequest { engine: EngineChoice::Auto, ..RunRequest::new(code) }).await
    }

    fn lines(&self) -> Vec<String> {
        self.heard.lock().unwrap().iter().map(|(text, _)| text.clone()).collect()
    }

    fn calls(&self) -> Vec<Value> {
        self.called.lock().unwrap().clone()
    }
}

fn engine(report: &RunReport) -> EngineReport {
    report.engine.clone().unwrap_or_else(|| panic!("{report:?}"))
}

#[track_caller]
fn check(report: &RunReport, name: EngineName, reason: EngineReason, value: &Value) {
    let ran = engine(report);
    assert_eq!((ran.name, ran.reason), (name, reason), "{report:?}");
    assert_eq!(report.answer(), *value, "{report:?}");
}

/// What the embedded engine's `crypto.subtle` refuses, with the words that `auto` knows.
const RSA: &str = "const s = crypto.subtle, own = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, \
    text = new TextEncoder().encode('secret');
    const pair = await s.generateKey({ name: 'RSASSA-PKCS1-v1_5', ...own }, true, ['sign', 'verify']);
    const verified = await s.verify('RSASSA-PKCS1-v1_5', pair.publicKey, await s.sign('RSASSA-PKCS1-v1_5', pair.privateKey, text), text);
    const keys = await s.generateKey({ name: 'RSA-OAEP', ...own }, false, ['encrypt', 'decrypt']);
    const sent = await s.encrypt('RSA-OAEP', keys.publicKey, text);
    const curve = await s.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, true, ['sign', 'verify']);
    return [verified, new TextDecoder().decode(await s.decrypt('RSA-OAEP', keys.privateKey, sent)), (await s.exportKey('raw', curve.publicKey)).byteLength]";

/// `Temporal` is known by its name, so that nothing is tried in vain.
#[tokio::test]
async fn temporal_is_chromes() {
    let stage = Stage::new();
    let code = "const d = Temporal.PlainDate.from('2024-01-31').add({ months: 1 }); return [d.toString(), \
        Temporal.Duration.from('PT90M').round({ largestUnit: 'hours' }).toString(), \
        Temporal.ZonedDateTime.from('2024-03-31T01:30[Europe/Berlin]').add({ hours: 1 }).hour]";
    check(&stage.run(code).await, BROWSER, EngineReason::NeedsBrowser, &json!(["2024-02-29", "PT1H30M", 3]));
    stage.chrome.close().await;
}

/// The list of Chrome's names is that of the installed Chrome, but for what another version has more or less.
#[tokio::test]
async fn the_names_are_those_of_the_installed_chrome() {
    const NAMES: &str = "return Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name))";
    let stage = Stage::new();
    let names = async |engine| -> HashSet<String> {
        let report = stage.runner.run(RunRequest { engine, ..RunRequest::new(NAMES) }).await;
        serde_json::from_value(report.answer()).unwrap_or_else(|_| panic!("{report:?}"))
    };
    let (chrome, embedded) = (names(EngineChoice::Browser).await, names(EngineChoice::Embedded).await);
    let listed: HashSet<String> = include_str!("../src/auto/chrome_names.txt").lines().map(str::to_owned).collect();
    let both: Vec<_> = listed.intersection(&embedded).collect();
    assert!(both.is_empty(), "the embedded engine has these itself; take them off the list: {both:?}");
    let lacking: HashSet<String> = chrome.difference(&embedded).cloned().collect();
    let (new, old) = (sorted(lacking.difference(&listed)), sorted(listed.difference(&lacking)));
    let few = listed.len() / 20;
    assert!(new.len() <= few && old.len() <= few, "not on the list: {new:?}\nnot in this Chrome: {old:?}");
    stage.chrome.close().await;
}

fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_the_embedded_engine_lacks_is_tried_in_chrome() {
    let stage = Stage::new();
    for (code, reason, value) in [
        ("return NodeFilter.SHOW_TEXT", EngineReason::MissingFeature, json!(4)),
        ("return typeof eval('docu' + 'ment')", EngineReason::MissingFeature, json!("object")),
        (
            "const e = {}; Error.captureStackTrace(e); return typeof e.stack",
            EngineReason::MissingFeature,
            json!("string"),
        ),
        ("return Math.max(...Array(70000).fill(7))", EngineReason::StackOverflow, json!(7)),
        (RSA, EngineReason::MissingFeature, json!([true, "secret", 97])),
    ] {
        let report = stage.run(&format!("console.log('seen'); {code}")).await;
        check(&report, BROWSER, reason, &value);
        assert!(engine(&report).because.contains("so Chrome ran it"), "{report:?}");
        assert_eq!(report.logs.len(), 1);
    }
    assert_eq!(stage.lines(), ["seen"; 5], "only the lines of the attempt that counts");
    // A name that nobody has is told at once, and an engine that was asked for is the only one.
    let report = stage.run("return totl").await;
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::NeedsNoBrowser));
    let asked = RunRequest { engine: EngineChoice::Embedded, ..RunRequest::new("return NodeFilter") };
    let report = stage.runner.run(asked).await;
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::AskedFor));
    stage.chrome.close().await;
}

#[tokio::test]
async fn a_failure_in_both_is_told_in_the_embedded_engines_words() {
    let stage = Stage::new();
    let report = stage.run("console.log(typeof window); const f = () => f() + 1; return f()").await;
    let ran = engine(&report);
    assert_eq!((ran.name, ran.reason), (EMBEDDED, EngineReason::StackOverflow), "{report:?}");
    assert!(ran.because.contains("failed too"), "{report:?}");
    assert!(report.fault().unwrap().message.contains("call stack"), "{report:?}");
    assert_eq!((stage.lines(), report.logs[0].text.as_str()), (vec!["undefined".to_owned()], "undefined"));
    stage.chrome.close().await;
}

/// A program that computes in the way of its engine: `TURN` milliseconds in the embedded one, `CHROME` in Chrome.
fn computes(embedded_ms: u64, chrome_ms: u64, then: &str) -> String {
    format!(
        "const ms = typeof window === 'undefined' ? {embedded_ms} : {chrome_ms}; const end = performance.now() + ms;\n\
         while (performance.now() < end);\n{then}"
    )
}

#[tokio::test]
async fn a_long_computation_is_raced_and_either_may_win() {
    let stage = Stage::new();
    let before: HashSet<u32> = below(std::process::id()).into_iter().collect();
    let code = computes(60_000, 10, "console.log('computed'); return typeof window");
    let report = stage.run(&code).await;
    check(&report, BROWSER, EngineReason::LongComputation, &json!("object"));
    assert!(engine(&report).because.contains("Chrome was faster"), "{report:?}");
    assert!(report.usage.wall_ms >= 1000.0, "{report:?}");

    let report = stage.run(&computes(4000, 60_000, "console.log('computed'); return typeof window")).await;
    check(&report, EMBEDDED, EngineReason::LongComputation, &json!("undefined"));
    assert_eq!(stage.lines(), ["computed", "computed"]);

    // The losers are ended: nobody computes any more, and with the engines nobody is left.
    let busy = || {
        let ours = below(std::process::id());
        ours.into_iter().filter(|pid| stat(*pid).is_some_and(|stat| stat.state == 'R')).count()
    };
    let mut quiet = 0;
    until("nobody computes", async || {
        quiet = if busy() == 0 { quiet + 1 } else { 0 };
        quiet == 8
    })
    .await;
    stage.chrome.close().await;
    drop(stage);
    until("no process is left", async || below(std::process::id()).iter().all(|pid| before.contains(pid))).await;
}

#[tokio::test]
async fn a_program_of_its_own_failure_ends_the_race() {
    let stage = Stage::new();
    let report = stage.run(&computes(60_000, 10, "throw new Error('mine')")).await;
    assert_eq!((engine(&report).name, engine(&report).reason), (BROWSER, EngineReason::LongComputation));
    assert!(report.fault().unwrap().message.contains("mine"), "{report:?}");
    // Chrome fails for a reason of its own: the embedded engine's answer is the one.
    let report = stage.run(&computes(4000, 10, "return typeof window === 'undefined' ? 1 : Compartment")).await;
    check(&report, EMBEDDED, EngineReason::LongComputation, &json!(1));
    stage.chrome.close().await;
}

#[tokio::test]
async fn who_waits_is_not_raced_and_is_heard() {
    let stage = Stage::new();
    let began = Instant::now();
    let report =
        stage.run("console.log('a'); await new Promise((done) => setTimeout(done, 2500)); return NodeFilter").await;
    // The line was shown while it waited, so the run stays where it is.
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::NeedsNoBrowser));
    let shown = stage.heard.lock().unwrap().first().unwrap().1 - began;
    assert!(shown < Duration::from_millis(2400), "it was held for {shown:?}");
    assert_eq!(stage.chrome.pid(), None, "no browser was started");
    stage.chrome.close().await;
}

#[tokio::test]
async fn a_tool_call_keeps_the_run_where_it_is() {
    let stage = Stage::new();
    let report = stage.run("await note(1); return NodeFilter").await;
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::NeedsNoBrowser));
    assert_eq!(report.fault().unwrap().kind, FaultKind::Exception);
    let report = stage.run(&format!("await note(2); {}", computes(1500, 0, "return typeof window"))).await;
    check(&report, EMBEDDED, EngineReason::NeedsNoBrowser, &json!("undefined"));
    assert_eq!((stage.calls(), stage.chrome.pid()), (vec![json!(1), json!(2)], None), "once each, without a browser");

    // In a race the first call decides, and the other engine makes none.
    let report = stage.run(&computes(4000, 60_000, "await note(3); return typeof window")).await;
    check(&report, EMBEDDED, EngineReason::LongComputation, &json!("undefined"));
    let report = stage.run(&computes(60_000, 10, "await note(4); return typeof window")).await;
    check(&report, BROWSER, EngineReason::LongComputation, &json!("object"));
    assert_eq!(stage.calls(), [1, 2, 3, 4].map(Value::from));
    stage.chrome.close().await;
}

#[tokio::test]
async fn a_fetch_keeps_the_run_where_it_is() {
    let site = Site::open("here");
    let address = site.address().to_string();
    let network = NetworkPolicy {
        allow_hosts: vec!["127.0.0.1".to_owned()],
        allow_private: vec![address.clone()],
        ..NetworkPolicy::default()
    };
    let stage = Stage::with(None, network);
    let fetch = format!("await (await fetch('http://{address}/')).text()");
    let report = stage.run(&format!("const text = {fetch}; return NodeFilter")).await;
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::NeedsNoBrowser), "{report:?}");
    assert_eq!((site.visits(), stage.chrome.pid()), (1, None));

    // Chrome is ahead and fetches: the embedded engine is ended before it does.
    let code = computes(
        8000,
        10,
        &format!("try {{ await fetch('http://{address}/', {{ mode: 'no-cors' }}) }} catch {{}} return typeof window"),
    );
    let report = stage.run(&code).await;
    check(&report, BROWSER, EngineReason::LongComputation, &json!("object"));
    assert_eq!(site.visits(), 2);
    stage.chrome.close().await;
}

#[tokio::test]
async fn without_chrome_nothing_changes() {
    let stage = Stage::with(Some("/nowhere/chrome".into()), NetworkPolicy::default());
    let report = stage.run("return NodeFilter").await;
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::NeedsNoBrowser));
    let began = Instant::now();
    let report = stage.run(&format!("console.log('at once'); {}", computes(1500, 0, "return 1"))).await;
    check(&report, EMBEDDED, EngineReason::NeedsNoBrowser, &json!(1));
    let shown = stage.heard.lock().unwrap().first().unwrap().1 - began;
    assert!(shown < Duration::from_secs(1), "it was held for {shown:?}");
}

#[tokio::test]
async fn one_deadline_holds_for_both() {
    let stage = Stage::new();
    let began = Instant::now();
    let request = RunRequest { engine: EngineChoice::Auto, timeout_ms: 5000, ..RunRequest::new("for (;;);") };
    let report = stage.runner.run(request).await;
    assert!(began.elapsed() < Duration::from_millis(6000), "{:?}", began.elapsed());
    let fault = report.fault().unwrap();
    assert_eq!((fault.kind, &fault.details["timeoutMs"]), (FaultKind::Timeout, &json!(5000)), "{report:?}");
    assert_eq!((engine(&report).name, engine(&report).reason), (EMBEDDED, EngineReason::LongComputation));
    stage.chrome.close().await;
}
