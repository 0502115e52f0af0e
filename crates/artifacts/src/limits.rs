//! How much the store takes.

/// The bounds of one store. Reaching one is a clear error, never a deleted artifact: what was kept stays kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// Bytes of one artifact, metadata not counted.
    pub max_artifact_bytes: u64,
    /// Bytes of all files of the store together.
    pub max_total_bytes: u64,
    /// Visible artifacts.
    pub max_count: u64,
}

impl StoreLimits {
    /// Bytes of one metadata file. Two ids and a few numbers take 300; 16 KiB leaves room for long ids and keeps a
    /// caller from storing a document in one.
    pub(crate) const MAX_META_BYTES: u64 = 16 << 10;
}

impl Default for StoreLimits {
    /// 64 MiB holds an 8000 × 8000 picture of a photo; 10,000 artifacts is a month of a busy agent, and one `list`
    /// of them still takes milliseconds.
    fn default() -> Self {
        Self { max_artifact_bytes: 64 << 20, max_total_bytes: 4 << 30, max_count: 10_000 }
    }
}
