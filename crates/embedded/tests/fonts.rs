//! Fonts reach guests that can open no file: one copy for all of them, not a byte of it counted against any.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cove_core::Session;
use cove_embedded::{EmbeddedEngine, EmbeddedOptions};
use cove_testkit::processes::{below, status_bytes};
use epaint_default_fonts::UBUNTU_LIGHT;
use serde_json::Value;
use stage::{PATIENCE_MS, body, options, session, value};
use tempfile::TempDir;

const WORKER: &str = env!("CARGO_BIN_EXE_cove-worker");

/// As large as fonts get. The end of the file is nothing that a font would miss.
const FONT_BYTES: u64 = 48 << 20;

/// Draws in the font under test and tells the picture's sum and how many pixels have ink.
const DRAW: &str = "
    const ctx = getCanvas(200, 40).getContext('2d');
    ctx.clearRect(0, 0, 200, 40);
    ctx.font = '24px Ubuntu';
    ctx.fillText('Sphinx of quartz', 4, 28);
    const data = ctx.getImageData(0, 0, 200, 40).data;
    let sum = 0, ink = 0;
    for (let i = 3; i < data.length; i += 4) { if (data[i]) ink++; sum = (sum * 31 + data[i]) % 1000003 }
    return { sum, ink, width: ctx.measureText('Sphinx of quartz').width }";

fn large_font(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("large.ttf");
    std::fs::write(&path, UBUNTU_LIGHT).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(FONT_BYTES).unwrap();
    path
}

fn with_fonts(folder: &TempDir, worker: &Path) -> EmbeddedEngine {
    EmbeddedEngine::new(EmbeddedOptions {
        worker_program: Some(worker.into()),
        font_dirs: vec![folder.path().into()],
        system_fonts: false,
        ..options()
    })
}

async fn draw(session: &mut dyn Session) -> Value {
    session.run(&body(DRAW, PATIENCE_MS)).await.result.unwrap().value
}

/// The largest figure of that name in the status of all workers, in bytes.
fn most(name: &str) -> u64 {
    below(std::process::id()).into_iter().filter_map(|pid| status_bytes(pid, name)).max().unwrap()
}

#[tokio::test]
async fn sessions_share_one_copy_of_a_font() {
    let folder = TempDir::new().unwrap();
    large_font(&folder);
    let engine = with_fonts(&folder, Path::new(WORKER));
    let (mut one, mut two) = (session(&engine).await, session(&engine).await);
    let drawn = draw(&mut *one).await;
    assert!(drawn["ink"].as_u64().unwrap() > 300, "{drawn}");
    assert_eq!(draw(&mut *two).await, drawn);
    assert!(most("RssShmem") > 0, "the font is shared memory");
    assert!(most("RssAnon") < FONT_BYTES / 2, "and not a session's own: {}", most("RssAnon"));
}

/// A worker that did not get the font store draws the same; the bytes come over its line.
#[tokio::test]
async fn without_the_font_store_fonts_come_as_bytes() {
    let folder = TempDir::new().unwrap();
    large_font(&folder);
    let worker = folder.path().join("worker");
    std::fs::write(&worker, format!("#!/bin/sh\nexec {WORKER} \"$@\" > /dev/null\n")).unwrap();
    std::fs::set_permissions(&worker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (by_line, by_store) = (with_fonts(&folder, &worker), with_fonts(&folder, Path::new(WORKER)));
    let drawn = draw(&mut *session(&by_store).await).await;
    let mut lone = session(&by_line).await;
    assert_eq!(draw(&mut *lone).await, drawn);
}

/// What is done to a font file once it is in use reaches no guest.
#[tokio::test]
async fn a_font_that_is_cut_off_under_use_still_draws() {
    let folder = TempDir::new().unwrap();
    let path = large_font(&folder);
    let engine = with_fonts(&folder, Path::new(WORKER));
    let mut early = session(&engine).await;
    let drawn = draw(&mut *early).await;
    std::fs::write(&path, b"").unwrap();
    assert_eq!(draw(&mut *early).await, drawn);
    assert_eq!(draw(&mut *session(&engine).await).await, drawn);
}

/// Files that only look like fonts, and one that vanishes between the index and its use: text is drawn all the same.
#[tokio::test]
async fn broken_font_files_are_left_out() {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in [
        ("empty.ttf", &b""[..]),
        ("text.otf", b"hello, I am no font"),
        ("short.ttf", &UBUNTU_LIGHT[..5000]),
        ("collection.ttc", b"ttcf\0\x01\0\0\xff\xff\xff\xff\0\0\0\x0c"),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let engine = with_fonts(&folder, Path::new(WORKER));
    assert!(draw(&mut *session(&engine).await).await["ink"].as_u64().unwrap() > 300);
}

/// A machine without any font: Latin text is drawn, in letters and not in boxes, in a sans and a mono face.
#[tokio::test]
async fn a_machine_without_fonts_draws_latin_text() {
    const BARE: &str = "
        const ctx = getCanvas(80, 50).getContext('2d');
        const look = (font, text) => {
            ctx.clearRect(0, 0, 80, 50); ctx.font = font; ctx.fillText(text, 4, 36);
            const { data } = ctx.getImageData(0, 0, 80, 50);
            let seen = '';
            for (let i = 3; i < data.length; i += 4) if (data[i]) seen += i + ':' + data[i] + ' ';
            return seen };
        const ink = look => look.split(' ').length - 1;
        const all = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,;:!?@#&%+-=()éèüßñøÅ€';
        const faults = [];
        for (const font of ['sans-serif', 'serif', 'monospace', 'Arial', 'Courier New', 'Nobody Knows This', 'system-ui']) {
            const seen = new Map(), box = look('32px ' + font, '\\u{10fffd}');
            for (const letter of all) {
                const drawn = look('32px ' + font, letter);
                if (ink(drawn) < 3) faults.push(font + ' draws nothing for ' + letter);
                if (drawn === box) faults.push(font + ' draws a box for ' + letter);
                if (seen.has(drawn)) faults.push(font + ' draws ' + seen.get(drawn) + ' and ' + letter + ' alike');
                seen.set(drawn, letter);
            }
            for (const style of ['bold ', 'italic ']) if (look(style + '32px ' + font, 'Rag') === look('32px ' + font, 'Rag')) faults.push(font + ' knows no ' + style);
        }
        const width = (font, text) => { ctx.font = '32px ' + font; return ctx.measureText(text).width };
        if (width('monospace', 'iii') !== width('monospace', 'MMM')) faults.push('monospace is not');
        if (width('sans-serif', 'iii') >= width('sans-serif', 'MMM')) faults.push('sans-serif is monospace');
        return faults";
    let engine = EmbeddedEngine::new(EmbeddedOptions { system_fonts: false, ..options() });
    assert_eq!(value(&engine, BARE).await, serde_json::json!([]));
}
