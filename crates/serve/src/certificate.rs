//! The certificate that clients are shown, and its key: read again when its files change, so that a renewed one needs no
//! restart.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use aegx::Digest;
use policy::access::ServeTls;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

use crate::app::App;
use crate::log::{About, Event};

/// The largest file of a certificate or a key, in bytes.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// The certificate of a server that speaks TLS.
pub(crate) struct Certificate(RwLock<Shown>);

/// What clients are shown.
#[derive(Clone)]
struct Shown {
    config: Arc<ServerConfig>,
    /// Of the chain and of the key, by which it is seen that they are others. Only that of the chain is told.
    digests: [Digest; 2],
}

impl Certificate {
    /// Reads it.
    ///
    /// # Errors
    /// If there is none, or the key is another's.
    pub(crate) fn read(files: &ServeTls) -> Result<Self, String> {
        read(files).map(|it| Self(RwLock::new(it)))
    }

    /// The one that is shown now.
    pub(crate) fn now(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner).config)
    }
}

/// Reads the files again, and shows what is new in them from now on. Is there something new?
///
/// INVARIANT (NothingSilent), INVARIANT (RecordThenAct).
///
/// # Errors
/// If it is not understood, or cannot be recorded: then the old one is shown on.
pub(crate) fn again(app: &App) -> Result<bool, String> {
    let directory = app.directory();
    // Whether there is TLS at all is said at the start.
    let (Some(shown), Some(files)) = (&app.certificate, &directory.settings.tls) else {
        return Ok(false);
    };
    let new = read(files).inspect_err(|why| {
        let content = json!({
            "alert": "the certificate of the server is not understood",
            "severity": "MEDIUM",
            "what": why,
            "stays": "as it was",
        });
        // The old one is shown either way.
        let _ = app.record("certificate_refused", content);
        app.log(Event::ReloadFailed, About::default(), json!({ "why": why, "of": "serve.tls" }));
    })?;
    if new.digests == shown.0.read().unwrap_or_else(PoisonError::into_inner).digests {
        return Ok(false);
    }
    let chain = new.digests[0].to_string();
    let content = json!({ "file": files.cert.display().to_string(), "sha256": chain });
    app.record("certificate_renewed", content).map_err(|error| error.to_string())?;
    *shown.0.write().unwrap_or_else(PoisonError::into_inner) = new;
    let details = json!({ "of": "serve.tls", "sha256": chain });
    app.log(Event::ConfigReloaded, About::default(), details);
    Ok(true)
}

/// Reads the certificate and its key, which only its owner may read.
fn read(files: &ServeTls) -> Result<Shown, String> {
    let wrong = |path: &Path, why: &dyn Display| format!("`{}`: {why}", path.display());
    let bytes = |path: &Path| {
        files::private::read(path, PEM_BYTES_MAX).map_err(|error| wrong(path, &error))
    };
    let (chain, key) = (bytes(&files.cert)?, bytes(&files.key)?);
    let digests = [Digest::of(&chain), Digest::of(&key)];
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&chain).collect();
    let chain = chain.map_err(|error| wrong(&files.cert, &error))?;
    let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| wrong(&files.key, &error))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| wrong(&files.cert, &error))?;
    Ok(Shown { config: Arc::new(config), digests })
}
