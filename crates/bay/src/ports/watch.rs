//! Who follows a sandbox's events hears which ports are open.
//!
//! The runtime is asked with the list that is known, and answers when there is another. That goes on for as long as somebody
//! follows the sandbox and it runs, and costs nothing otherwise.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cove_api::EventKind;
use cove_core::{Deadline, SandboxId};
use cove_runtime_api::PortsRequest;
use serde_json::{Map, json};

use crate::Bay;
use crate::session::LiveSession;

/// How long one question waits. Whoever stops following is noticed when it is over.
const WAIT: Duration = Duration::from_secs(5);

/// Before a runtime that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// For the way there and back.
const MARGIN: Duration = Duration::from_secs(10);

impl Bay {
    /// Tells of a sandbox's ports from now on, unless somebody does already.
    pub(crate) fn watch_ports(&self, id: &SandboxId) {
        let Some((session, ship)) = self.ship_of(id) else { return };
        if !self.inner.events.are_read(id) || session.ports_watched.swap(true, Ordering::SeqCst) {
            return;
        }
        let watching = Watching(Arc::clone(&session));
        // Bay must be able to end while this waits.
        let (inner, id) = (Arc::downgrade(&self.inner), id.clone());
        tokio::spawn(async move {
            let mut known = Vec::new();
            loop {
                let request = PortsRequest { known: Some(known.clone()), wait: WAIT.as_secs_f64() };
                let asked = tokio::select! {
                    asked = ship.client.call(&request, Deadline::after(WAIT).backstop(MARGIN)) => asked,
                    () = ship.handle.ended() => break,
                };
                let Some(inner) = inner.upgrade() else { break };
                let bay = Self { inner };
                match asked {
                    Ok(listed) if listed.items != known => {
                        known = listed.items;
                        bay.tell_ports(&id, json!(bay.port_infos(&id, &known)));
                    }
                    Ok(_) => {}
                    // Frozen, or at its end, of which it tells itself.
                    Err(_) => tokio::time::sleep(AGAIN).await,
                }
                if !bay.inner.events.are_read(&id) {
                    drop(watching);
                    // Somebody may have begun to follow just before.
                    return bay.watch_ports(&id);
                }
            }
            // The runtime is at its end, and with it all that listened. One that takes its place is watched anew.
            drop(watching);
            if let (Some(inner), false) = (inner.upgrade(), known.is_empty()) {
                Self { inner }.tell_ports(&id, json!([]));
            }
        });
    }

    fn tell_ports(&self, id: &SandboxId, ports: serde_json::Value) {
        let data: Map<String, serde_json::Value> = [("ports".to_owned(), ports)].into_iter().collect();
        self.emit(id, EventKind::Ports, &data);
    }
}

/// While it lives, a session's ports are told.
struct Watching(Arc<LiveSession>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.ports_watched.store(false, Ordering::SeqCst);
    }
}
