//! A hard disk limit: the file system of a cargo is full, nobody is ended for it, and nothing of it is left afterwards.

use cove_api::{CreateSandbox, ErrorCode};
use cove_config::{DiskLimit, ProfileConfig};

use crate::support::{harbour_with, shell};

fn profiles() -> Vec<ProfileConfig> {
    let named = |id: &str, disk| ProfileConfig { id: id.to_owned(), disk, ..ProfileConfig::default() };
    vec![named("hard", DiskLimit::Hard), named("watched", DiskLimit::Watched)]
}

/// What is mounted below a folder, seen from here.
fn mounts_below(folder: &std::path::Path) -> usize {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.lines().filter(|line| line.contains(&*folder.canonicalize().unwrap().to_string_lossy())).count()
}

#[tokio::test]
async fn a_hard_limit_is_the_end_of_the_file_system() {
    let harbour = harbour_with(|config| {
        config.profiles = profiles();
        config.cargo.default_size_limit_mb = 64;
    })
    .await;
    let wish = CreateSandbox { profile: "hard".to_owned(), ..CreateSandbox::default() };
    let made = harbour.bay.create_sandbox(&harbour.owner, wish.clone(), None).await;
    if !rustix::process::geteuid().is_root() {
        let error = made.unwrap_err();
        assert_eq!((error.code, &error.details["reason"]), (ErrorCode::Conflict, &"limits_not_enforced".into()));
        assert!(error.message.contains("only root"), "{error}");
        return;
    }
    let id = made.unwrap().id;
    let cargos = harbour.dir.path().join("data/cargos");
    let cargo = harbour.info(&id).await.cargo_id;
    assert_eq!(harbour.bay.cargo(&harbour.owner, &cargo).await.unwrap().backend, "local+image");
    // Fits; does not fit, said by the kernel at the limit; the writer goes on, and what it deletes is room again.
    let out = harbour
        .out(&id, "head -c 60M /dev/zero > a && echo fits; head -c 20M /dev/zero > b; echo $?; du -sm . | cut -f1")
        .await;
    let words: Vec<_> = out.lines().collect();
    assert_eq!((words[0], words[1]), ("fits", "1"), "{out}");
    let used: u64 = words[2].parse().unwrap();
    assert!((62..=66).contains(&used), "{out}");
    let full = harbour.bay.exec_shell(&harbour.owner, &id, shell("head -c 20M /dev/zero > b")).await.unwrap();
    assert!(
        full.stopped.is_none() && full.error.as_deref().is_some_and(|said| said.contains("No space left")),
        "{full:?}"
    );
    assert_eq!(
        harbour.out(&id, "rm a b; head -c 60M /dev/zero > a && echo room; rm a; echo kept > kept").await,
        "room"
    );
    // Another session of the same cargo, and a cargo that has no such limit.
    harbour.bay.stop_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(harbour.out(&id, "cat kept").await, "kept");
    let soft = harbour.create_of("watched").await;
    let wrong = CreateSandbox { cargo_id: Some(harbour.info(&soft.id).await.cargo_id.to_string()), ..wish };
    let error = harbour.bay.create_sandbox(&harbour.owner, wrong, None).await.unwrap_err();
    assert_eq!(error.details["reason"], "cargo_without_hard_limit", "{error}");
    assert_eq!(mounts_below(&cargos), 1);
    harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    assert_eq!(mounts_below(&cargos), 0);
    let images = std::fs::read_dir(&cargos).unwrap().flatten();
    assert_eq!(images.filter(|entry| entry.file_name().to_string_lossy().starts_with(".image")).count(), 0);
    // What is mounted when Bay ends is unmounted then, and mounted again by the next.
    let kept = harbour.create_of("hard").await.id;
    harbour.out(&kept, "echo again > kept").await;
    assert_eq!(mounts_below(&cargos), 1);
    harbour.bay.close(std::time::Duration::from_secs(5)).await;
    assert_eq!(mounts_below(&cargos), 0);
}
