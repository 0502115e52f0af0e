//! A native crash in the engine is told as what it is, and is nobody else's.
//!
//! This program is its own worker: one that crashes, for real and behind all walls, when a job's source begins with
//! `// crash:`. No other program has that way in. It speaks as much of the test harness's language as its runner needs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(unsafe_code, reason = "crashing is the point")]

#[allow(unused)]
mod stage;

use std::sync::Arc;

use cove_core::{
    Crash, Effects, Engine, ErrorCode, ExecutorOptions, ExecutorState, FaultKind, Retry, RunReport, RunRequest,
    Session, SessionFate, SessionOptions, ToolErrorCode, ToolSet, ToolSpec,
};
use cove_embedded::{EmbeddedEngine, EmbeddedOptions, worker};
use cove_executor::{CodeExecutor, Runner, RunnerOptions};
use serde_json::json;
use stage::{PATIENCE_MS, body, cell};

const TESTS: &[(&str, fn())] = &[
    ("every_crash_is_told_by_its_cause", every_crash_is_told_by_its_cause),
    ("a_crash_is_nobody_elses", a_crash_is_nobody_elses),
    ("what_was_done_before_a_crash_is_told", what_was_done_before_a_crash_is_told),
    ("callers_are_told_with_a_code_of_its_own", callers_are_told_with_a_code_of_its_own),
    ("a_crash_while_something_is_sent", a_crash_while_something_is_sent),
    ("many_crashes_leave_nothing_behind", many_crashes_leave_nothing_behind),
];

#[allow(clippy::print_stdout, reason = "the harness's language")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|word| word == worker::WORKER_ARGUMENT) {
        worker::before_each_run(crash_if_asked);
        worker::main();
    }
    let ignored = args.iter().any(|word| word == "--ignored");
    if args.iter().any(|word| word == "--list") {
        TESTS.iter().filter(|_| !ignored).for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    let wanted: Vec<&String> = args.iter().filter(|word| !word.starts_with("--")).collect();
    let exact = args.iter().any(|word| word == "--exact");
    let fits = |name: &str, word: &str| if exact { name == word } else { name.contains(word) };
    for (name, test) in TESTS.iter().filter(|_| !ignored) {
        if wanted.is_empty() || wanted.iter().any(|word| fits(name, word)) {
            test();
            println!("test {name} ... ok");
        }
    }
}

/// In the worker's child: does what the source asks for.
fn crash_if_asked(source: &str) {
    let Some(how) = source.strip_prefix("// crash:").and_then(|rest| rest.split_whitespace().next()) else { return };
    unsafe extern "C" {
        /// What the C library calls when a canary on the stack is dead.
        fn __stack_chk_fail() -> !;
    }
    // SAFETY: none of this is safe; each line ends the process, which is what it is for.
    unsafe {
        match how {
            "segv" => std::ptr::without_provenance_mut::<u64>(4096).write_volatile(1),
            "jump" => std::mem::transmute::<*const (), fn()>(std::ptr::without_provenance(4096))(),
            "stack" => deeper(0),
            "smash" => __stack_chk_fail(),
            "abort" => libc_abort(),
            "panic" => std::process::abort(),
            "ill" => illegal(),
            "div" => divide(),
            "trap" => trap(),
            "call" => {
                drop(rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None));
            }
            other => panic!("{other}"),
        }
    }
}

/// Uses up the stack.
#[allow(unconditional_recursion)]
fn deeper(depth: u64) {
    let block = std::hint::black_box([depth; 512]);
    deeper(std::hint::black_box(block[7] + 1));
    std::hint::black_box(block);
}

fn libc_abort() {
    unsafe extern "C" {
        fn abort() -> !;
    }
    // SAFETY: see above.
    unsafe { abort() }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::arch::asm;
    pub(crate) fn illegal() {
        // SAFETY: it ends the process.
        unsafe { asm!("ud2") }
    }
    pub(crate) fn divide() {
        // SAFETY: it ends the process.
        unsafe {
            asm!("xor edx, edx", "xor ecx, ecx", "mov eax, 1", "div ecx", out("eax") _, out("ecx") _, out("edx") _);
        }
    }
    pub(crate) fn trap() {
        // SAFETY: it ends the process.
        unsafe { asm!("int3") }
    }
}

