//! Logs: for people on a terminal, as JSON elsewhere. Never a key, never code, never a file's content.
//!
//! With the feature `otlp` and `OTEL_EXPORTER_OTLP_ENDPOINT` each request's span also goes to an OpenTelemetry collector,
//! in batches, from a thread of its own: a collector that is slow or gone costs no request anything.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What is said unless `COVE_LOG` or `RUST_LOG` asks for more or less.
const USUAL: &str = "warn,cove_bay=info,cove_server=info";

/// Begins to log to what `writer` opens, for people or as JSON. Does nothing where a log was set up before.
///
/// Words of guests may stand in a line: whoever opens the writer sees to it that a terminal obeys none of them.
pub fn begin<W: std::io::Write + 'static>(quiet: bool, people: bool, writer: fn() -> W) {
    let wanted = ["COVE_LOG", "RUST_LOG"].iter().find_map(|name| std::env::var(name).ok());
    let usual = if quiet { "warn" } else { USUAL };
    let filter = || {
        let wanted = wanted.as_deref().and_then(|text| EnvFilter::try_new(text).ok());
        wanted.unwrap_or_else(|| EnvFilter::new(usual))
    };
    use tracing_subscriber::Layer as _;
    let text = tracing_subscriber::fmt::layer().with_writer(writer);
    let text = if people {
        text.with_target(false).with_filter(filter()).boxed()
    } else {
        text.json().flatten_event(true).with_current_span(true).with_span_list(false).with_filter(filter()).boxed()
    };
    let registry = tracing_subscriber::registry().with(text);
    #[cfg(feature = "otlp")]
    let registry = registry.with(spans::layer());
    let _ = registry.try_init();
}

/// What the environment names a collector with.
const COLLECTOR: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// The variable that names a collector for spans, if one does.
pub fn collector() -> Option<&'static str> {
    COLLECTOR.into_iter().find(|name| std::env::var(name).is_ok_and(|value| !value.is_empty()))
}

/// Whether this build can send spans to a collector.
pub const SENDS_SPANS: bool = cfg!(feature = "otlp");

/// Sends what is still to be sent.
pub fn end() {
    #[cfg(feature = "otlp")]
    spans::end();
}

#[cfg(feature = "otlp")]
mod spans {
    use std::sync::OnceLock;

    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing::Subscriber;
    use tracing_subscriber::registry::LookupSpan;
    use tracing_subscriber::{EnvFilter, Layer};

    static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

    /// Spans of our own alone: what sends them must not speak of itself.
    const OURS: &str = "off,cove_bay=info,cove_server=info";

    /// None unless the environment names a collector.
    pub(super) fn layer<S>() -> Option<impl Layer<S> + Send + Sync>
    where
        S: Subscriber + Send + Sync + for<'a> LookupSpan<'a>,
    {
        super::collector()?;
        // Fails only where a provider is there already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let made = elsewhere(|| opentelemetry_otlp::SpanExporter::builder().with_http().build())?;
        let exporter = match made {
            Ok(exporter) => exporter,
            Err(error) => {
                // The log is not there yet.
                #[expect(clippy::print_stderr, reason = "there is no log yet that could say it")]
                {
                    eprintln!("warning: no spans are sent: {error}");
                }
                return None;
            }
        };
        let resource = Resource::builder().with_service_name("cove").build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
        let tracer = PROVIDER.get_or_init(|| provider).tracer("cove");
        Some(tracing_opentelemetry::layer().with_tracer(tracer).with_filter(EnvFilter::new(OURS)))
    }

    pub(super) fn end() {
        if let Some(provider) = PROVIDER.get() {
            // A collector that does not answer is nobody's reason to stay.
            elsewhere(|| drop(provider.shutdown_with_timeout(std::time::Duration::from_secs(3))));
        }
    }

    /// On a thread without a runtime: the exporter's client waits in its own way, which a runtime's thread may not.
    fn elsewhere<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
        std::thread::scope(|scope| scope.spawn(work).join().ok())
    }
}
