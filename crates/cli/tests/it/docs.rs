//! What the documents promise is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cove_core::{ErrorCode, ToolErrorCode};
use serde_json::Value;

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

/// What the first command builds of others' crates, the tests use: a feature that only a test's dependency asks for would
/// have them built twice, and all that stands on them.
#[test]
fn the_first_build_and_the_tests_share_their_dependencies() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let crates = |more: &[&str]| -> BTreeSet<String> {
        let asked = Command::new(&cargo)
            .args(["tree", "--offline", "--prefix=none", "--format={p} {f}", "--manifest-path"])
            .arg(project().join("Cargo.toml"))
            .args(more)
            .output()
            .unwrap();
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        let text = String::from_utf8(asked.stdout).unwrap();
        let lines = text.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
        lines.filter(|line| !line.starts_with("cove")).collect()
    };
    let first = crates(&["-p=cove", "--edges=normal,build"]);
    let tests = crates(&["--workspace", "--edges=normal,build,dev"]);
    assert!(first.len() > 100, "{first:?}");
    let twice: Vec<_> = first.difference(&tests).collect();
    assert!(twice.is_empty(), "built once more for the tests, with other features: {twice:?}");
}

/// The table of crates in ARCHITECTURE.md is what Cargo knows: every crate, and for each exactly what it uses.
#[test]
fn the_architecture_draws_the_arrows_that_there_are() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1", "--manifest-path"])
        .arg(project().join("Cargo.toml"))
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let known: BTreeSet<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let uses = |package: &serde_json::Value| -> BTreeSet<String> {
        let all = package["dependencies"].as_array().unwrap().iter();
        let normal = all.filter(|used| used["kind"].is_null()).map(|used| used["name"].as_str().unwrap());
        normal.filter(|name| known.contains(name)).map(|name| name.trim_start_matches("cove-").to_owned()).collect()
    };
    let real: BTreeMap<String, _> =
        packages.iter().map(|package| (package["name"].as_str().unwrap().to_owned(), uses(package))).collect();
    let text = std::fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| storey")).skip(2);
    let drawn: BTreeMap<String, BTreeSet<String>> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let name = cells[1].split('`').nth(1).unwrap().to_owned();
            (name, cells[3].split(", ").filter(|used| *used != "–").map(str::to_owned).collect())
        })
        .collect();
    for (name, uses) in &real {
        assert_eq!(drawn.get(name), Some(uses), "ARCHITECTURE.md (left) and Cargo (right) differ about {name}");
    }
    assert_eq!(drawn.len(), real.len(), "ARCHITECTURE.md lists a crate that is not there");
}

/// The manifest of each crate, by the name of its folder.
fn manifests() -> BTreeMap<String, PathBuf> {
    let folders = std::fs::read_dir(project().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let found = folders.map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder));
    found.filter(|(_, folder)| folder.join("Cargo.toml").exists()).collect()
}

/// What two crates use has its version in the workspace's manifest, once.
#[test]
fn what_two_crates_use_stands_in_the_workspace_once() {
    let mut users: BTreeMap<String, Vec<(String, bool)>> = BTreeMap::new();
    for (name, folder) in manifests() {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let mut used: BTreeMap<String, bool> = BTreeMap::new();
        let mut is_dependency = false;
        for line in text.lines() {
            if line.starts_with('[') {
                is_dependency = line.trim_end_matches(']').ends_with("dependencies");
            } else if let Some((left, right)) = line.split_once('=').filter(|_| is_dependency) {
                let left = left.trim();
                let dependency = left.trim_end_matches(".workspace").trim_matches('"');
                let is_shared = left.ends_with(".workspace") || right.contains("workspace = true");
                *used.entry(dependency.to_owned()).or_insert(true) &= is_shared;
            }
        }
        for (dependency, is_shared) in used {
            users.entry(dependency).or_default().push((name.clone(), is_shared));
        }
    }
    assert!(users.len() > 60, "only {} dependencies were seen", users.len());
    users.retain(|_, by| by.len() > 1 && by.iter().any(|(_, is_shared)| !is_shared));
    assert!(users.is_empty(), "not in [workspace.dependencies] (crate, whether it takes it from there): {users:#?}");
}

/// A crate that is larger has become two.
#[test]
fn no_crate_has_more_than_ten_thousand_lines() {
    const MOST: usize = 10_000;
    fn lines(folder: &Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let count = |path: PathBuf| match path.extension() {
            _ if path.is_dir() => lines(&path),
            Some(extension) if extension == "rs" => std::fs::read_to_string(&path).unwrap().lines().count(),
            _ => 0,
        };
        entries.map(count).sum()
    }
    let sizes: BTreeMap<String, usize> =
        manifests().into_iter().map(|(name, folder)| (name, lines(&folder.join("src")))).collect();
    assert!(sizes.values().sum::<usize>() > 50_000, "{sizes:?}");
    let large: Vec<_> = sizes.iter().filter(|(_, lines)| **lines > MOST).collect();
    assert!(large.is_empty(), "more than {MOST} lines in src: {large:?}");
}

