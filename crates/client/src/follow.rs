//! A process or a folder that is followed: what happens to it, until it is over.

use std::marker::PhantomData;

use bytes::BytesMut;
use cove_api::ErrorBody;
use reqwest::Response;
use serde::de::DeserializeOwned;

use crate::events::{MAX_EVENT_BYTES, data_of_next};
use crate::{Client, ClientError};

/// What happens, as it happens. Dropping this ends it, and nothing else.
#[derive(Debug)]
pub struct Follow<T> {
    base: String,
    response: Response,
    buffer: BytesMut,
    frames: PhantomData<T>,
}

impl<T: DeserializeOwned> Follow<T> {
    pub(crate) fn new(client: &Client, response: Response) -> Self {
        Self { base: client.base().to_owned(), response, buffer: BytesMut::new(), frames: PhantomData }
    }

    /// The next frame; none: nothing more will come.
    pub async fn next(&mut self) -> Result<Option<T>, ClientError> {
        loop {
            while let Some(data) = data_of_next(&mut self.buffer) {
                if let Ok(frame) = serde_json::from_str(&data) {
                    return Ok(Some(frame));
                }
                if let Ok(body) = serde_json::from_str::<ErrorBody>(&data) {
                    let url = self.response.url().as_str();
                    return Err(ClientError::read(url, body.error.code.status(), data.as_bytes()));
                }
            }
            let chunk = self.response.chunk().await.map_err(|error| ClientError::transport(&self.base, &error))?;
            match chunk {
                Some(chunk) if self.buffer.len() + chunk.len() <= MAX_EVENT_BYTES => {
                    self.buffer.extend_from_slice(&chunk);
                }
                _ => return Ok(None),
            }
        }
    }
}
