//! The 33 tests of the contract, straight on the crate, by their names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::sync::Arc;

use cove_core::{ToolCall, ToolSet};
use cove_files::{FileTool, Resolver, Stop, Workspace, testkit, tool_specs};

/// Runs a case with both ways of resolving paths, and through the tools as guest code calls them.
fn check(name: &str) {
    let case = testkit::matrix().into_iter().find(|case| case.name == name).expect("a case of that name");
    for resolver in [Resolver::Kernel, Resolver::Steps] {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap().with_resolver(resolver);
        case.run(dir.path(), &mut |tool, args| {
            let tool = FileTool::from_name(tool).unwrap();
            workspace.call(tool, args, &Stop::default()).map(|result| result.to_json()).map_err(|e| e.to_string())
        })
        .unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for suffix in ["", "Tool"] {
        let dir = tempfile::tempdir().unwrap();
        let tools = ToolSet::new(tool_specs(Arc::new(Workspace::open(dir.path()).unwrap()))).unwrap();
        case.run(dir.path(), &mut |tool, args| {
            let spec = tools.get(&format!("{tool}{suffix}")).expect("the tool is registered");
            runtime.block_on(spec.tool.call(ToolCall { args: vec![args] })).map_err(|error| error.message)
        })
        .unwrap();
    }
}

macro_rules! matrix {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn the_matrix_is_complete() {
            let names: Vec<_> = testkit::matrix().into_iter().map(|case| case.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
            assert_eq!(names.len(), 33);
        }
    };
}

matrix! {
    test_read_01 test_read_02 test_read_03 test_read_04 test_read_05 test_read_06 test_read_07 test_read_08
    test_read_09 test_read_10 test_read_11
    test_write_12 test_write_13
    test_edit_14 test_edit_15 test_edit_16 test_edit_17 test_edit_18 test_edit_19 test_edit_20 test_edit_21
    test_edit_22 test_edit_23 test_edit_24 test_edit_25 test_edit_26 test_edit_27 test_edit_28 test_edit_29
    test_grep_30 test_grep_31
    test_find_32
    test_ls_33
}
