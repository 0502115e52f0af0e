//! Ports of a sandbox: which programs listen, and links by which people reach them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Moment;

/// A port on which a program in the sandbox listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortInfo {
    /// Its number.
    pub port: u16,
    /// The addresses inside the sandbox that the program listens on.
    pub addresses: Vec<String>,
    /// Where a browser reaches it, by a link.
    pub url: String,
}

/// The ports on which programs listen; empty while the sandbox does not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortList {
    /// In their order.
    pub items: Vec<PortInfo>,
}

/// A link to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatePortLink {
    /// The port. Nobody needs to listen there yet.
    #[schema(minimum = 1)]
    pub port: u16,
    /// How long it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000, default = 3600)]
    pub seconds: Option<u32>,
}

/// A link that has just been made. Whoever has its address may use the port until it expires or is revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedPortLink {
    /// Its id, by which it is revoked.
    pub id: String,
    /// The port.
    pub port: u16,
    /// The address to open in a browser. It is shown this once.
    pub url: String,
    /// When it ends.
    pub expires_at: Moment,
}

/// A link, without its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortLink {
    /// Its id, by which it is revoked.
    pub id: String,
    /// The port.
    pub port: u16,
    /// When it was made.
    pub created_at: Moment,
    /// When it ends.
    pub expires_at: Moment,
}

/// The links of a sandbox that still work, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortLinkList {
    /// All of them.
    pub items: Vec<PortLink>,
}
