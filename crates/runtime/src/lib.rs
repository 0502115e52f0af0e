//! What runs inside a sandbox, and the walls of the local driver around it.
//!
//! [`ship`] is the work runtime: Python that remembers, shell commands, files, a terminal. [`cell`] puts it behind the
//! kernel's walls on this machine, with nothing but Linux. [`client`] speaks to a Ship over its socket.
//!
//! ```no_run
//! use std::time::Duration;
//! use cove_runtime::cell::{CellOptions, LocalCell};
//! use cove_runtime::client::ShipClient;
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let cell = LocalCell::start(CellOptions::new("cove-ship", "cargo/", "sockets/")).await?;
//! for wall in cell.walls().missing() {
//!     eprintln!("not on this machine: {} ({})", wall.name, wall.detail);
//! }
//! let ship = ShipClient::new(cell.socket());
//! let body = json!({"code": "sum(range(10))", "timeout": 5});
//! let (_, answer) = ship.json(hyper::Method::POST, "/ipython/exec", Some(&body), Duration::from_secs(10)).await?;
//! assert_eq!(answer["output"]["text"], "45\n");
//! cell.kill().await?;
//! # Ok(())
//! # }
//! ```

pub mod client;
mod process;
pub mod ship;

pub use cove_cell as cell;
