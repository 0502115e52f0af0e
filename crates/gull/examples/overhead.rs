//! What Gull adds to a bare agent-browser call: the same command, in turns, through `/exec` and by a process alone.
//! Prints JSON lines. `cargo run --release -p cove-gull --example overhead [rounds]`
#![allow(clippy::print_stdout, missing_docs)]
#![expect(clippy::disallowed_methods, reason = "the bare call is what is measured against")]

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cove_gull::{GullOptions, Listen, find_agent_browser, serve};
use cove_runtime_api::Endpoint;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Fault = Box<dyn std::error::Error>;

async fn exec(stream: &mut TcpStream, cmd: &str) -> Result<Duration, Fault> {
    let body = serde_json::json!({ "cmd": cmd, "timeout": 30 }).to_string();
    let head = format!(
        "POST /exec HTTP/1.1\r\nHost: gull\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let began = Instant::now();
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let read = stream.read(&mut chunk).await?;
        bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if body.len() >= length.parse::<usize>()? {
                let spent = began.elapsed();
                return if body.contains("\"exit_code\":0") { Ok(spent) } else { Err(body.to_owned().into()) };
            }
        }
    }
}

fn report(name: &str, mut times: Vec<Duration>) -> f64 {
    times.sort();
    let at = |part: f64| {
        let index = ((times.len().max(1) - 1) as f64 * part) as usize;
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    println!(
        "{}",
        serde_json::json!({ "bench": "gull-overhead", "case": name, "n": times.len(), "p50_ms": at(0.5), "min_ms": at(0.0), "p95_ms": at(0.95) })
    );
    at(0.5)
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let rounds: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(60);
    let workspace = tempfile::tempdir()?;
    std::fs::set_permissions(workspace.path(), std::fs::Permissions::from_mode(0o755))?;
    let mut options = GullOptions::new(workspace.path(), "bench");
    options.listen = Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
    let server = serve(options).await?;
    let Endpoint::Tcp(address) = server.endpoint().clone() else { return Err("no address".into()) };
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    exec(&mut stream, "open data:text/html,<title>x</title><p>y</p>").await?;
    let binary = find_agent_browser(None)?;
    let sockets = server.gull().private_folder().join("s");
    for cmd in ["get title", "eval 1+1", "snapshot -i"] {
        let (mut through, mut bare) = (Vec::new(), Vec::new());
        for round in 0..rounds + 5 {
            let gull = exec(&mut stream, cmd).await?;
            let mut command = Command::new(&binary);
            // Without the bridge's secret a bare call can only speak to the daemon that is there, which is all it has to.
            command.args(cmd.split(' ')).env_clear().env("HOME", server.gull().private_folder().join("home"));
            command
                .env("AGENT_BROWSER_SOCKET_DIR", &sockets)
                .env("AGENT_BROWSER_SESSION", "bench")
                .stdin(Stdio::null());
            let began = Instant::now();
            let output = tokio::task::block_in_place(|| command.output())?;
            let alone = began.elapsed();
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
            }
            if round >= 5 {
                through.push(gull);
                bare.push(alone);
            }
        }
        let difference = report(&format!("{cmd} through /exec"), through) - report(&format!("{cmd} bare"), bare);
        println!("{}", serde_json::json!({ "bench": "gull-overhead", "case": cmd, "overhead_p50_ms": difference }));
    }
    server.close().await;
    Ok(())
}
