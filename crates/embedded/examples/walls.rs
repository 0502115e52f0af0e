//! Shows which walls stand on this machine, and tries to get through them.
//!
//! `cargo run -p cove-embedded --example walls`
#![allow(clippy::print_stdout)]

use cove_embedded::{EmbeddedEngine, probe::Behind, probe::probe_walls};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    cove_embedded::worker::enter_if_asked();
    for wall in EmbeddedEngine::default().walls().await?.walls {
        println!("{:20} {:8} {}", wall.name.as_str(), format!("{:?}", wall.state).to_lowercase(), wall.detail);
    }
    for behind in [Behind::All, Behind::AllButSeccomp] {
        println!("\nbehind {behind:?}");
        for probed in probe_walls(None, behind)? {
            println!("{} {:32} {}", if probed.held { "held" } else { "HOLE" }, probed.name, probed.outcome);
        }
    }
    Ok(())
}
