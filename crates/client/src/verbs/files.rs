//! Files and artifacts, whole or as streams.

use std::pin::Pin;

use bytes::Bytes;
use cove_api::{ArtifactList, DirectoryList, FileContent, UploadResult, WriteFile};
use futures_util::{Stream, StreamExt as _};
use reqwest::Method;
use reqwest::multipart::{Form, Part};

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

/// Bytes as they come.
pub type Bits = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

impl Client {
    /// Reads a text file.
    pub async fn read_file(&self, id: &str, path: &str) -> Result<String, ClientError> {
        let url = format!("/v1/sandboxes/{id}/filesystem/files");
        self.get::<_, FileContent>(&url, &[("path", path)]).await.map(|file| file.content)
    }

    /// Writes a text file.
    pub async fn write_file(&self, id: &str, file: &WriteFile) -> Result<(), ClientError> {
        let url = format!("/v1/sandboxes/{id}/filesystem/files");
        self.send(Retry::Always, || self.request(Method::PUT, &url).json(file)).await.map(drop)
    }

    /// Deletes a file or a folder.
    pub async fn delete_file(&self, id: &str, path: &str) -> Result<(), ClientError> {
        let url = format!("/v1/sandboxes/{id}/filesystem/files");
        self.send(Retry::NotBegun, || self.request(Method::DELETE, &url).query(&[("path", path)])).await.map(drop)
    }

    /// Lists a folder.
    pub async fn list_directory(&self, id: &str, path: &str) -> Result<DirectoryList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/filesystem/directories"), &[("path", path)]).await
    }

    /// Sends a file in, as it comes.
    pub async fn upload(&self, id: &str, path: &str, bytes: Bits) -> Result<UploadResult, ClientError> {
        let url = format!("/v1/sandboxes/{id}/filesystem/upload");
        // The path first: then Bay need not keep the file until it knows where it goes.
        let part = Part::stream(reqwest::Body::wrap_stream(bytes)).file_name("upload");
        let form = Form::new().text("path", path.to_owned()).part("file", part);
        let sent = self.request(Method::POST, &url).multipart(form).send().await;
        let response = sent.map_err(|error| ClientError::transport(self.base(), &error))?;
        let (status, url) = (response.status(), response.url().to_string());
        let body = response.bytes().await.map_err(|error| ClientError::transport(self.base(), &error))?;
        if !status.is_success() {
            return Err(ClientError::read(&url, status.as_u16(), &body));
        }
        serde_json::from_slice(&body).map_err(|_| ClientError::Odd { url, status: status.as_u16() })
    }

    /// Fetches a file, as it comes.
    pub async fn download(&self, id: &str, path: &str) -> Result<Bits, ClientError> {
        let url = format!("/v1/sandboxes/{id}/filesystem/download");
        let response = self.send(Retry::Always, || self.request(Method::GET, &url).query(&[("path", path)])).await?;
        Ok(Box::pin(response.bytes_stream().map(|chunk| chunk.map_err(std::io::Error::other))))
    }

    /// All artifacts of a sandbox.
    pub async fn list_artifacts(&self, id: &str) -> Result<ArtifactList, ClientError> {
        self.get(&format!("/v1/sandboxes/{id}/artifacts"), &NOTHING).await
    }

    /// Fetches an artifact, as it comes.
    pub async fn artifact(&self, id: &str, name: &str) -> Result<Bits, ClientError> {
        let url = format!("/v1/sandboxes/{id}/artifacts/{name}");
        let response = self.send(Retry::Always, || self.request(Method::GET, &url)).await?;
        Ok(Box::pin(response.bytes_stream().map(|chunk| chunk.map_err(std::io::Error::other))))
    }
}
