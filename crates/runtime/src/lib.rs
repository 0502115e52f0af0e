//! Ship, what runs inside a sandbox: Python that keeps its state, JavaScript, shell commands, files, a terminal.
//!
//! [`ship`] serves it. On this machine [`cove_cell`] confines it, with nothing but Linux. In a Pod of a cluster [`mod@line`] leads to it.
//! [`cove_runtime_api`] has Ship's requests and answers, and the client.
//!
//! ```no_run
//! use std::time::Duration;
//! use cove_core::Deadline;
//! use cove_cell::{CellOptions, LocalCell};
//! use cove_runtime_api::{PythonRequest, RuntimeClient};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let cell = LocalCell::start(CellOptions::new("cove-ship", "cargo/", "sockets/")).await?;
//! for wall in cell.walls().missing() {
//!     eprintln!("not on this machine: {} ({})", wall.name, wall.detail);
//! }
//! let ship = RuntimeClient::new(cell.socket());
//! let request = PythonRequest { code: "sum(range(10))".to_owned(), timeout: Some(5.0), ..Default::default() };
//! let answer = ship.call(&request, Deadline::after(Duration::from_secs(10))).await?;
//! assert_eq!(answer.output.text, "45\n");
//! cell.kill().await?;
//! # Ok(())
//! # }
//! ```

pub mod line;
mod process;
pub mod ship;
