//! Certificates of servers that tests start themselves, and who vouches for them.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use rcgen::{CertificateParams, date_time_ymd};

/// Somebody who vouches for servers.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Another one each time, under the same name.
    #[must_use]
    pub fn generate() -> Self {
        let mut params = params(&[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its own certificate, by which a client believes it.
    #[must_use]
    pub fn der(&self) -> CertificateDer<'static> {
        self.0.der().clone()
    }

    /// The same as a file has it.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names.
    #[must_use]
    pub fn vouch(&self, names: &[&str]) -> Certificate {
        self.vouch_for(&params(names))
    }

    /// A certificate that says this.
    #[must_use]
    pub fn vouch_for(&self, params: &CertificateParams) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Certificate::new(&certificate, &key)
    }
}

/// What a certificate for these names says.
#[must_use]
pub fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
    CertificateParams::new(names).unwrap()
}

/// The certificate of a server, with its key.
pub struct Certificate {
    der: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    pem: [String; 2],
}

impl Certificate {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        let der = certificate.der().clone();
        let pem = [certificate.pem(), key.serialize_pem()];
        Self { der, key: key.serialize_der().try_into().unwrap(), pem }
    }

    /// The certificate and its key, as files have them.
    #[must_use]
    pub fn files(&self) -> &[String; 2] {
        &self.pem
    }

    /// The certificate, as a client is shown it.
    #[must_use]
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    /// One for which nobody vouches but itself.
    #[must_use]
    pub fn self_signed(names: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        Self::new(&params(names).self_signed(&key).unwrap(), &key)
    }

    /// The settings of a server that shows it, and speaks these protocols.
    #[must_use]
    pub fn server(self, alpn: &[&[u8]]) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.der], self.key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|it| it.to_vec()).collect();
        Arc::new(config)
    }
}

/// The certificate of somebody who vouches for nobody: for clients that want somebody to believe, where no server
/// speaks TLS.
#[must_use]
pub fn nobody() -> CertificateDer<'static> {
    Certificate::self_signed(&["nobody.example"]).der
}
