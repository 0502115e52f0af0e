//! The files of the web page, inside the binary.
//!
//! They are committed as `web/` builds them, gzipped, so that building Cove needs no Node; `npm run check` in `web/` says
//! whether they are still what the sources give. This crate knows no HTTP: how they are served is the server's matter.

use std::io::Read as _;

/// The page itself.
pub const INDEX: &str = "index.html";

/// No file of the page is larger, unpacked.
const MAX_BYTES: u64 = 4 << 20;

/// One file of the page.
#[derive(Debug)]
pub struct PageFile {
    /// Its name; the page has no folders.
    pub name: &'static str,
    /// Its bytes, gzipped.
    pub gzip: &'static [u8],
}

/// All of them.
pub const FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

impl PageFile {
    /// The file of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.name == name)
    }

    /// What a browser must take it for.
    pub fn media_type(&self) -> &'static str {
        match self.name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("txt") => "text/plain; charset=utf-8",
            _ => "application/octet-stream",
        }
    }

    /// Its bytes as they were before.
    pub fn unpacked(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(self.gzip).take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page refers to nothing but its own files, and what is loaded first stays small.
    #[test]
    fn the_page_is_whole() {
        let index = String::from_utf8(PageFile::find(INDEX).unwrap().unpacked().unwrap()).unwrap();
        let mut first = 0;
        for part in index.split(['"', '\'']).filter(|part| part.contains("/page/")) {
            let name = part.rsplit('/').next().unwrap();
            let file = PageFile::find(name).unwrap_or_else(|| panic!("{name} is not there"));
            first += file.gzip.len();
        }
        assert!(first > 10_000 && first < 150_000, "first paint: {first} bytes");
        for file in FILES {
            assert_ne!(file.media_type(), "application/octet-stream", "{}", file.name);
            assert!(!file.unpacked().unwrap().is_empty(), "{}", file.name);
        }
        for inline in ["<style", "style=", "onload=", "<script>"] {
            assert!(!index.contains(inline), "{inline}");
        }
    }
}
