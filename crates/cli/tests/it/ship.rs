//! `cove ship` as a sandbox's runtime: the very binary that people have, started behind the local walls.

use std::time::Duration;

use cove_cell::{CellOptions, LocalCell};
use cove_runtime_api::RuntimeClient;
use serde_json::json;

#[test]
fn the_binary_is_a_sandbox_of_its_own() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (cargo, sockets) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut options = CellOptions::new(env!("CARGO_BIN_EXE_cove"), cargo.path(), sockets.path());
        options.args = vec!["ship".to_owned()];
        let cell = LocalCell::start(options).await.unwrap();
        let ship = RuntimeClient::new(cell.socket());
        let command = json!({ "command": "id -un; pwd; ls /root 2>&1 | tail -1" });
        let (status, answer) =
            ship.json("POST".parse().unwrap(), "/shell/exec", Some(&command), Duration::from_secs(60)).await.unwrap();
        assert!(status.is_success(), "{answer}");
        let printed: Vec<&str> = answer["stdout"].as_str().unwrap().lines().collect();
        assert_eq!(&printed[..2], ["shipyard", "/workspace"], "{answer}");
        assert!(printed[2].contains("cannot access") || printed[2].contains("denied"), "{answer}");
        cell.kill().await.unwrap();
    });
}
