//! Commands from standard input, one per line, to a browser of one's own:
//! `cargo run -p cove-gull --example browse -- /path/to/workspace example.com 127.0.0.1:3000`
#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

use std::io::BufRead;
use std::time::{Duration, Instant};

use cove_gull::{Gull, GullOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut options = GullOptions::new(args.next().ok_or("a workspace is needed")?, "browse");
    for host in args {
        let private = host.split(':').next().is_some_and(|host| host.parse::<std::net::IpAddr>().is_ok());
        let list = if private { &mut options.network.allow_private } else { &mut options.network.allow_hosts };
        list.push(host);
    }
    let gull = Gull::start(options).await?;
    for line in std::io::stdin().lock().lines() {
        let began = Instant::now();
        let answer = gull
            .exec(&line?, Duration::from_secs(std::env::var("T").ok().and_then(|t| t.parse().ok()).unwrap_or(20)))
            .await;
        print!("{}", answer.stdout);
        if !answer.stderr.is_empty() {
            eprintln!("{}", answer.stderr);
        }
        eprintln!("[{} in {} ms]", answer.exit_code, began.elapsed().as_millis());
    }
    gull.close().await;
    Ok(())
}
