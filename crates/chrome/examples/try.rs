//! Scratch: runs its arguments.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use cove_chrome::*;
use cove_core::*;
#[tokio::main]
async fn main() {
    let engine = ChromeEngine::new(ChromeOptions::default());
    for code in std::env::args().skip(1) {
        let mut s = engine.open(SessionOptions::one_shot()).await.unwrap();
        let t = std::time::Instant::now();
        let r = s.run(RunUnit { code, shape: if std::env::var_os("CELL").is_some() { RunShape::Cell } else { RunShape::FunctionBody { input: None } }, timeout_ms: 5000, max_operations: std::env::var_os("CELL").map(|_| 50000) }).await;
        println!("{:?} {:#?}", t.elapsed(), r);
    }
    engine.close().await;
}
