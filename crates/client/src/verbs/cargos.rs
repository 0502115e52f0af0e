//! Cargos.

use cove_api::{CargoInfo, CargoList, CargoQuery, CreateCargo};
use reqwest::Method;

use super::NOTHING;
use crate::client::Retry;
use crate::{Client, ClientError};

impl Client {
    /// A new cargo; tried again safely where the answer is lost.
    pub async fn create_cargo(&self, wish: &CreateCargo) -> Result<CargoInfo, ClientError> {
        self.post_once("/v1/cargos", wish).await
    }

    /// A page of cargos.
    pub async fn list_cargos(&self, query: &CargoQuery) -> Result<CargoList, ClientError> {
        self.get("/v1/cargos", query).await
    }

    /// One cargo.
    pub async fn cargo(&self, id: &str) -> Result<CargoInfo, ClientError> {
        self.get(&format!("/v1/cargos/{id}"), &NOTHING).await
    }

    /// Deletes it.
    pub async fn delete_cargo(&self, id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/cargos/{id}");
        self.send(Retry::NotBegun, || self.request(Method::DELETE, &path)).await.map(drop)
    }
}
