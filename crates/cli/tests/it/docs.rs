//! What the documents promise is there.

use std::path::Path;

use cove_core::{ErrorCode, ToolErrorCode};

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every code has a page that answers the three questions, and the index lists it.
#[test]
fn every_error_code_has_its_page() {
    let index = std::fs::read_to_string(project().join("docs/errors/README.md")).unwrap();
    let codes = ErrorCode::ALL.iter().map(|code| code.as_str());
    let codes = codes.chain(ToolErrorCode::ALL.iter().map(|code| code.as_str()));
    let codes = codes.chain(cove_api::ErrorCode::ALL.iter().map(|code| code.as_str()));
    for code in codes {
        let page = std::fs::read_to_string(project().join(format!("docs/errors/{code}.md"))).unwrap_or_default();
        for part in ["**What happened.**", "**Why Cove does this.**", "**What to do next.**", "fails ", "works "] {
            assert!(page.contains(part), "docs/errors/{code}.md lacks {part}");
        }
        assert!(index.contains(&format!("[`{code}`]({code}.md)")), "docs/errors/README.md does not list {code}");
    }
}

/// Links between our own documents lead somewhere.
#[test]
fn links_between_documents_hold() {
    let mut checked = 0;
    let mut folders = vec![project().to_path_buf(), project().join("docs"), project().join("docs/errors")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                if target.is_empty() || target.contains("://") {
                    continue;
                }
                assert!(folder.join(target).exists(), "{} links to {target}, which is not there", path.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} links were seen");
}
