//! The thread that the browser belongs to.
//!
//! A child that dies with its parent dies with the *thread* that made it, so the thread must live as long as the
//! browser. It also carries everything that goes on beside runs (reading, refilling, watching, ending tabs), so that an
//! engine does not depend on which runtime happens to be polling it.

use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A thread with a runtime of its own. Dropping it runs the last work and waits for the thread.
#[derive(Debug)]
pub struct OwnerThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnerThread {
    /// Starts the thread. `last` is what it does when it is told to stop; it must come to an end by itself.
    pub fn start<F, R>(last: F) -> std::io::Result<Self>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = ()>,
    {
        let (made, making) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = Builder::new().name("cove-chrome".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => {
                    let _ = made.send(Ok(runtime.handle().clone()));
                    runtime.block_on(async move {
                        let _ = stopped.await;
                        last().await;
                    });
                    runtime.shutdown_background();
                }
                Err(error) => {
                    let _ = made.send(Err(error));
                }
            }
        })?;
        let handle = making.recv().map_err(|_| std::io::Error::other("the browser's thread ended at once"))??;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// To put work on the thread.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for OwnerThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
