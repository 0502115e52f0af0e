//! A child that breaks every rule of the wire. The host ends the session, says why, and stays well.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;

use cove_core::{Crash, Effects, Finished, LogLevel, Session, SessionOptions, ToolSet, ToolSpec};
use proptest::prelude::*;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::{Value, json};

use super::*;
use crate::control::{self, Notice};
use crate::process::{Child, Process};
use crate::wire::{Call, frame_into, line_head, report_parts};

/// A session whose child is played by the test: what the peer writes is what the host hears.
struct Puppet {
    session: EmbeddedSession,
    peer: UnixStream,
    body: std::process::Child,
}

#[expect(clippy::disallowed_methods, reason = "the puppet's body is killed with the session and waited for below")]
async fn puppet() -> Puppet {
    let (control, zygote) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    control::send(&zygote, &Notice::Ready(br#"{"walls":[]}"#.to_vec()).encode(), &[]).unwrap();
    let pool = WorkerPool::attend(control, None, 0, Duration::from_secs(10)).await.unwrap();
    // Nobody will ever say what the child died of.
    drop(zygote);
    let body = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = Pid::from_raw(i32::try_from(body.id()).unwrap()).unwrap();
    let process = Process::new(pidfd_open(pid, PidfdFlags::empty()).unwrap());
    let (socket, peer) = UnixStream::pair().unwrap();
    socket.set_nonblocking(true).unwrap();
    let permit = Arc::new(tokio::sync::Semaphore::new(1)).acquire_owned().await.unwrap();
    let child = Child { process, socket, number: 1 };
    let options = SessionOptions { log_levels: vec![LogLevel::Log], ..SessionOptions::executor() };
    let mut session = EmbeddedSession::open(child, Arc::new(pool), permit, options).unwrap();
    let echo = ToolSpec::new("echo", |call| async move { Ok(call.args.into_iter().next().unwrap_or_default()) });
    let slow = ToolSpec::new("slow", |_| std::future::pending());
    let large = ToolSpec::new("large", |_| async { Ok(json!("x".repeat(8 << 20))) });
    let tools = ToolSet::new(vec![echo, slow, large]).unwrap();
    session.tools.extend(tools.iter().map(|tool| (tool.name.clone(), Arc::clone(&tool.tool))));
    Puppet { session, peer, body }
}

impl Puppet {
    /// Runs while the peer says `bytes`; `stays`: and keeps the line open.
    async fn hears(mut self, bytes: Vec<u8>, stays: bool, timeout_ms: u64) -> RunReport {
        let mut peer = self.peer.try_clone().unwrap();
        let speaker = std::thread::spawn(move || {
            // The host may hang up in the middle.
            let _ = peer.write_all(&bytes);
        });
        if !stays {
            let peer = self.peer.try_clone().unwrap();
            let end = std::thread::spawn(move || {
                speaker.join().unwrap();
                peer.shutdown(std::net::Shutdown::Write).unwrap();
            });
            drop(end);
        }
        let report = self.session.run(&RunRequest { timeout_ms, ..RunRequest::cell("1") }).await;
        if report.fate == SessionFate::Lost {
            self.body.wait().unwrap(); // the host has killed it
            let again = self.session.send_variables(Default::default()).await;
            assert!(matches!(again, Err(cove_core::EngineError::Gone(_))), "{again:?}");
        } else {
            self.body.kill().unwrap();
            self.body.wait().unwrap();
        }
        report
    }
}

fn frame(kind: FromChild, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame_into(&mut bytes, kind as u8, |out| out.extend_from_slice(payload));
    bytes
}

fn call(id: u64, name: &str, args_json: &str) -> Vec<u8> {
    let mut payload = Call { id, name, args_json }.head();
    payload.extend_from_slice(args_json.as_bytes());
    frame(FromChild::Call, &payload)
}

fn report(value: Value) -> Vec<u8> {
    let mut report = RunReport::new(Ok(Finished { value, ..Finished::default() }), SessionFate::Usable);
    (report.usage.operations, report.usage.memory_bytes) = (3, 4);
    let (head, value) = report_parts(report);
    frame(FromChild::Report, &[head, value].concat())
}

fn line(text: &str) -> Vec<u8> {
    [&line_head(LogLevel::Log, text)[..], text.as_bytes()].concat()
}

/// Each way to break the rules, and what the host says about it.
#[tokio::test]
async fn every_breach_ends_the_session_with_a_reason() {
    let flood = frame(FromChild::Logs, &line("x").repeat(40_000));
    let images: Vec<u8> = (0..17).flat_map(|_| frame(FromChild::Picture, &[0; 13])).collect();
    // Within the length of a report, and 480 MB once it is read; five pictures of 16 MiB in a session of 64.
    let heavy = frame(FromChild::Report, format!("\u{2}\0\0\0{{}}[{}0]", "0,".repeat(6_000_000)).as_bytes());
    let pixels: Vec<u8> = (0..5).flat_map(|_| frame(FromChild::Picture, &vec![0; 16 << 20])).collect();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (vec![1, 0, 0, 0, 99, 0], "a frame of kind 99 is not known here"),
        (vec![0, 0, 0, 0, 1], "a frame of kind 1 is not known here"),
        (vec![255, 255, 255, 255, 16], "announces 4294967295 bytes"),
        (vec![255, 255, 255, 255, 19], "announces 4294967295 bytes"),
        (frame(FromChild::Accepted, b""), "a frame of kind 20 is not known here"),
        (frame(FromChild::Report, b"{}"), "a report frame does not decode"),
        (frame(FromChild::Report, b"\x02\0\0\0{}1"), "a report frame does not decode"),
        (frame(FromChild::Logs, b"\x09\0\0\0\0"), "a log frame does not decode"),
        (frame(FromChild::Logs, b"\x01\x02\0\0\0\xff\xfe"), "a log frame does not decode"),
        (frame(FromChild::Logs, b"\x01\xff\xff\xff\xffx"), "a log frame does not decode"),
        (frame(FromChild::Call, b"1234"), "a tool call frame does not decode"),
        (frame(FromChild::Picture, b"1234"), "a picture frame does not decode"),
        (call(1, "nope", "[]"), "it called a tool that it was not given: \"nope\""),
        (call(1, "__cove_fetch", "[]"), "it called a tool that it was not given"),
        ([call(1, "slow", "[]"), call(1, "slow", "[]")].concat(), "it used the id of a call twice"),
        ([report(json!(1)), vec![0]].concat(), "it went on after the end of its run"),
        ([report(json!(1)), report(json!(2))].concat(), "it went on after the end of its run"),
        (flood.repeat(10), "it floods the console"),
        (images, "it sent more than 16 pictures"),
        (heavy, "its report is heavier than its memory"),
        (pixels, "its pictures are too large"),
        (frame(FromChild::Refused, b"no room"), "the world could not be set up: no room"),
    ];
    for (bytes, expected) in cases {
        let report = puppet().await.hears(bytes, true, 20_000).await;
        let fault = report.result.unwrap_err();
        assert_eq!((fault.kind, report.fate), (FaultKind::EngineLost, SessionFate::Lost), "{expected}");
        assert!(fault.message.contains(expected), "{:?} does not say {expected:?}", fault.message);
    }
}

/// An honest conversation in the same theatre, so that the test above proves something.
#[tokio::test]
async fn an_honest_child_is_heard() {
    let said = [frame(FromChild::Logs, &[line("a"), line("b")].concat()), report(json!({"x": [1, null]}))].concat();
    let heard = puppet().await.hears(said, true, 20_000).await;
    assert_eq!(heard.result.unwrap().value, json!({"x": [1, null]}));
    assert_eq!(heard.logs.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((heard.fate, heard.usage.operations, heard.effects), (SessionFate::Usable, 3, Effects::None));
}

/// A child that is gone, in the middle of a frame or before any, and one that ran out of memory.
#[tokio::test]
async fn a_death_is_told_by_what_is_known() {
    for said in [vec![], report(json!(1))[..9].to_vec(), vec![7, 0]] {
        let fault = puppet().await.hears(said, false, 20_000).await.result.unwrap_err();
        assert_eq!(fault.message, "the worker was killed together with its zygote");
        assert_eq!(fault.kind, FaultKind::EngineLost);
    }
    let words = frame(FromChild::Dying, b"\x01memory allocation of 4096 bytes failed\n");
    let fault = puppet().await.hears(words, false, 20_000).await.result.unwrap_err();
    assert_eq!(fault, Fault::memory(64 << 20));
    let words = frame(FromChild::Dying, b"\0\nthread 'main' panicked\nmore");
    let fault = puppet().await.hears(words, true, 20_000).await.result.unwrap_err();
    assert_eq!(fault, Fault::engine_crashed(Crash::Abort, Some("thread 'main' panicked")));
    // A report that arrives together with the end still counts; the session does not.
    let report = puppet().await.hears(report(json!(5)), false, 20_000).await;
    assert_eq!(report.result.unwrap().value, 5);
}

/// Silence, or half a frame, lasts until the deadline and no longer; lines that came before are kept.
#[tokio::test]
async fn the_deadline_holds_against_silence() {
    let lines = frame(FromChild::Logs, &line("so far"));
    let half = report(json!("x".repeat(100)))[..50].to_vec();
    for tail in [vec![], half, call(1, "slow", "[]")] {
        let report = puppet().await.hears([lines.clone(), tail].concat(), true, 60).await;
        assert_eq!(report.result.unwrap_err(), Fault::timeout(60));
        assert_eq!(report.logs.len(), 1);
        assert!(report.usage.wall_ms >= 60.0);
    }
}

/// A child that calls tools and never reads an answer costs the host a bounded amount, until the deadline.
#[tokio::test]
async fn answers_that_nobody_reads_do_not_pile_up() {
    let calls: Vec<u8> = (0..60).flat_map(|id| call(id, "large", "[]")).collect();
    let mut puppet = puppet().await;
    let mut peer = puppet.peer.try_clone().unwrap();
    std::thread::spawn(move || peer.write_all(&calls));
    let report = puppet.session.run(&RunRequest { timeout_ms: 1500, ..RunRequest::cell("1") }).await;
    assert_eq!(report.result.unwrap_err().kind, FaultKind::Timeout);
    assert!(puppet.session.line.unsent_bytes() <= FULL_BYTES + (8 << 20), "{}", puppet.session.line.unsent_bytes());
    assert_eq!(report.effects, Effects::Unknown);
    puppet.body.wait().unwrap();
}

/// The child's answers come back in the form that the child reads.
#[tokio::test]
async fn tools_are_answered_on_the_wire() {
    let mut puppet = puppet().await;
    let mut peer = puppet.peer.try_clone().unwrap();
    peer.write_all(&[call(7, "echo", "[{\"a\":1}]"), call(8, "echo", "{")].concat()).unwrap();
    let reader = std::thread::spawn(move || {
        let (mut frames, mut answers) = (crate::wire::Frames::default(), Vec::new());
        let mut bytes = [0; 4096];
        while answers.len() < 2 {
            let length = peer.read(&mut bytes).unwrap();
            frames.spare_buffer().extend_from_slice(&bytes[..length]);
            while let Some(frame) = frames.next(|_| Some(1 << 20)).unwrap() {
                if frame.kind == ToChild::Answer as u8 {
                    answers.push(crate::wire::decode_answer(frame.payload).unwrap());
                }
            }
        }
        peer.write_all(&report(json!(null))).unwrap();
        answers
    });
    let heard = puppet.session.run(&RunRequest { timeout_ms: 20_000, ..RunRequest::cell("1") }).await;
    let mut answers = reader.join().unwrap();
    answers.sort_by_key(|(id, _)| *id);
    assert_eq!(answers[0], (7, crate::wire::ToolReply::Value("{\"a\":1}".into())));
    assert!(
        matches!(&answers[1], (8, crate::wire::ToolReply::Failure { message, .. }) if message.contains("cannot be read"))
    );
    assert_eq!((heard.effects, heard.usage.tool_calls), (Effects::Committed, 2));
    puppet.body.kill().unwrap();
    puppet.body.wait().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Noise of any kind ends as a fault: quickly when the line closes, and never with a panic.
    #[test]
    fn noise_never_hurts_the_host(
        noise in prop::collection::vec(any::<u8>(), 0..200),
        kind in 14u8..24,
        honest_length: bool,
    ) {
        let mut bytes = Vec::new();
        if honest_length {
            frame_into(&mut bytes, kind, |out| out.extend_from_slice(&noise));
        } else {
            bytes = noise;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let report = runtime.block_on(async { puppet().await.hears(bytes, false, 20_000).await });
        let kind = report.result.unwrap_err().kind;
        prop_assert!(matches!(kind, FaultKind::EngineLost | FaultKind::EngineCrashed | FaultKind::Memory), "{kind:?}");
        prop_assert_eq!(report.fate, SessionFate::Lost);
    }
}
