//! Whose certificates are believed.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// Who vouches for servers.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Whoever the system trusts.
    #[default]
    System,
    /// These alone.
    Only(Vec<CertificateDer<'static>>),
}

/// Nobody vouches for servers.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The system has no list.
    #[error("the system has no certificates to trust: install the package ca-certificates")]
    None,
    /// A certificate or a setting is not understood.
    #[error("a certificate to trust cannot be used: {0}")]
    Bad(#[from] rustls::Error),
}

/// Settings of TLS for clients that speak these protocols, the first one rather.
pub(crate) fn config(trust: &Trust, alpn: &[&[u8]]) -> Result<Arc<ClientConfig>, TrustError> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            // Single files that cannot be read are the system's business; that there are none is ours.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Trust::Only(certificates) => {
            certificates.iter().try_for_each(|it| roots.add(it.clone()))?;
        }
    }
    if roots.is_empty() {
        return Err(TrustError::None);
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|it| it.to_vec()).collect();
    Ok(Arc::new(config))
}
