//! TLS for `fetch`: the certificates that the web's browsers trust, inside the binary, and none of this machine's own.
//!
//! No client certificate, no file and no variable of the environment is read: what a guest reaches does not depend on who
//! runs Cove.

use std::sync::{Arc, OnceLock};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Made at the first `https:` address; most sessions never need it.
#[derive(Default)]
pub(super) struct Client {
    connector: OnceLock<Result<TlsConnector, String>>,
    /// Certificates that are trusted besides.
    extra: Vec<CertificateDer<'static>>,
}

impl Client {
    #[cfg(test)]
    pub(super) fn trusting(certificate: CertificateDer<'static>) -> Self {
        Self { connector: OnceLock::new(), extra: vec![certificate] }
    }

    pub(super) async fn connect<S>(&self, host: &str, stream: S) -> Result<TlsStream<S>, String>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let connector = self.connector.get_or_init(|| connector(&self.extra)).as_ref().map_err(Clone::clone)?;
        let name =
            ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} is not a valid host name for TLS"))?;
        connector.connect(name, stream).await.map_err(|error| format!("no secure connection to {host}: {error}"))
    }
}

fn connector(extra: &[CertificateDer<'static>]) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots.add_parsable_certificates(extra.iter().cloned());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
