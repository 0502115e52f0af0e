//! The page that guests live on, and the kernel that is in it before them.

use std::sync::LazyLock;

/// The origin of every guest's page: a secure context, so that `crypto.subtle`, `localStorage` and workers are there,
/// under a name that can never exist (`.invalid`), so that no request for it ever leaves.
pub(crate) const PAGE_URL: &str = "https://cove.invalid/";

/// Where the kernel sends a synchronous call; answered by the host itself.
pub(crate) const SYNC_URL: &str = "https://cove.invalid/.sync";

/// The document. `head` and `body` are there, as on any page.
pub(crate) const PAGE_HTML: &str = "<!doctype html><html><head><title>Cove</title></head><body></body></html>";

/// What the kernel finds under this name once, at its start.
pub(crate) const BINDING: &str = "__cove_send";

/// The kernel's source, in the order of its parts.
pub(crate) static KERNEL: LazyLock<String> = LazyLock::new(|| {
    [
        include_str!("page/open.js"),
        include_str!("page/inspect.js"),
        include_str!("page/console.js"),
        include_str!("page/canvas.js"),
        include_str!("page/bridge.js"),
        include_str!("page/dynamic.js"),
        include_str!("page/run.js"),
        include_str!("page/close.js"),
    ]
    .concat()
});
