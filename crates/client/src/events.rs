//! A sandbox's events as they happen. Whoever loses the connection goes on where it was lost.

use bytes::{Buf as _, BytesMut};
use cove_api::Event;
use reqwest::{Method, Response};

use crate::client::Retry;
use crate::{Client, ClientError};

/// The largest event that is read; more is not an event.
pub(crate) const MAX_EVENT_BYTES: usize = 16 << 20;

/// A stream of events.
#[derive(Debug)]
pub struct Events {
    client: Client,
    path: String,
    last: Option<u64>,
    open: Option<Response>,
    buffer: BytesMut,
}

impl Client {
    /// Events of a sandbox after number `after` (`None`: from now on).
    pub async fn events(&self, id: &str, after: Option<u64>) -> Result<Events, ClientError> {
        let path = format!("/v1/sandboxes/{id}/events");
        let mut events = Events { client: self.clone(), path, last: after, open: None, buffer: BytesMut::new() };
        events.connect().await?;
        Ok(events)
    }
}

impl Events {
    /// The next event; `None` when the sandbox or Bay is gone.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = self.take() {
                self.last = Some(event.seq);
                return Ok(Some(event));
            }
            let Some(open) = &mut self.open else { return Ok(None) };
            match open.chunk().await {
                Ok(Some(chunk)) if self.buffer.len() + chunk.len() <= MAX_EVENT_BYTES => {
                    self.buffer.extend_from_slice(&chunk);
                }
                // Bay ended the stream: there is nothing more to come.
                Ok(_) => {
                    self.open = None;
                    return Ok(None);
                }
                Err(_) => {
                    self.buffer.clear();
                    self.connect().await?;
                }
            }
        }
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let (client, path, last) = (&self.client, &self.path, self.last);
        let made = || {
            let request = client.request(Method::GET, path);
            match last {
                Some(last) => request.header("last-event-id", last),
                None => request,
            }
        };
        self.open = Some(client.send(Retry::Always, made).await?);
        Ok(())
    }

    /// A whole event from what was read.
    fn take(&mut self) -> Option<Event> {
        loop {
            // Comments have no data; an event that cannot be read is not one of ours.
            if let Ok(event) = serde_json::from_str(&data_of_next(&mut self.buffer)?) {
                return Some(event);
            }
        }
    }
}

/// The `data` lines of the next event, up to the empty line; empty for a comment.
pub(crate) fn data_of_next(buffer: &mut BytesMut) -> Option<String> {
    let end = buffer.windows(2).position(|pair| pair == b"\n\n")?;
    let block = buffer.split_to(end);
    buffer.advance(2);
    let text = String::from_utf8_lossy(&block);
    Some(text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start).collect())
}
