//! Who is asked for what in a session of several containers, and what is remembered of it.

use cove_api::{ErrorCode, ExecType, HistoryQuery, JavaScriptExecRequest, WriteFile};
use cove_config::{Capability, ContainerConfig, EnvValue, ProfileConfig, RuntimeType};

use super::small;
use crate::support::{Harbour, until};

/// Two containers on one workspace. Both can run commands; the second is the one that is asked to.
pub(super) fn pair(id: &str) -> ProfileConfig {
    let one = |name: &str, capabilities: &[Capability], primary_for: &[Capability]| ContainerConfig {
        name: name.to_owned(),
        runtime_type: Some(RuntimeType::Ship),
        capabilities: Some(capabilities.to_vec()),
        primary_for: primary_for.to_vec(),
        env: [("WHO".to_owned(), EnvValue(name.to_owned()))].into(),
        ..ContainerConfig::default()
    };
    let files = one("files", &[Capability::Filesystem, Capability::Shell], &[]);
    let code = one("code", &[Capability::Shell, Capability::Python], &[Capability::Shell]);
    ProfileConfig { containers: vec![files, code], ..small(id) }
}

/// The container that is first for something gets it, the only one that can gets it, and what none can is refused. All of it is in the
/// history, also when the session is over.
pub(super) async fn are_kept(harbour: &Harbour, profile: &str) {
    let (bay, owner) = (&harbour.bay, &harbour.owner);
    let id = harbour.create_of(profile).await.id;
    bay.write_file(owner, &id, WriteFile { path: "a.txt".to_owned(), content: "shared\n".to_owned() }).await.unwrap();
    assert_eq!(harbour.out(&id, "echo $WHO; cat a.txt").await, "code\nshared");
    assert!(harbour.python(&id, "import os; os.environ['WHO']").await.output.contains("code"));
    let javascript: JavaScriptExecRequest = serde_json::from_value(serde_json::json!({ "code": "1" })).unwrap();
    let refused = bay.exec_javascript(owner, &id, javascript).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::CapabilityNotSupported, "{refused}");
    bay.stop_sandbox(owner, &id).await.unwrap();
    assert!(!harbour.shell(&id, "exit 3").await.unwrap().success);
    until("all of it is in the history", || async {
        bay.history(owner, &id, HistoryQuery::default()).await.unwrap().total == 3
    })
    .await;
    let all = bay.history(owner, &id, HistoryQuery::default()).await.unwrap().entries;
    let kinds: Vec<_> = all.iter().rev().map(|entry| (entry.exec_type, entry.success)).collect();
    assert_eq!(kinds, [(ExecType::Shell, true), (ExecType::Python, true), (ExecType::Shell, false)]);
    assert!(all[0].session_id != all[2].session_id && all[1].session_id == all[2].session_id, "{all:?}");
    let failed = HistoryQuery { success_only: Some(true), exec_type: Some(ExecType::Shell), ..HistoryQuery::default() };
    assert_eq!(bay.history(owner, &id, failed).await.unwrap().total, 1);
    bay.delete_sandbox(owner, &id).await.unwrap();
    assert_eq!(bay.history(owner, &id, HistoryQuery::default()).await.unwrap_err().code, ErrorCode::NotFound);
}
