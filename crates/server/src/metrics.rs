//! What Prometheus reads: requests, their time, their errors. Bay adds its own metrics through the same facade.

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::Method;
use cove_api::ErrorCode;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

const REQUESTS: &str = "cove_http_requests_total";
const SECONDS: &str = "cove_http_request_seconds";
const ERRORS: &str = "cove_http_errors_total";
const IN_FLIGHT: &str = "cove_http_requests_in_flight";
const CONNECTIONS: &str = "cove_http_connections";

/// From half a millisecond, about what a call costs, to five minutes, the longest time-out.
const BUCKETS: [f64; 14] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0, 300.0];

/// The one recorder of this process; `None` where another one was there first.
pub(crate) fn recorder() -> Option<&'static PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let handle = HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS);
        let recorder = builder.ok()?.build_recorder();
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).ok()?;
        metrics::describe_counter!(REQUESTS, "Requests, by method, route and status");
        metrics::describe_histogram!(SECONDS, "How long a request took, by route");
        metrics::describe_counter!(ERRORS, "Refusals, by code");
        metrics::describe_gauge!(IN_FLIGHT, "Requests that are being worked on");
        metrics::describe_gauge!(CONNECTIONS, "Connections whose socket is open");
        Some(handle)
    });
    handle.as_ref()
}

/// One request is over.
pub(crate) fn request(method: &Method, route: &str, status: u16, took: Duration) {
    let labels =
        [("method", method_name(method).to_owned()), ("route", route.to_owned()), ("status", status.to_string())];
    metrics::counter!(REQUESTS, &labels).increment(1);
    metrics::histogram!(SECONDS, "route" => route.to_owned()).record(took.as_secs_f64());
}

/// One refusal.
pub(crate) fn error(code: ErrorCode) {
    metrics::counter!(ERRORS, "code" => code.as_str()).increment(1);
}

/// How many connections there are.
#[expect(clippy::cast_precision_loss, reason = "there are a few thousand")]
pub(crate) fn connections(count: usize) {
    metrics::gauge!(CONNECTIONS).set(count as f64);
}

/// A method is whatever a client writes; as a label it must be one of few.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request until it is dropped, however it ends.
pub(crate) struct InFlight(());

impl InFlight {
    pub(crate) fn begin() -> Self {
        metrics::gauge!(IN_FLIGHT).increment(1.0);
        Self(())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        metrics::gauge!(IN_FLIGHT).decrement(1.0);
    }
}
