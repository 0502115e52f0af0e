//! The handle of a container that a task of ours owns.

use std::sync::Arc;

use cove_runtime_api::Endpoint;
use tokio::sync::watch;

use super::{Container, DriverFuture};

/// A container that a task of ours owns: it ends when it is told to, or when the last handle goes.
#[derive(Debug)]
pub(crate) struct Owned {
    pub(crate) id: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) pid: Option<u32>,
    pub(crate) stop: Arc<watch::Sender<bool>>,
    pub(crate) ended: watch::Receiver<bool>,
}

impl Container for Owned {
    fn id(&self) -> &str {
        &self.id
    }

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn is_alive(&self) -> bool {
        !*self.ended.borrow() && self.ended.has_changed().is_ok()
    }

    fn ended(&self) -> DriverFuture<'static, ()> {
        let mut ended = self.ended.clone();
        Box::pin(async move {
            let _ = ended.wait_for(|ended| *ended).await;
        })
    }

    fn stop(&self) -> DriverFuture<'_, ()> {
        self.stop.send_replace(true);
        self.ended()
    }
}

/// Waits until a container's end is wished, or its last handle is gone.
pub(crate) async fn wished(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}
