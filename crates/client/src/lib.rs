//! A typed client of Bay's HTTP interface: every operation, errors with their codes, and retries that never do work twice.
//!
//! ```no_run
//! # async fn example() -> Result<(), cove_client::ClientError> {
//! use cove_api::{CreateSandbox, ShellExecRequest};
//! let bay = cove_client::Client::new("http://127.0.0.1:8114", Some("sk-bay-…"))?;
//! let sandbox = bay.create_sandbox(&CreateSandbox::default()).await?;
//! let request = ShellExecRequest {
//!     command: "echo hello".to_owned(),
//!     timeout: 30,
//!     cwd: None,
//!     include_code: false,
//!     description: None,
//!     tags: None,
//!     output_tag: None,
//! };
//! let said = bay.exec_shell(&sandbox.id, &request).await?;
//! assert_eq!(said.output, "hello\n");
//! bay.delete_sandbox(&sandbox.id).await
//! # }
//! ```

mod client;
mod error;
mod events;
mod follow;
mod verbs;

pub use client::Client;
pub use error::ClientError;
pub use events::Events;
pub use follow::Follow;
pub use verbs::files::Bits;
pub use verbs::page::PageLink;
