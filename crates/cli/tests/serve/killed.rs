//! SIGKILL at random moments under load: what was acknowledged is there, what was deleted is not, nothing is orphaned, and
//! a repeated request does its work once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cove_testkit::processes::{self, alive};
use cove_testkit::until;
use serde_json::{Value, json};

use crate::{Ground, KEY, Served};

const ROUNDS: u64 = 20;
const WORKERS: u64 = 4;

/// What the clients know.
#[derive(Default)]
struct Known {
    /// By idempotency key: the sandbox, once a create was acknowledged.
    made: BTreeMap<String, Option<String>>,
    /// Deletions that were asked for, and whether they were acknowledged.
    deleted: BTreeMap<String, bool>,
}

/// The same moments at each run of the test; the machine sees to the rest of the chance.
fn chance(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_lose_nothing_and_leave_nothing() {
    let ground = Ground::new("warm_pool:\n  enabled: false");
    let known = Arc::new(Mutex::new(Known::default()));
    let mut seed = 42;
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let served = ground.serve("data", &[]);
        check(&served, &known).await;
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| work(&served, known.clone(), format!("r{round}-w{worker}"))).collect();
        let workers: Vec<_> = workers.into_iter().map(tokio::spawn).collect();
        // Killed at any moment of its work: the pause is drawn, there is no event to wait for.
        tokio::time::sleep(Duration::from_millis(30 + chance(&mut seed) % 600)).await;
        let mut below = processes::below(served.child.id());
        served.signal("KILL");
        below.extend(processes::below(served.child.id()));
        let folder = ground.folder.path().to_str().unwrap().to_owned();
        drop(served);
        for worker in workers {
            worker.await.unwrap();
        }
        let nobody = || below.iter().all(|pid| !alive(*pid)) && mentioning(&folder).is_empty();
        until("no process is left", async || nobody()).await;
        acknowledged = known.lock().unwrap().made.values().flatten().count();
    }
    assert!(acknowledged > 10, "the load was no load: {acknowledged}");
    let served = ground.serve("data", &[]);
    check(&served, &known).await;
    // A folder without a record is an orphan only once it is old: until then it may belong to a sandbox in the making.
    let cargos = ground.folder.path().join("data/cargos");
    for cargo in std::fs::read_dir(&cargos).unwrap().flatten() {
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(7_200);
        std::fs::File::open(cargo.path()).unwrap().set_modified(long_ago).unwrap();
    }
    let (_, status) = served.ask("POST", "/v1/admin/gc/run", json!({})).await;
    assert_eq!(status["total_errors"], 0, "{status}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(ground.folder.path().to_str().unwrap()), "a mount is left");
    // Folders of cargos: one for each sandbox, and no other.
    let alive = living(&served).await;
    let cargos = std::fs::read_dir(cargos).unwrap().flatten();
    let cargos = cargos.filter(|entry| entry.file_name().to_string_lossy().starts_with("ws-")).count();
    assert_eq!(cargos, alive.len(), "folders and sandboxes");
    served.close();
}

/// Makes, uses and deletes sandboxes until the server is gone.
fn work(served: &Served, known: Arc<Mutex<Known>>, name: String) -> impl Future<Output = ()> + Send + use<> {
    let (url, http) = (served.url.clone(), served.http.clone());
    async move {
        for number in 0.. {
            let key = format!("{name}-{number}");
            known.lock().unwrap().made.insert(key.clone(), None);
            let create = http.post(format!("{url}/v1/sandboxes")).bearer_auth(KEY).header("idempotency-key", &key);
            let Ok(response) = create.json(&json!({})).send().await else { return };
            if !response.status().is_success() {
                return;
            }
            let Ok(body) = response.json::<Value>().await else { return };
            let id = body["id"].as_str().unwrap().to_owned();
            known.lock().unwrap().made.insert(key, Some(id.clone()));
            let base = format!("{url}/v1/sandboxes/{id}");
            let exec = http.post(format!("{base}/shell/exec")).bearer_auth(KEY);
            if exec.json(&json!({ "command": "echo $RANDOM > file; sleep 0.05" })).send().await.is_err() {
                return;
            }
            if number % 2 == 0 {
                known.lock().unwrap().deleted.insert(id.clone(), false);
                let Ok(response) = http.delete(&base).bearer_auth(KEY).send().await else { return };
                if response.status().is_success() {
                    known.lock().unwrap().deleted.insert(id, true);
                }
            }
        }
    }
}

/// Everything that a client was told holds; what it was not told can be asked again.
async fn check(served: &Served, known: &Mutex<Known>) {
    let open: Vec<String> = {
        let known = known.lock().unwrap();
        known.made.iter().filter(|(_, id)| id.is_none()).map(|(key, _)| key.clone()).collect()
    };
    for key in open {
        let request = served.request(KEY, "POST", "/v1/sandboxes").header("idempotency-key", &key).json(&json!({}));
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        let id = body["id"].as_str().unwrap_or_else(|| panic!("{key}: {body}")).to_owned();
        known.lock().unwrap().made.insert(key, Some(id));
    }
    let undone: Vec<String> = {
        let known = known.lock().unwrap();
        known.deleted.iter().filter(|(_, done)| !**done).map(|(id, _)| id.clone()).collect()
    };
    for id in undone {
        let status = served.request(KEY, "DELETE", &format!("/v1/sandboxes/{id}")).send().await.unwrap().status();
        assert_eq!(status, 204, "{id}");
        known.lock().unwrap().deleted.insert(id, true);
    }
    let expected: BTreeSet<String> = {
        let known = known.lock().unwrap();
        known.made.values().flatten().filter(|id| !known.deleted.contains_key(*id)).cloned().collect()
    };
    let alive = living(served).await;
    let lost: Vec<_> = expected.difference(&alive).collect();
    let extra: Vec<_> = alive.difference(&expected).collect();
    assert!(lost.is_empty() && extra.is_empty(), "lost: {lost:?}; done twice or not deleted: {extra:?}");
}

async fn living(served: &Served) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut query = "limit=200".to_owned();
    loop {
        let (status, page) = served.ask("GET", &format!("/v1/sandboxes?{query}"), Value::Null).await;
        assert_eq!(status, 200, "{page}");
        all.extend(page["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("limit=200&cursor={cursor}"),
            None => return all,
        }
    }
}

/// Processes whose command line names this folder.
fn mentioning(folder: &str) -> Vec<u32> {
    // Gull's order is not on its command line; its folder for temporary files is in its environment.
    let environment = |pid: &u32| std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mentions = |pid: &u32| {
        processes::command_line(*pid).contains(folder) || String::from_utf8_lossy(&environment(pid)).contains(folder)
    };
    let others = processes::all().into_iter().filter(|pid| *pid != std::process::id());
    others.filter(|pid| mentions(pid) && alive(*pid)).collect()
}
