//! Memory, as callers of Bay hear of it: why something was ended, and whether the kernel enforces the limit.

use cove_api::{CreateSandbox, ErrorCode, StopCause};
use cove_config::ProfileConfig;

use crate::support::{harbour_with, shell};

const WATCHED: &str = "memory: watched, not enforced";

fn profile(require_enforced_limits: bool) -> ProfileConfig {
    ProfileConfig { id: "strict".to_owned(), require_enforced_limits, ..ProfileConfig::default() }
}

/// Without control groups a sandbox says that its memory is only watched, and a profile can refuse that.
#[tokio::test]
async fn a_limit_that_is_not_enforced_is_said_or_refused() {
    for require in [false, true] {
        let harbour = harbour_with(|config| {
            config.driver.local.control_groups = false;
            config.profiles = vec![profile(require)];
        })
        .await;
        let wish = CreateSandbox { profile: "strict".to_owned(), ..CreateSandbox::default() };
        let made = harbour.bay.create_sandbox(&harbour.owner, wish, None).await;
        match made {
            Ok(made) => {
                assert!(!require);
                assert_eq!(made.warnings, [WATCHED]);
                assert_eq!(harbour.info(&made.id).await.warnings, [WATCHED]);
            }
            Err(error) => {
                assert!(require, "{error}");
                assert_eq!(
                    (error.code, &error.details["reason"]),
                    (ErrorCode::Conflict, &"limits_not_enforced".into())
                );
                assert!(error.message.contains(WATCHED) && error.message.contains("Delegate=yes"), "{error}");
            }
        }
    }
    if cove_cgroup::counts_memory() {
        let harbour = harbour_with(|config| config.profiles = vec![profile(true)]).await;
        let made = harbour.create_of("strict").await;
        assert!(made.warnings.is_empty(), "{made:?}");
        assert_eq!(harbour.out(&made.id, "echo runs").await, "runs");
    } else {
        println!("NOT TRIED with control groups: none that counts memory can be made here");
    }
}

/// Why a command was ended is a field with figures, whoever counts; the sandbox goes on.
#[tokio::test]
async fn the_memory_limit_is_named_as_the_cause() {
    for control_groups in [true, false] {
        let harbour = harbour_with(|config| {
            config.driver.local.control_groups = control_groups;
            let resources = cove_config::ResourceConfig { cpus: 1.0, memory: "192m".parse().unwrap() };
            config.profiles = vec![ProfileConfig { resources: Some(resources), ..profile(false) }];
        })
        .await;
        let id = harbour.create_of("strict").await.id;
        harbour.out(&id, "echo kept > /tmp/kept").await;
        let eat = "head -c 40M /dev/zero > /dev/shm/f; exec python3 -c 'import time; b = b\"x\" * (170 << 20); time.sleep(20)'";
        let answer = harbour.bay.exec_shell(&harbour.owner, &id, shell(eat)).await.unwrap();
        let stopped = answer.stopped.clone().unwrap_or_else(|| panic!("{answer:?}"));
        assert_eq!((stopped.cause, stopped.limit_bytes), (StopCause::MemoryLimit, 192 << 20));
        assert!(stopped.used_bytes > 160 << 20, "{answer:?}");
        assert!(answer.error.unwrap().contains("memory limit"));
        assert_eq!(harbour.out(&id, "cat /tmp/kept").await, "kept");
        let answer = harbour.bay.exec_shell(&harbour.owner, &id, shell("exit 3")).await.unwrap();
        assert_eq!((answer.exit_code, answer.stopped), (Some(3), None));
    }
}
