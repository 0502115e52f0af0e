//! A Bay that is gone between two steps of a start: nothing is left over, nothing is lost.

use std::path::{Path, PathBuf};

use cove_api::SandboxId;
use cove_bay::{Bay, Owner};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{docker, engine, small, with_containers};
use crate::support::{Harbour, config, harbour_with, shell, until, until_some};

/// A question to the engine, or to a cluster's API, at which the line stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// All of these words are in its first line.
    pub(super) words: &'static str,
    /// Whether the engine still gets the question; its answer comes no further.
    pub(super) asked: bool,
}

/// Between Bay and the engine; says when it stops at a step, and lets nothing more through then.
fn line_until(step: Step, to: PathBuf, at: &Path, stopped: mpsc::Sender<()>) -> JoinHandle<()> {
    let _ = std::fs::remove_file(at);
    let listener = UnixListener::bind(at).unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let engine = UnixStream::connect(&to).await.unwrap();
            tokio::spawn(pass(step, client, engine, stopped.clone()));
        }
    })
}

/// Passes on what comes, up to a step.
pub(super) async fn pass<S>(step: Step, client: S, engine: S, stopped: mpsc::Sender<()>)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (mut questions, mut back) = split(client);
    let (mut answers, mut ahead) = split(engine);
    let (halt, halted) = oneshot::channel::<()>();
    // Halted, it keeps the line open: a line that is cut is another bad day.
    tokio::spawn(async move {
        tokio::select! {
            _ = copy(&mut answers, &mut back) => {}
            Ok(()) = halted => std::future::pending().await,
        }
    });
    let mut halt = Some(halt);
    let mut chunk = vec![0; 1 << 16];
    while let Ok(read @ 1..) = questions.read(&mut chunk).await {
        let is_it = String::from_utf8_lossy(&chunk[..read])
            .lines()
            .next()
            .is_some_and(|line| step.words.split(' ').all(|word| line.contains(word)));
        if is_it && let Some(halt) = halt.take() {
            let _ = halt.send(());
            let _ = stopped.send(()).await;
            if !step.asked {
                return std::future::pending().await;
            }
        }
        if ahead.write_all(&chunk[..read]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_bay_that_is_gone_between_two_steps_leaves_no_half_of_a_container() {
    let Some(socket) = engine() else { return };
    let real = PathBuf::from(socket.trim_start_matches("unix://"));
    let harbour = harbour_with(|config| {
        with_containers(config, &socket);
        config.profiles = vec![small("p")];
    })
    .await;
    let id = harbour.create_of("p").await.id;
    harbour.out(&id, "echo kept > kept.txt").await;
    let Harbour { bay, dir, owner } = harbour;
    bay.close(std::time::Duration::from_secs(5)).await;
    drop(bay);
    let at = dir.path().join("d.sock");
    for step in [
        Step { words: "/containers/create", asked: false },
        Step { words: "/containers/create", asked: true },
        Step { words: "/start", asked: false },
        Step { words: "/start", asked: true },
    ] {
        let (stopped, mut reached) = mpsc::channel(8);
        let line = line_until(step, real.clone(), &at, stopped);
        let mut first = config(dir.path());
        with_containers(&mut first, &format!("unix://{}", at.display()));
        first.profiles = vec![small("p")];
        // Everything of this Bay is in here, and gone with it.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(start_one(first, id.clone()));
        reached.recv().await.unwrap();
        let half = if step.asked && step.words == "/containers/create" {
            until_some("the engine has made it", async || docker::of(&socket, &id).await.pop()).await
        } else {
            String::new()
        };
        runtime.shutdown_background();
        line.abort();
        let mut next = config(dir.path());
        with_containers(&mut next, &socket);
        next.profiles = vec![small("p")];
        let bay = until_some("the folder is free", async || Bay::open(next.clone()).await.ok()).await;
        until("the engine has no half of one", || async {
            bay.run_gc(crate::once::named("orphan_container")).await.unwrap();
            docker::of(&socket, &id).await.is_empty()
        })
        .await;
        let done = bay.exec_shell(&owner, &id, shell("cat kept.txt")).await.unwrap();
        assert_eq!(done.output, "kept\n", "{step:?}");
        let now = docker::of(&socket, &id).await;
        assert!(now.len() == 1 && now[0] != half, "{step:?}: {now:?}");
        bay.close(std::time::Duration::from_secs(5)).await;
        assert_eq!(docker::of(&socket, &id).await, Vec::<String>::new(), "{step:?}");
    }
}

async fn start_one(config: cove_config::Config, id: SandboxId) {
    let bay = Bay::open(config).await.unwrap();
    let _ = bay.exec_shell(&Owner::new("default"), &id, shell("true")).await;
}
