//! Repeated requests do their work once; quotas hold; warm sandboxes are given out once.

use std::time::Instant;

use cove_api::{CreateCargo, CreateSandbox, ErrorCode, ExtendTtl, SandboxQuery, SandboxStatus};
use cove_bay::IdempotencyKey;
use cove_config::ProfileConfig;

use crate::support::{harbour, harbour_with, until};

#[tokio::test]
async fn a_key_does_its_work_once() {
    let harbour = harbour().await;
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let key = IdempotencyKey::parse("make-1").unwrap();
    let wish = || CreateSandbox { ttl: Some(3600), ..CreateSandbox::default() };
    let all = futures_util::future::join_all((0..8).map(|_| bay.create_sandbox(owner, wish(), Some(&key)))).await;
    let first = all[0].as_ref().unwrap();
    assert!(all.iter().all(|made| made.as_ref().unwrap() == first));
    let listed = bay.list_sandboxes(owner, SandboxQuery::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let folders = std::fs::read_dir(harbour.dir.path().join("data/cargos")).unwrap().flatten();
    let folders = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with("ws-")).count();
    assert_eq!(folders, 1, "what was prepared in vain is removed");
    let other = bay.create_sandbox(owner, CreateSandbox::default(), Some(&key)).await.unwrap_err();
    assert_eq!(other.code, ErrorCode::Conflict);
    let key = IdempotencyKey::parse("extend-1").unwrap();
    let once = bay.extend_ttl(owner, &first.id, ExtendTtl { extend_by: 60 }, Some(&key)).await.unwrap();
    let twice = bay.extend_ttl(owner, &first.id, ExtendTtl { extend_by: 60 }, Some(&key)).await.unwrap();
    assert_eq!((once.expires_at, once.expires_at), (twice.expires_at, first.expires_at.map(|end| end.plus_secs(60))));
    let key = IdempotencyKey::parse("cargo-1").unwrap();
    let one = bay.create_cargo(owner, CreateCargo::default(), Some(&key)).await.unwrap();
    assert_eq!(bay.create_cargo(owner, CreateCargo::default(), Some(&key)).await.unwrap(), one);
    harbour.close().await;
}

#[tokio::test]
async fn quotas_hold() {
    let harbour = harbour_with(|config| {
        config.limits.max_sandboxes = Some(2);
        config.limits.max_sessions = Some(1);
    })
    .await;
    let (first, second) = (harbour.create().await.id, harbour.create().await.id);
    let third = harbour.bay.create_sandbox(&harbour.owner, CreateSandbox::default(), None).await.unwrap_err();
    assert_eq!(third.code, ErrorCode::QuotaExceeded);
    harbour.out(&first, "true").await;
    assert_eq!(harbour.shell(&second, "true").await.unwrap_err().code, ErrorCode::QuotaExceeded);
    harbour.bay.stop_sandbox(&harbour.owner, &first).await.unwrap();
    harbour.out(&second, "true").await;
    harbour.bay.delete_sandbox(&harbour.owner, &first).await.unwrap();
    harbour.create().await;
    for (ttl, extend_by) in [(Some(-1), 0), (None, -5)] {
        let wish = CreateSandbox { ttl, ..CreateSandbox::default() };
        if ttl.is_some() {
            let refused = harbour.bay.create_sandbox(&harbour.owner, wish, None).await.unwrap_err();
            assert_eq!(refused.code, ErrorCode::ValidationError);
        }
        let refused = harbour.bay.extend_ttl(&harbour.owner, &second, ExtendTtl { extend_by }, None).await;
        assert_eq!(refused.unwrap_err().code, ErrorCode::ValidationError);
    }
    harbour.close().await;
}

#[tokio::test]
async fn a_warm_sandbox_is_ready_and_given_out_once() {
    let harbour = harbour_with(|config| {
        config.profiles =
            vec![ProfileConfig { id: "python-default".to_owned(), warm_pool_size: 2, ..ProfileConfig::default() }];
    })
    .await;
    let warm = || async { harbour.bay.warm_ready("python-default").await.unwrap() == 2 };
    until("the pool is full", warm).await;
    let listed = harbour.bay.list_sandboxes(&harbour.owner, SandboxQuery::default()).await.unwrap();
    assert!(listed.items.is_empty(), "warm ones are nobody's");
    let begin = Instant::now();
    let claims = futures_util::future::join_all((0..2).map(|_| harbour.create())).await;
    assert_ne!(claims[0].id, claims[1].id);
    for claimed in &claims {
        assert_eq!(claimed.status, SandboxStatus::Ready, "{claimed:?}");
        assert!(claimed.idle_expires_at.is_some() && claimed.containers.is_some());
        assert_eq!(harbour.out(&claimed.id, "echo warm").await, "warm");
    }
    println!("two warm sandboxes with a command each: {:?}", begin.elapsed());
    let next = harbour.create().await;
    assert_eq!(harbour.out(&next.id, "echo cold or warm").await, "cold or warm");
    harbour.close().await;
}

pub(crate) fn named(task: &str) -> cove_api::GcRequest {
    cove_api::GcRequest { tasks: Some(vec![task.to_owned()]) }
}
