//! The escape suite through the file tools, with either resolver.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::os::unix::fs::symlink;

use cove_files::{FileTool, Resolver, Stop, Workspace};
use cove_workspace::testkit::escape::{Answered, Expect, LINKS, MODELS_PATHS, PATHS, SECRET, Stage};
use serde_json::{Value, json};

fn open(stage: &Stage, resolver: Resolver) -> Workspace {
    Workspace::open(stage.workspace()).unwrap().with_resolver(resolver)
}

fn call(workspace: &Workspace, tool: &str, args: Value) -> Result<String, &'static str> {
    let tool = FileTool::from_name(tool).unwrap();
    workspace.call(tool, args, &Stop::default()).map(|r| r.to_json().to_string()).map_err(|error| {
        assert!(!error.message.contains(SECRET), "the error tells the secret: {error}");
        error.code.as_str()
    })
}

/// Calls several tools at once.
fn calls<const N: usize>(workspace: &Workspace, calls: [(&'static str, Value); N]) -> Vec<Answered> {
    calls.into_iter().map(|(tool, args)| (tool, call(workspace, tool, args).map_err(str::to_owned))).collect()
}

#[test]
fn no_path_leads_out() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let workspace = open(&stage, resolver);
        for paths in [PATHS, LINKS, MODELS_PATHS] {
            stage.check(&format!("file tools, {resolver:?}"), paths, Expect::Refused, |path| {
                calls(
                    &workspace,
                    [
                        ("read", json!({"path": path})),
                        ("write", json!({"path": path, "content": "overwritten"})),
                        ("edit", json!({"path": path, "oldText": SECRET, "newText": "overwritten"})),
                        ("edit", json!({"path": path, "edits": [{"oldText": "root", "newText": "toor"}]})),
                        ("grep", json!({"pattern": ".", "path": path})),
                        ("find", json!({"pattern": "*", "path": path})),
                        ("ls", json!({"path": path})),
                    ],
                )
            });
        }
    }
}

/// Searching everything does not search what symlinks point to, and lists them as what they are.
#[test]
fn searches_do_not_follow_symlinks() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let workspace = open(&stage, resolver);
        assert!(call(&workspace, "grep", json!({"pattern": SECRET})).unwrap().contains("No matches found"));
        let found = call(&workspace, "find", json!({"pattern": "*secret*"})).unwrap();
        assert!(!found.contains("outside") && !found.contains("secret.txt"), "{found}");
        let listed = call(&workspace, "ls", json!({})).unwrap();
        assert!(listed.contains("out-abs\\n") && !listed.contains("out-abs/"), "{listed}");
        // A .gitignore from outside decides nothing inside, not even by its effects.
        std::fs::write(stage.outside().join("rules"), "a.txt\n").unwrap();
        symlink(stage.outside().join("rules"), stage.workspace().join(".gitignore")).unwrap();
        assert!(call(&workspace, "find", json!({"pattern": "a.txt"})).unwrap().contains("real/a.txt"));
    }
}

/// Symlinks that stay inside are followed, for reading and for writing.
#[test]
fn symlinks_inside_work() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let ws = stage.workspace();
        symlink("real", ws.join("good")).unwrap();
        symlink("../real/a.txt", ws.join("sub/good.txt")).unwrap();
        symlink("../sub/good.txt", ws.join("real/chain.txt")).unwrap();
        symlink("real/new.txt", ws.join("dangling")).unwrap();
        let workspace = open(&stage, resolver);
        for path in ["good/a.txt", "sub/good.txt", "real/chain.txt", "good/chain.txt"] {
            let read = call(&workspace, "read", json!({"path": path}));
            assert!(read.as_ref().is_ok_and(|text| text.contains("inside")), "{resolver:?} {path}: {read:?}");
        }
        call(&workspace, "edit", json!({"path": "good/chain.txt", "oldText": "inside", "newText": "edited"})).unwrap();
        assert_eq!(std::fs::read_to_string(ws.join("real/a.txt")).unwrap(), "edited\n");
        assert!(ws.join("sub/good.txt").is_symlink() && ws.join("real/chain.txt").is_symlink());
        call(&workspace, "write", json!({"path": "dangling", "content": "made"})).unwrap();
        assert_eq!(std::fs::read_to_string(ws.join("real/new.txt")).unwrap(), "made");
        assert!(call(&workspace, "ls", json!({})).unwrap().contains("good/"));
        assert!(
            call(&workspace, "grep", json!({"pattern": "edited", "path": "good"})).unwrap().contains("good/a.txt:1")
        );
    }
}

/// While another thread swaps a folder for a symlink to the outside and back, every tool works inside or not at all.
#[test]
fn a_symlink_swapping_racer_gains_nothing() {
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let stage = Stage::new();
        let workspace = open(&stage, resolver);
        stage.race(&format!("file tools, {resolver:?}"), || {
            calls(
                &workspace,
                [
                    ("read", json!({"path": "real/a.txt"})),
                    ("read", json!({"path": "real/secret.txt"})),
                    ("write", json!({"path": "real/a.txt", "content": "inside\n"})),
                    ("write", json!({"path": "real/new/b.txt", "content": "inside\n"})),
                    ("edit", json!({"path": "real/a.txt", "oldText": "inside", "newText": "inside "})),
                    ("edit", json!({"path": "real/secret.txt", "oldText": SECRET, "newText": "gone"})),
                    ("grep", json!({"pattern": SECRET})),
                    ("grep", json!({"pattern": ".", "path": "real"})),
                    ("find", json!({"pattern": "*secret.txt"})),
                    ("find", json!({"pattern": "*", "path": "swap"})),
                    ("ls", json!({"path": "real"})),
                ],
            )
        });
    }
}
