//! A driver that starts nothing: its containers are names, and one socket answers for all of them as a runtime would.
//!
//! It is for measuring Bay alone. What a real sandbox costs is measured by `bench/drivers`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cove_config::DiskLimit;
use cove_core::CargoId;
use cove_drivers::{CargoLimit, CargoStore, Container, ContainerOrder, Driver, DriverError, DriverFuture, Orphans};
use cove_files::Weight;
use cove_runtime_api::{Endpoint, ShellAnswer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

const META: &str = r#"{"runtime": {"name": "ship", "version": "0", "api_version": "v1"}, "workspace": {"mount_path": "/workspace"},
    "limits": null, "warnings": [], "capabilities": {"shell": {}}}"#;

#[derive(Debug)]
pub(super) struct FakeDriver {
    socket: PathBuf,
}

impl FakeDriver {
    /// Begins to answer, in a folder of the caller's.
    pub(super) fn start(folder: &Path) -> Self {
        let socket = folder.join("fake.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(answer(client));
            }
        });
        Self { socket }
    }
}

/// One question a connection: a hundred thousand sandboxes would keep as many open.
async fn answer(mut client: UnixStream) -> Option<()> {
    let mut question = Vec::with_capacity(1024);
    let ends = loop {
        if client.read_buf(&mut question).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = question.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&question[..ends]).to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok()).unwrap_or(0);
    while question.len() < ends + length {
        client.read_buf(&mut question).await.ok()?;
    }
    let body = match head.split(' ').nth(1)? {
        "/meta" => META.to_owned(),
        "/health" => r#"{"status": "healthy", "version": "0"}"#.to_owned(),
        _ => serde_json::to_string(&ShellAnswer { success: true, ..ShellAnswer::default() }).ok()?,
    };
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length:";
    client.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).await.ok()
}

impl Driver for FakeDriver {
    fn cargos(&self) -> &dyn CargoStore {
        self
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn start(&self, order: ContainerOrder) -> DriverFuture<'_, Result<Arc<dyn Container>, DriverError>> {
        let endpoint = Endpoint::Unix(self.socket.clone());
        Box::pin(async move {
            let started: Arc<dyn Container> =
                Arc::new(FakeContainer { id: order.container_id, endpoint, ended: watch::Sender::new(false) });
            Ok(started)
        })
    }

    fn end_orphans(&self) -> DriverFuture<'_, Result<Orphans, DriverError>> {
        Box::pin(async { Ok(Orphans::default()) })
    }

    fn close(&self) {}
}

impl CargoStore for FakeDriver {
    fn backend(&self, _disk: DiskLimit) -> &'static str {
        "none"
    }

    fn no_hard_limit(&self) -> Option<&'static str> {
        None
    }

    fn prepare(&self, _id: &CargoId, _limit: CargoLimit) -> DriverFuture<'_, Result<(), DriverError>> {
        Box::pin(async { Ok(()) })
    }

    fn delete(&self, _id: &CargoId) -> DriverFuture<'_, Result<(), DriverError>> {
        Box::pin(async { Ok(()) })
    }

    fn weight(&self, _id: &CargoId, _limit_bytes: u64) -> DriverFuture<'_, Result<Weight, DriverError>> {
        Box::pin(async { Ok(Weight::default()) })
    }

    fn list(&self) -> DriverFuture<'_, Result<Vec<(CargoId, u64)>, DriverError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn set_aside(&self, _stamp: i64) -> DriverFuture<'_, Result<String, DriverError>> {
        Box::pin(async { Ok(String::new()) })
    }

    fn place(&self) -> String {
        String::new()
    }

    fn is_known(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct FakeContainer {
    id: String,
    endpoint: Endpoint,
    ended: watch::Sender<bool>,
}

impl Container for FakeContainer {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn pid(&self) -> Option<u32> {
        None
    }

    fn is_alive(&self) -> bool {
        !*self.ended.borrow()
    }

    fn ended(&self) -> DriverFuture<'static, ()> {
        let mut ended = self.ended.subscribe();
        Box::pin(async move {
            let _ = ended.wait_for(|ended| *ended).await;
        })
    }

    fn stop(&self) -> DriverFuture<'_, ()> {
        self.ended.send_replace(true);
        Box::pin(async {})
    }
}