/// Every file that a walk of ARCHITECTURE.md names is there, and each walk has as many files as it says.
#[test]
fn walks_name_files_that_are_there_and_count_them() {
    let text = std::fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let walks = text.split("\n## Walks\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut seen = 0;
    for walk in walks.split("\n**").skip(1) {
        let (title, rest) = walk.split_once('\n').unwrap();
        let Some(count) = title.rsplit_once(": ").and_then(|(_, count)| count.parse::<usize>().ok()) else { continue };
        let mut files = BTreeSet::new();
        for row in rest.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let crates: Vec<&str> = cells[0].split([',', ' ']).filter(|word| !word.is_empty()).collect();
            let named =
                cells[1].split('`').skip(1).step_by(2).filter(|name| name.contains(".rs") || name.contains(".py"));
            for name in named {
                let found = crates.iter().map(|one| project().join(format!("crates/{one}/src/{name}")));
                let found = found.into_iter().find(|path| path.exists());
                let found = found.unwrap_or_else(|| panic!("{title}: no crate of {crates:?} has {name}"));
                files.insert(found);
            }
        }
        assert_eq!(files.len(), count, "{title}: the files are {files:#?}");
        seen += 1;
    }
    assert!(seen >= 5, "only {seen} walks were seen");
}

/// Every path below `crates/` that a document names is there.
#[test]
fn documents_name_files_that_are_there() {
    let mut checked = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SPECIFICATION.md", "THREAT_MODEL.md"] {
        let text = std::fs::read_to_string(project().join(document)).unwrap();
        for name in text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("crates/")) {
            let (before, rest) = name.split_once('{').unwrap_or((name, ""));
            let (choices, after) = rest.split_once('}').unwrap_or(("", ""));
            for choice in choices.split(',') {
                let path = format!("{before}{choice}{after}");
                let path = path.split(['*', ' ']).next().unwrap();
                assert!(project().join(path).exists(), "{document} names {path}, which is not there");
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} paths were seen");
}

/// Every script says what it is for when it is asked, and does nothing else.
#[test]
fn every_script_says_what_it_is_for() {
    let inside = |folder: &str| std::fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let benches = inside("bench").map(|folder| folder.join("run"));
    let packaging = ["packaging/pack", "packaging/images/build"].map(|name| project().join(name));
    let scripts: Vec<_> = inside("scripts").chain(benches).chain(packaging).collect();
    assert!(scripts.len() > 25, "{scripts:?}");
    for script in scripts {
        let done = Command::new("timeout").arg("20").arg(&script).arg("--help").output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.len() > 60, "{}: {done:?}", script.display());
    }
}

/// An image is the same whether the script makes it or its Dockerfile: the same lists of packages, the same versions as what tests
/// of sandboxes have, and every version fixed.
#[test]
fn images_are_made_of_the_same_packages_either_way() {
    let read =
        |name: &str| std::fs::read_to_string(project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (script, setup) = (read("packaging/images/build"), read("scripts/setup"));
    for kind in ["ship", "gull"] {
        let dockerfile = read(&format!("packaging/images/Dockerfile.{kind}"));
        assert!(dockerfile.contains(&format!("packaging/images/packages.{kind}")), "{kind}");
        assert!(
            dockerfile.trim_end().ends_with("COPY cove /usr/local/bin/cove"),
            "{kind}: the binary is the last layer"
        );
        assert!(dockerfile.contains("USER 1000:1000") && dockerfile.contains("HEALTHCHECK"), "{kind}");
        assert!(read(&format!("packaging/images/packages.{kind}")).lines().count() > 5, "{kind}");
    }
    assert!(script.contains("$here/packages.$kind") && script.contains("$here/requirements.txt"));
    assert!(
        script.contains("sed -n '/^ENV /p; /^WORKDIR /,$p' \"$here/Dockerfile.$kind\""),
        "the end is the Dockerfile's"
    );
    assert!(
        script.contains("suite=bookworm")
            && read("packaging/images/Dockerfile.ship").contains("ARG BASE=debian:12-slim")
    );
    let requirements = read("packaging/images/requirements.txt");
    assert!(requirements.lines().all(|line| line.contains("==")), "{requirements}");
    let python = setup.lines().find_map(|line| line.strip_prefix("python_packages=(")).unwrap().trim_end_matches(')');
    for package in python.split(' ') {
        assert!(requirements.lines().any(|line| line == package), "{package} is not in requirements.txt");
    }
    let agent_browser = setup.lines().find_map(|line| line.strip_prefix("agent_browser=")).unwrap();
    assert!(read("packaging/images/Dockerfile.gull").contains(&format!("agent-browser@{agent_browser} ")));
    assert!(script.contains("agent-browser@\\([0-9.]*\\)"), "the script reads the version from the Dockerfile");
}

/// Every test that THREAT_MODEL.md names as trying a wall is in the file that it names.
#[test]
fn walls_are_tried_by_tests_that_are_there() {
    let text = std::fs::read_to_string(project().join("THREAT_MODEL.md")).unwrap();
    let section = text.split("\n## How each wall is tried\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut checked = 0;
    for row in section.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let (mut source, mut tests) = (String::new(), 0);
        for word in row.split(" | ").nth(1).unwrap().split('`').skip(1).step_by(2) {
            if word.starts_with("crates/") {
                source =
                    std::fs::read_to_string(project().join(word)).unwrap_or_else(|error| panic!("{word}: {error}"));
            } else {
                assert!(source.contains(&format!("fn {word}(")), "no test is named {word}: {row}");
                tests += 1;
            }
        }
        assert!(tests > 0, "nothing tries this: {row}");
        checked += tests;
    }
    assert!(checked > 40, "only {checked} tests were seen");
}

/// `npm ci` refuses a lock file that is not of its package.
#[test]
fn every_npm_lock_is_of_its_package() {
    let listed = Command::new("git").args(["ls-files", "*package-lock.json"]).current_dir(project()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for lock in listed.lines() {
        let read = |path: &Path| serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap();
        let path = project().join(lock);
        let (package, locked) = (read(&path.with_file_name("package.json")), read(&path));
        for field in ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] {
            assert_eq!(package[field], locked["packages"][""][field], "{lock}: {field}");
        }
    }
    assert!(listed.lines().count() >= 5, "{listed}");
}
