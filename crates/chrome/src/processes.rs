//! What a browser says of its processes. Which of them are a page's is known only by their kind.

use serde::Deserialize;

/// The answer to [`BrowserProcesses::METHOD`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowserProcesses {
    process_info: Vec<Process>,
}

#[derive(Debug, Deserialize)]
struct Process {
    #[serde(rename = "type")]
    kind: String,
    id: u32,
}

impl BrowserProcesses {
    /// How a browser is asked.
    pub const METHOD: &str = "SystemInfo.getProcessInfo";

    /// Those of pages.
    pub fn renderers(self) -> Vec<u32> {
        self.ids(|kind| kind == "renderer")
    }

    /// Those that belong to no page.
    pub(crate) fn shared(self) -> Vec<u32> {
        self.ids(|kind| kind != "renderer")
    }

    fn ids(self, is_wanted: impl Fn(&str) -> bool) -> Vec<u32> {
        self.process_info.into_iter().filter(|process| is_wanted(&process.kind)).map(|process| process.id).collect()
    }
}
