//! What the state of a Pod means for the one who waits for it.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod};

use super::body::RUNTIME;
use crate::{DriverCause, DriverError};

/// How far a Pod has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Not there yet. What keeps it, where that is known: said when the time is over.
    Waits(Option<DriverError>),
    /// All its containers run.
    Runs(IpAddr),
    /// It will not run any more.
    Over(DriverError),
}

/// What is done about an image that is not there.
const IMAGE_STEP: &str = "build it with packaging/images/build and push it to a registry that the nodes reach, or name another in the \
                          profile's `image`";

/// Judges a Pod that is to start.
pub(super) fn of(pod: &Pod) -> Verdict {
    if pod.metadata.deletion_timestamp.is_some() {
        return Verdict::Over(DriverError::other("the Pod was deleted while it started"));
    }
    let Some(status) = &pod.status else { return Verdict::Waits(None) };
    let (main, first) =
        (statuses(status.container_statuses.as_ref()), statuses(status.init_container_statuses.as_ref()));
    for one in first.iter().chain(main) {
        if let Some(over) = over(one) {
            return Verdict::Over(over);
        }
    }
    if let Some("Failed" | "Succeeded") = status.phase.as_deref() {
        let why =
            [status.reason.as_deref(), status.message.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(": ");
        return Verdict::Over(DriverError::other(format!("the Pod ended before it was ready ({why})")));
    }
    let runs = |one: &ContainerStatus| one.state.as_ref().is_some_and(|state| state.running.is_some());
    let address = status.pod_ip.as_ref().and_then(|address| address.parse().ok());
    if let Some(address) = address.filter(|_| main.len() > 1 && main.iter().all(runs)) {
        return Verdict::Runs(address);
    }
    let unplaced = status.conditions.iter().flatten().rfind(|one| one.type_ == "PodScheduled" && one.status == "False");
    let waits = first.iter().chain(main).find_map(waits);
    Verdict::Waits(waits.or_else(|| {
        let why = unplaced?.message.clone().unwrap_or_default();
        Some(DriverError {
            cause: DriverCause::Unschedulable,
            message: format!(
                "no node of the cluster has room for the sandbox: add nodes, stop sandboxes, or give the profile less ({why})"
            ),
        })
    }))
}

/// Whether the runtime of a Pod that ran has ended, and how; `None`: it still runs, as far as the cluster knows.
pub(super) fn ended(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let runtime = statuses(status.container_statuses.as_ref()).iter().find(|one| one.name == RUNTIME);
    if let Some(ended) = runtime.and_then(|one| one.state.as_ref()?.terminated.as_ref()) {
        return Some(format!("{} ({})", ended.reason.as_deref().unwrap_or("ended"), ended.exit_code));
    }
    let is_over = matches!(status.phase.as_deref(), Some("Failed" | "Succeeded"));
    is_over.then(|| status.reason.clone().unwrap_or_else(|| "ended".to_owned()))
}

/// Whether a Pod that is being deleted has nothing left that runs or could begin to: its node says so of each container.
pub(super) fn is_only_a_record(pod: &Pod) -> bool {
    let Some(status) = pod.status.as_ref().filter(|_| pod.metadata.deletion_timestamp.is_some()) else { return false };
    let main = statuses(status.container_statuses.as_ref());
    let mut all = main.iter().chain(statuses(status.init_container_statuses.as_ref()));
    !main.is_empty() && all.all(|one| state(one).is_some_and(|state| state.terminated.is_some()))
}

fn statuses(all: Option<&Vec<ContainerStatus>>) -> &[ContainerStatus] {
    all.map(Vec::as_slice).unwrap_or_default()
}

fn state(one: &ContainerStatus) -> Option<&ContainerState> {
    one.state.as_ref()
}

/// Why a container never will run.
fn over(one: &ContainerStatus) -> Option<DriverError> {
    if let Some(ended) = state(one).and_then(|state| state.terminated.as_ref())
        && (ended.exit_code != 0 || one.name == RUNTIME)
    {
        let words = ended.message.as_deref().unwrap_or_default().trim();
        let words = words.trim_start_matches("ship:").trim_start_matches("error:").trim();
        let words = if words.is_empty() { ended.reason.as_deref().unwrap_or("no word") } else { words };
        return Some(DriverError::other(format!(
            "the Pod's container `{}` ended before it was ready: {words}",
            one.name
        )));
    }
    let waiting = state(one)?.waiting.as_ref()?;
    let why = waiting.message.clone().unwrap_or_default();
    match waiting.reason.as_deref()? {
        "ErrImageNeverPull" | "ImagePullBackOff" | "InvalidImageName" => Some(missing(one, &why)),
        reason @ ("CreateContainerConfigError" | "CreateContainerError" | "RunContainerError") => {
            Some(DriverError::other(format!("the Pod's container `{}` cannot be started: {reason}: {why}", one.name)))
        }
        _ => None,
    }
}

/// What keeps a container for now.
fn waits(one: &ContainerStatus) -> Option<DriverError> {
    let waiting = state(one)?.waiting.as_ref()?;
    let why = waiting.message.clone().unwrap_or_default();
    (waiting.reason.as_deref() == Some("ErrImagePull")).then(|| missing(one, &why))
}

fn missing(one: &ContainerStatus, why: &str) -> DriverError {
    DriverError {
        cause: DriverCause::ImageMissing,
        message: format!("the node has no image {:?} and cannot fetch it ({why}): {IMAGE_STEP}", one.image),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: &Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": "p"}, "status": status})).unwrap()
    }

    fn container(name: &str, state: &Value) -> Value {
        json!({"name": name, "image": "cove-ship:1", "imageID": "", "ready": false, "restartCount": 0, "state": state})
    }

    #[test]
    fn a_pod_waits_runs_or_is_over() {
        let running = json!({"running": {}});
        let both = |runtime: Value| json!([container("line", &running), container("runtime", &runtime)]);
        let waiting = |reason: &str| both(json!({"waiting": {"reason": reason, "message": "why"}}));
        let with =
            |containers: Value| pod(&json!({"phase": "Pending", "podIP": "10.1.2.3", "containerStatuses": containers}));
        assert_eq!(of(&with(both(running.clone()))), Verdict::Runs([10, 1, 2, 3].into()));
        assert_eq!(of(&with(waiting("ContainerCreating"))), Verdict::Waits(None));
        for reason in ["ErrImageNeverPull", "ImagePullBackOff", "InvalidImageName"] {
            let Verdict::Over(told) = of(&with(waiting(reason))) else { panic!("{reason}") };
            assert!(told.cause == DriverCause::ImageMissing && told.message.contains("cove-ship:1"), "{told}");
        }
        let Verdict::Waits(Some(told)) = of(&with(waiting("ErrImagePull"))) else { panic!() };
        assert_eq!(told.cause, DriverCause::ImageMissing);
        let ended = json!({"terminated": {"exitCode": 5, "reason": "Error", "message": "ship: no walls\n"}});
        let Verdict::Over(told) = of(&with(both(ended.clone()))) else { panic!() };
        assert!(told.message.ends_with("no walls"), "{told}");
        let condition =
            json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]);
        let Verdict::Waits(Some(told)) = of(&pod(&json!({"phase": "Pending", "conditions": condition}))) else {
            panic!()
        };
        assert!(told.cause == DriverCause::Unschedulable && told.message.contains("0/1 nodes"), "{told}");
        let evicted = pod(&json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}));
        let Verdict::Over(told) = of(&evicted) else { panic!() };
        assert!(told.message.contains("Evicted: low on memory"), "{told}");
        assert_eq!(super::ended(&evicted), Some("Evicted".to_owned()));
        assert_eq!(super::ended(&with(both(ended))), Some("Error (5)".to_owned()));
        assert_eq!(super::ended(&with(both(running.clone()))), None);
        let mut deleted = with(waiting("ContainerCreating"));
        deleted.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        assert!(matches!(of(&deleted), Verdict::Over(_)));
    }

    #[test]
    fn a_pod_is_only_a_record_when_every_container_of_it_has_ended() {
        let (running, waiting) = (json!({"running": {}}), json!({"waiting": {"reason": "PodInitializing"}}));
        let ended = json!({"terminated": {"exitCode": 0}});
        let deleted = |status: &Value| {
            let mut pod = pod(status);
            pod.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
            pod
        };
        let with = |line: &Value, runtime: &Value, prepare: &Value| {
            json!({
                "initContainerStatuses": [container("prepare", prepare)],
                "containerStatuses": [container("line", line), container("runtime", runtime)],
            })
        };
        let over = with(&ended, &ended, &ended);
        assert!(is_only_a_record(&deleted(&over)));
        assert!(!is_only_a_record(&pod(&over)), "nobody has asked it to end");
        for alive in [
            with(&ended, &running, &ended),
            with(&running, &ended, &ended),
            with(&waiting, &waiting, &running),
            with(&ended, &waiting, &ended),
            // Its node has not said anything of it yet.
            json!({}),
            json!({"phase": "Failed"}),
        ] {
            assert!(!is_only_a_record(&deleted(&alive)), "{alive}");
        }
    }
}
