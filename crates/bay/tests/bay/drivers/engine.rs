//! Engines in trouble: none there, too old, gone in between. None of them is answered without a sentence that helps.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use cove_api::ErrorCode;
use cove_bay::Bay;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use super::{engine, small, with_containers};
use crate::support::{config, harbour_with, until};

async fn refused(dir: &Path, socket: &Path) -> String {
    let mut config = config(dir);
    with_containers(&mut config, &format!("unix://{}", socket.display()));
    Bay::open(config).await.unwrap_err().0
}

#[tokio::test]
async fn no_engine_or_an_old_one_stops_the_start_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("d.sock");
    let none = refused(dir.path(), &socket).await;
    assert!(none.contains("does not answer") && none.contains("start it"), "{none}");
    let listener = UnixListener::bind(&socket).unwrap();
    let old = tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let _ = client.read(&mut [0; 4096]).await;
            let body = r#"{"ApiVersion":"1.40","Version":"19.03.0"}"#;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
            let _ = client.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await;
        }
    });
    let told = refused(dir.path(), &socket).await;
    assert!(told.contains("1.40") && told.contains("20.10"), "{told}");
    old.abort();
}

/// Between Bay and the engine, to be cut.
fn relay(to: PathBuf, at: PathBuf) -> JoinHandle<()> {
    let listener = UnixListener::bind(at).unwrap();
    tokio::spawn(async move {
        // Dropped with the task: every connection ends.
        let mut all = JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let to = to.clone();
            all.spawn(async move {
                if let Ok(mut engine) = UnixStream::connect(to).await {
                    let _ = copy_bidirectional(&mut client, &mut engine).await;
                }
            });
        }
    })
}

#[tokio::test]
async fn an_engine_that_is_gone_for_a_while_takes_no_sandbox_with_it() {
    let Some(socket) = engine() else { return };
    let real = PathBuf::from(socket.trim_start_matches("unix://"));
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("d.sock");
    let line = relay(real.clone(), at.clone());
    let harbour = harbour_with(|config| {
        with_containers(config, &format!("unix://{}", at.display()));
        config.profiles = vec![small("p")];
    })
    .await;
    let one = harbour.create_of("p").await.id;
    harbour.python(&one, "x = 5").await;
    line.abort();
    assert!(line.await.is_err() && std::fs::metadata(&at).unwrap().file_type().is_socket());
    std::fs::remove_file(&at).unwrap();
    // What runs needs no engine.
    assert!(harbour.python(&one, "x + 1").await.output.contains('6'));
    let two = harbour.create_of("p").await.id;
    let told = harbour.shell(&two, "true").await.unwrap_err();
    assert_eq!((told.code, &told.details["driver_cause"]), (ErrorCode::ShipError, &"engine_unreachable".into()));
    assert!(told.message.contains("start it again"), "{told}");
    let line = relay(real, at);
    assert_eq!(harbour.out(&two, "echo back").await, "back");
    assert!(harbour.python(&one, "x + 1").await.output.contains('6'));
    // An end that nobody saw is noticed.
    super::docker::kill(&socket, &one).await;
    until("it works again", || async { harbour.shell(&one, "true").await.is_ok() }).await;
    for id in [one, two] {
        harbour.bay.delete_sandbox(&harbour.owner, &id).await.unwrap();
    }
    harbour.close().await;
    line.abort();
}
