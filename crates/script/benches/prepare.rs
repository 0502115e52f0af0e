//! What preparing costs, in CPU time, by size: `cargo bench -p cove-script`.
//!
//! SPECIFICATION.md promises 60 µs for 1 KB of TypeScript and 5 ms for 100 KB. The figures that count are the p50 of
//! the thread's CPU time.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use cove_script::{Mode, PrepareOptions, prepare};

const TYPESCRIPT: &str = include_str!("../tests/corpus/shapes.ts");
const JAVASCRIPT: &str = include_str!("../tests/corpus/orders.js");

const SIZES: [(&str, usize); 4] = [("1 KB", 1 << 10), ("10 KB", 10 << 10), ("100 KB", 100 << 10), ("1 MB", 1 << 20)];

/// A program of about `bytes`, made of functions with different names around a real one's statements.
fn program(sample: &str, bytes: usize) -> String {
    let body: String = sample.lines().filter(|line| !line.starts_with("\"use")).fold(String::new(), |mut out, line| {
        out.push_str(line);
        out.push('\n');
        out
    });
    if bytes <= body.len() {
        // The first kilobyte, cut at the end of a top-level declaration.
        let cut = body.match_indices("\n}").map(|(at, _)| at + 3).take_while(|at| *at <= bytes + 200).last().unwrap();
        return body[..cut].to_owned();
    }
    let mut out = String::new();
    let mut count = 0;
    while out.len() < bytes {
        out.push_str(&format!("async function part{count}() {{\n{body}}}\n"));
        count += 1;
    }
    out
}

fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct is ours and the clock exists on every system this builds for.
    #[allow(unsafe_code)]
    unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
    }
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

fn main() {
    let languages = [("TypeScript", TYPESCRIPT), ("JavaScript", JAVASCRIPT)];
    println!("CPU time of prepare(cell), p50 and p95:");
    for (language, sample) in languages {
        for (label, bytes) in SIZES {
            let source = program(sample, bytes);
            let options = PrepareOptions::new(Mode::Cell);
            prepare(&source, &options).unwrap();
            let turns = (20_000_000 / source.len()).clamp(40, 4000);
            let mut times: Vec<Duration> = (0..turns)
                .map(|_| {
                    let start = cpu();
                    black_box(prepare(black_box(&source), &options)).unwrap();
                    cpu() - start
                })
                .collect();
            times.sort();
            let (p50, p95) = (times[turns / 2], times[turns * 95 / 100]);
            println!("{language:11} {label:>6} ({:>7} bytes): p50 {p50:>10.1?}  p95 {p95:>10.1?}", source.len());
        }
    }
}