#[cfg(target_arch = "aarch64")]
mod machine {
    use std::arch::asm;
    pub(crate) fn illegal() {
        // SAFETY: it ends the process.
        unsafe { asm!("udf #0") }
    }
    pub(crate) fn divide() {
        illegal();
    }
    pub(crate) fn trap() {
        // SAFETY: it ends the process.
        unsafe { asm!("brk #0") }
    }
}

use machine::{divide, illegal, trap};

/// How a worker is told to crash, what is told, and a word of the sentence.
fn crashes() -> Vec<(&'static str, Crash, &'static str)> {
    let division = if cfg!(target_arch = "x86_64") { Crash::ArithmeticError } else { Crash::IllegalInstruction };
    vec![
        ("segv", Crash::SegmentationFault, "invalid memory access"),
        ("jump", Crash::SegmentationFault, "SIGSEGV"),
        ("stack", Crash::SegmentationFault, "invalid memory access"),
        ("smash", Crash::Abort, "stack smashing detected"),
        ("abort", Crash::Abort, "SIGABRT"),
        ("panic", Crash::Abort, "SIGABRT"),
        ("ill", Crash::IllegalInstruction, "illegal instruction"),
        ("div", division, "SIG"),
        ("trap", Crash::Trap, "SIGTRAP"),
        ("call", Crash::ForbiddenCall, "forbidden system call"),
    ]
}

