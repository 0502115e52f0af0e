//! A database that is gone, empty or damaged while the workspaces are still there.

use std::path::Path;
use std::process::Stdio;

use crate::Ground;

fn refused(ground: &Ground, more: &[&str]) -> String {
    let mut command = ground.command("data");
    command.args(["serve", "--port", "0", "--json", "--config"]).arg(&ground.config).args(more);
    let done = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(5), "{said}");
    said
}

fn remove_database(data: &Path) {
    for name in ["bay.db", "bay.db-wal", "bay.db-shm"] {
        let _ = std::fs::remove_file(data.join(name));
    }
}

#[tokio::test]
async fn a_lost_or_damaged_database_is_said_and_no_workspace_goes() {
    let ground = Ground::new("gc:\n  interval_seconds: 1\n");
    let data = ground.folder.path().join("data");
    let served = ground.serve("data", &[]);
    let id = served.create("python-default").await;
    served.shell(&id, "echo dear > dear.txt").await;
    served.close();
    let copy = std::fs::read(data.join("bay.db")).unwrap();

    // Damaged: which file, and what to do; nothing is changed.
    std::fs::write(data.join("bay.db"), b"no database".repeat(1_000)).unwrap();
    for _ in 0..2 {
        let said = refused(&ground, &[]);
        assert!(said.contains("bay.db is corrupt") && said.contains("--start-empty"), "{said}");
        assert!(!said.contains("timed out"), "{said}");
    }
    // Gone, and gone again: a start that is refused leaves no empty database that the next one would take for good.
    remove_database(&data);
    for _ in 0..2 {
        let said = refused(&ground, &[]);
        assert!(said.contains("bay.db") && said.contains("1 workspaces") && said.contains("--start-empty"), "{said}");
    }
    // Empty is as good as gone.
    std::fs::write(data.join("bay.db"), b"").unwrap();
    assert!(refused(&ground, &[]).contains("--start-empty"));

    // A copy that is put back is found whole.
    remove_database(&data);
    std::fs::write(data.join("bay.db"), &copy).unwrap();
    let served = ground.serve("data", &[]);
    assert_eq!(served.shell(&id, "cat dear.txt").await, "dear");
    served.close();

    // Begun anew, the workspace lies aside, where the collector does not look.
    remove_database(&data);
    let served = ground.serve("data", &["--start-empty"]);
    let (status, list) = served.ask("GET", "/v1/sandboxes", serde_json::Value::Null).await;
    assert_eq!((status, list["items"].as_array().unwrap().len()), (200, 0), "{list}");
    let (status, report) = served.ask("POST", "/v1/admin/gc/run", serde_json::json!({})).await;
    assert_eq!(status, 200, "{report}");
    served.close();
    let aside = std::fs::read_dir(data.join("cargos")).unwrap().flatten();
    let aside = aside.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(".lost-")).unwrap();
    let cargo = std::fs::read_dir(aside).unwrap().flatten().next().unwrap().path();
    assert_eq!(std::fs::read_to_string(cargo.join("dear.txt")).unwrap(), "dear\n");
    // From here on it is a usual start, with the flag or without.
    ground.serve("data", &["--start-empty"]).close();
    ground.serve("data", &[]).close();
}
