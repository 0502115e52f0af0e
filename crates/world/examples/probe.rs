//! Scratch: runs programs separated by `//---` lines from a file, each in the same world when it starts with `//same`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#[path = "../tests/host/mod.rs"]
mod host;
use host::Guest;
use serde_json::Value;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let mut guest = Guest::new();
    for program in text.split("//---\n") {
        if !program.starts_with("//same") { guest = Guest::new();
            guest.desk.tool("add", |a| Ok(Value::from(a[0].as_f64().unwrap() + a[1].as_f64().unwrap())));
            guest.desk.tool("fail", |_| Err("no luck".into()));
            guest.desk.tool("echo", |a| Ok(Value::from(a.to_vec())));
            guest.tools(&[("add", false), ("fail", false), ("echo", false)]);
            guest.desk.tool("addSync", |a| Ok(Value::from(a[0].as_f64().unwrap() + a[1].as_f64().unwrap())));
            guest.tools(&[("addSync", true)]); }
        guest.desk.lines.clear();
        let cell = program.contains("//cell");
        let report = guest.report(program, cell, cell.then_some(50_000));
        println!("=== {}", program.trim().lines().filter(|l| !l.starts_with("//")).take(3).collect::<Vec<_>>().join(" | "));
        for line in &guest.desk.lines { println!("  [{:?}] {}", line.level, line.text); }
        match report.result { Ok(e) => println!("  OK {} final={} ops={} mem={} usable={}", e.value, e.is_final_answer, report.operations, report.memory_bytes, report.usable),
            Err(f) => { println!("  FAULT {:?}: {} @{:?} usable={} ops={}", f.kind, f.message, f.position.map(|p|(p.line,p.column)), report.usable, report.operations); if let Some(x)=f.frame { println!("{x}"); } if let Some(x)=f.hint { println!("  hint: {x}"); } } }
    }
}
