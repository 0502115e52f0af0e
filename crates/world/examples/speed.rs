//! What a world costs: building it, making it a session's own, running in it. Prints a table.
#![allow(
    missing_docs,
    clippy::result_large_err,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]
#[path = "../tests/host/mod.rs"]
mod host;
use cove_core::RunRequest;
use cove_world::World;
use host::{Desk, setup};
use serde_json::Value;
use std::time::Instant;

fn best(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn main() {
    let show = |what: &str, (min, p50): (f64, f64)| println!("{what:<44} min {min:>9.1} µs   p50 {p50:>9.1} µs");
    let mut worlds = Vec::new();
    let made: Vec<f64> = (0..40)
        .map(|_| {
            let start = Instant::now();
            worlds.push(World::new().unwrap());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    show("World::new", best(made));
    println!("heap of a fresh world: {} KiB", worlds[0].heap_bytes() / 1024);
    let request = |code: &str, cell: bool| match cell {
        true => RunRequest { max_operations: Some(50_000_000), ..RunRequest::cell(code) },
        false => RunRequest::new(code),
    };
    let first: Vec<f64> = worlds
        .iter_mut()
        .map(|world| {
            let start = Instant::now();
            world.configure(&setup()).unwrap();
            world.run(&request("return 1 + 1", false), &mut Desk::default()).result.unwrap();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    show("configure + first trivial run, fresh world", best(first));
    let world = &mut worlds[0];
    let mut again = |what: &str, code: &str, cell: bool, times: usize| {
        let mut desk = Desk::default();
        desk.tool("tool", |args| Ok(Value::from(args.to_vec())));
        let taken = (0..times)
            .map(|_| {
                let start = Instant::now();
                world.run(&request(code, cell), &mut desk).result.unwrap_or_else(|f| panic!("{f:?}"));
                start.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        show(what, best(taken));
    };
    again("trivial run, warm", "return 1 + 1", false, 500);
    again("trivial cell, warm", "1 + 1", true, 500);
    again("console.log of an object", "console.log({ a: 1, b: [1, 2, 3] })", false, 200);
    again("1e6 loop, no guards", "let s = 0; for (let i = 0; i < 1e6; i++) s += i; return s", false, 5);
    again("1e6 loop, guards", "let s = 0; for (let i = 0; i < 1e6; i++) s += i; s", true, 5);
    again("1e6 array push", "const a = []; for (let i = 0; i < 1e6; i++) a.push(i); return a.length", false, 5);
    again("1e6 array index", "const a = []; for (let i = 0; i < 1e6; i++) a[i] = i; return a.length", false, 5);
    again("fib(25)", "const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return f(25)", false, 5);
    again(
        "10,000 promise callbacks",
        "let p = Promise.resolve(0); for (let i = 0; i < 10000; i++) p = p.then((x) => x + 1); return await p",
        false,
        5,
    );
    worlds[1].set_tools(&[cove_world::ToolDecl { name: "tool".into(), sync: false }]).unwrap();
    let world = &mut worlds[1];
    let mut desk = Desk::default();
    desk.tool("tool", |args| Ok(Value::from(args.to_vec())));
    let taken = (0..50)
        .map(|_| {
            let start = Instant::now();
            world
                .run(
                    &request("let s = 0; for (let i = 0; i < 100; i++) s += (await tool(i))[0]; return s", false),
                    &mut desk,
                )
                .result
                .unwrap();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    show("100 awaited tools", best(taken));
}
