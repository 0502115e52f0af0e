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
///
/// Every page reads it anew, so what only its writers need is left out.
pub(crate) static KERNEL: LazyLock<String> = LazyLock::new(|| {
    let parts = [
        include_str!("page/open.js"),
        include_str!("page/inspect.js"),
        include_str!("page/console.js"),
        include_str!("page/canvas.js"),
        include_str!("page/bridge.js"),
        include_str!("page/modules.js"),
        include_str!("page/dynamic.js"),
        include_str!("page/run.js"),
        include_str!("page/close.js"),
    ];
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim_start);
    let lines = lines.filter(|line| !line.is_empty() && (!line.starts_with("//") || line.starts_with("//#")));
    let mut kernel = String::new();
    for line in lines {
        // One character beyond Latin-1 would double all that V8 reads. Such characters stand in texts only.
        for unit in line.encode_utf16() {
            match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => kernel.push(char::from(byte)),
                _ => kernel.push_str(&format!("\\u{unit:04x}")),
            }
        }
        kernel.push('\n');
    }
    kernel
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_short_and_plain() {
        assert!(KERNEL.is_ascii() && !KERNEL.contains("\n//!") && !KERNEL.contains("\n// "));
        // A text over several lines would have lost its indentation.
        assert!(KERNEL.lines().all(|line| line.matches('`').count() % 2 == 0));
        assert!(KERNEL.ends_with("//# sourceURL=cove-kernel.js\n"));
    }
}
