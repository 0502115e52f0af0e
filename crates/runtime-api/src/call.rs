//! A request: where it is sent, and what comes back.

use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A request with one endpoint and one form of answer. Both ends take the path from here.
pub trait Call: Serialize + Sync {
    /// What the runtime answers.
    type Answer: DeserializeOwned;
    /// The endpoint.
    const PATH: &'static str;
    /// `GET` has no body.
    const METHOD: Method = Method::POST;
}
