//! Processes that run on by themselves, and folders that are watched.

use std::time::Duration;

use cove_api::{
    CreateProcess, ProcessFrame, ProcessInfo, ProcessInput, ProcessList, ProcessQuery, ProcessSignal, TerminalSize,
    WatchFrame, WatchQuery,
};
use reqwest::Method;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError, Follow};

impl Client {
    /// Starts a process and leaves it running.
    pub async fn start_process(&self, id: &str, wish: &CreateProcess) -> Result<ProcessInfo, ClientError> {
        self.post(&format!("/v1/sandboxes/{id}/processes"), wish, Duration::ZERO, Retry::NotBegun).await
    }

    /// The processes that were started and are remembered.
    pub async fn processes(&self, id: &str) -> Result<ProcessList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/processes"), &NOTHING).await
    }

    /// A process with what it has written.
    pub async fn process(&self, id: &str, process_id: &str) -> Result<ProcessInfo, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/processes/{process_id}"), &NOTHING).await
    }

    /// Follows a process to its end: after so many bytes of its output, or from now on.
    pub async fn follow_process(
        &self,
        id: &str,
        process_id: &str,
        from: Option<u64>,
    ) -> Result<Follow<ProcessFrame>, ClientError> {
        let path = format!("/v1/sandboxes/{id}/processes/{process_id}/follow");
        let query = ProcessQuery { from };
        let response = self.send(Retry::Always, || self.request(Method::GET, &path).query(&query)).await?;
        Ok(Follow::new(self, response))
    }

    /// Writes to a process's standard input or terminal.
    pub async fn write_process(
        &self,
        id: &str,
        process_id: &str,
        input: &ProcessInput,
    ) -> Result<ProcessInfo, ClientError> {
        let path = format!("/v1/sandboxes/{id}/processes/{process_id}/input");
        self.post(&path, input, Duration::ZERO, Retry::NotBegun).await
    }

    /// Sends a signal to a process; 9 ends it with everything that it has started.
    pub async fn signal_process(&self, id: &str, process_id: &str, signal: i32) -> Result<ProcessInfo, ClientError> {
        let path = format!("/v1/sandboxes/{id}/processes/{process_id}/signal");
        self.post(&path, &ProcessSignal { signal }, Duration::ZERO, Retry::NotBegun).await
    }

    /// Gives a process's terminal another size.
    pub async fn resize_process(
        &self,
        id: &str,
        process_id: &str,
        size: TerminalSize,
    ) -> Result<ProcessInfo, ClientError> {
        let path = format!("/v1/sandboxes/{id}/processes/{process_id}/resize");
        self.post(&path, &size, Duration::ZERO, Retry::Always).await
    }

    /// Watches a folder: the first frame says that nothing is missed from then on.
    pub async fn watch_folder(&self, id: &str, query: &WatchQuery) -> Result<Follow<WatchFrame>, ClientError> {
        let path = format!("/v1/sandboxes/{id}/filesystem/watch");
        let response = self.send(Retry::Always, || self.request(Method::GET, &path).query(query)).await?;
        Ok(Follow::new(self, response))
    }
}