fn engine() -> EmbeddedEngine {
    let own = std::env::current_exe().unwrap();
    EmbeddedEngine::new(EmbeddedOptions { worker_program: Some(own), ..Default::default() })
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn session(engine: &EmbeddedEngine) -> Box<dyn Session> {
    engine.open(SessionOptions::one_shot()).await.unwrap()
}

fn is_crash(report: &RunReport, crash: Crash, words: &str) {
    let fault = report.result.as_ref().unwrap_err();
    assert_eq!((fault.kind, report.fate), (FaultKind::EngineCrashed, SessionFate::Lost), "{fault:?}");
    assert_eq!(fault.details["cause"], serde_json::to_value(crash).unwrap(), "{fault:?}");
    assert_eq!(fault.details["signal"], crash.signal_name());
    assert!(fault.message.starts_with("the engine crashed: ") && fault.message.contains(words), "{}", fault.message);
    assert!(fault.hint.as_ref().is_some_and(|hint| hint.contains("once more")), "{fault:?}");
}

fn every_crash_is_told_by_its_cause() {
    in_runtime(async {
        let engine = engine();
        for (how, crash, words) in crashes() {
            let mut lost = session(&engine).await;
            let report = lost.run(&body(&format!("// crash:{how}\nreturn 1"), PATIENCE_MS)).await;
            is_crash(&report, crash, words);
            assert_eq!(report.effects, Effects::None, "{how}");
            // The session says so again, and ends like any other.
            let again = lost.run(&body("return 1", PATIENCE_MS)).await.result.unwrap_err();
            assert!(again.message.contains("the engine crashed"), "{how}: {}", again.message);
            lost.close().await.unwrap();
        }
    });
}

fn a_crash_is_nobody_elses() {
    in_runtime(async {
        let engine = engine();
        let mut other = engine.open(SessionOptions::executor()).await.unwrap();
        other.run(&cell("let n = 1")).await.result.unwrap();
        for (at, (how, ..)) in crashes().into_iter().enumerate() {
            // One that is in the middle of a run while its neighbour crashes, and one that rests.
            let mut busy = session(&engine).await;
            let mut lost = session(&engine).await;
            let counts = body("let n = 0; for (let i = 0; i < 3e5; i++) n += i; return n", PATIENCE_MS);
            let running = busy.run(&counts);
            let crashes = body(&format!("// crash:{how}"), PATIENCE_MS);
            let crashing = lost.run(&crashes);
            let (ran, crashed) = tokio::join!(running, crashing);
            assert_eq!(ran.result.unwrap().value, json!(44_999_850_000_u64), "{how}");
            assert_eq!(crashed.result.unwrap_err().kind, FaultKind::EngineCrashed, "{how}");
            assert_eq!(other.run(&cell("n += 1")).await.result.unwrap().value, at + 2, "{how}");
        }
        assert_eq!(engine.workers_started(), 1, "the zygote was not harmed");
    });
}

/// Calls that were made count, also when the engine crashes afterwards in the same session.
fn what_was_done_before_a_crash_is_told() {
    in_runtime(async {
        let engine = engine();
        let mut session = session(&engine).await;
        let tool = ToolSpec::new("touch", |_| async { Ok(json!(1)) });
        session.send_tools(ToolSet::new(vec![tool]).unwrap()).await.unwrap();
        assert_eq!(session.run(&body("return await touch()", PATIENCE_MS)).await.effects, Effects::Committed);
        let report = session.run(&body("// crash:segv", PATIENCE_MS)).await;
        is_crash(&report, Crash::SegmentationFault, "SIGSEGV");
        assert_eq!(Retry::from(report.effects), Retry::Safe, "this run had called nothing");
    });
}

fn callers_are_told_with_a_code_of_its_own() {
    in_runtime(async {
        let engine: Arc<dyn Engine> = Arc::new(engine());
        let runner = Runner::new(RunnerOptions { embedded: Some(engine.clone()), ..Default::default() });
        let mut request = RunRequest::new("// crash:ill\nreturn 1");
        request.engine = cove_core::EngineChoice::Embedded;
        let report = runner.run(request).await;
        let answer = report.answer();
        assert_eq!(answer["error"], ToolErrorCode::EngineCrashed.as_str(), "{answer}");
        assert_eq!((&answer["cause"], &answer["signal"]), (&json!("illegal_instruction"), &json!("SIGILL")));
        assert_eq!(
            (report.fault().unwrap().kind, Retry::from(report.effects)),
            (FaultKind::EngineCrashed, Retry::Safe)
        );

        let executor = CodeExecutor::new(engine, ExecutorOptions::default()).unwrap();
        executor.init().await.unwrap();
        executor.run("const kept = 1").await.unwrap();
        let error = executor.run("// crash:smash").await.unwrap_err();
        assert_eq!((error.code, error.retryable), (ErrorCode::EngineCrashed, false), "{error:?}");
        assert!(error.message.contains("stack smashing detected"), "{}", error.message);
        assert_eq!(executor.state(), ExecutorState::Dirty);
        executor.cleanup().await.unwrap();
        executor.init().await.unwrap();
        assert_eq!(executor.run("typeof kept").await.unwrap().output, "undefined");
        executor.cleanup().await.unwrap();
    });
}

/// Also where the host is not waiting for a run's end but sending to it: a second job to a child that is gone.
fn a_crash_while_something_is_sent() {
    in_runtime(async {
        let engine = engine();
        let mut session = session(&engine).await;
        // More than the socket holds: the child dies while the host still writes.
        let code = format!("// crash:abort\nreturn '{}'", "x".repeat(3 << 20));
        let report = session.run(&body(&code, PATIENCE_MS)).await;
        is_crash(&report, Crash::Abort, "SIGABRT");
        let sent = session.send_variables(serde_json::Map::new()).await.unwrap_err();
        assert!(sent.to_string().contains("the engine crashed"), "{sent}");
    });
}

fn many_crashes_leave_nothing_behind() {
    in_runtime(async {
        let engine = engine();
        one_run(&engine).await;
        let before = stage::descriptors();
        for _ in 0..50 {
            for (how, ..) in [("segv", 0), ("smash", 0), ("ill", 0)] {
                let report = session(&engine).await.run(&body(&format!("// crash:{how}"), PATIENCE_MS)).await;
                assert_eq!(report.result.unwrap_err().kind, FaultKind::EngineCrashed);
            }
        }
        one_run(&engine).await;
        let after = stage::descriptors();
        let spares = 2 * (1 + EmbeddedOptions::default().spare_children);
        assert!(after <= before + spares, "{before} descriptors before, {after} after");
        assert_eq!(engine.workers_started(), 1);
    });
}

async fn one_run(engine: &EmbeddedEngine) {
    let mut session = session(engine).await;
    assert_eq!(session.run(&body("return 1", PATIENCE_MS)).await.result.unwrap().value, 1);
    session.close().await.unwrap();
}
