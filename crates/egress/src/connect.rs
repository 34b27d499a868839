//! Gives hyper its connections: dialled by [`Dialer`] and, for `https`, with the name on the certificate.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use scan::net::{Host, Refused, Rule, Scheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::dial::{DialError, Dialer, Dialled};
use crate::wire::Wire;

/// Why there is no connection to ask by.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("TLS with `{host}` failed: {why}")]
    Tls { host: String, peer: SocketAddr, why: &'static str },
}

/// Makes connections.
#[derive(Clone)]
pub(crate) struct Connector {
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) handshake: Duration,
    /// The longest answer as it travels, in bytes.
    pub(crate) answer_bytes: u64,
}

/// Whom a connection is with, for the record, and what comes over it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    pub(crate) wire: Arc<Wire>,
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Link>;
    type Error = ConnectError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move { connector.connect(&uri).await.map(TokioIo::new) })
    }
}

impl Connector {
    async fn connect(&self, uri: &Uri) -> Result<Link, ConnectError> {
        // Read again from the text: whatever asks for a connection gets only one that leads outside.
        let target = self.dialer.read(&uri.to_string()).map_err(DialError::Refused)?;
        let dialled = self.dialer.dial(target.host(), target.port()).await?;
        let peer = Peer { address: dialled.address, wire: Wire::new(self.answer_bytes) };
        match target.scheme() {
            Scheme::Http => Ok(Link { stream: Stream::Plain(dialled.stream), peer }),
            Scheme::Https => {
                let stream = self.encrypt(target.host(), dialled).await?;
                Ok(Link { stream: Stream::Tls(Box::new(stream)), peer })
            }
        }
    }

    /// The certificate must be that of the name, not of the address.
    async fn encrypt(
        &self,
        host: &Host,
        dialled: Dialled,
    ) -> Result<TlsStream<TcpStream>, ConnectError> {
        let name = match host {
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| {
                let reason = format!("`{name}` is no name for a certificate");
                DialError::Refused(Refused { rule: Rule::Name, reason })
            })?,
            Host::Address(address) => ServerName::from(*address),
        };
        let peer = dialled.address;
        let failed = |why| ConnectError::Tls { host: host.to_string(), peer, why };
        let connecting = TlsConnector::from(Arc::clone(&self.tls)).connect(name, dialled.stream);
        match timeout(self.handshake, connecting).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(failed(why(&error))),
            Err(_) => Err(failed("it took too long")),
        }
    }
}

/// Why a handshake failed. The library's words would quote the server's certificate.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's enums, for a sentence and no decision"
)]
fn why(error: &io::Error) -> &'static str {
    use rustls::CertificateError as Bad;
    let Some(error) = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>()) else {
        return "the connection broke off";
    };
    match error {
        rustls::Error::InvalidCertificate(bad) => match bad {
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
                "the certificate is for another name"
            }
            Bad::Expired | Bad::ExpiredContext { .. } => "the certificate has expired",
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => "the certificate is not valid yet",
            Bad::UnknownIssuer => "nobody who is trusted vouches for the certificate",
            Bad::Revoked => "the certificate was revoked",
            _ => "the certificate is not valid",
        },
        _ => "the handshake went wrong",
    }
}

/// A connection, plain or encrypted.
pub(crate) struct Link {
    stream: Stream,
    peer: Peer,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn scheme(&self) -> Scheme {
        match self {
            Self::Plain(_) => Scheme::Http,
            Self::Tls(_) => Scheme::Https,
        }
    }
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        let connected = Connected::new().extra(self.peer.clone());
        match &self.stream {
            Stream::Tls(stream) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
                self.peer.wire.share();
                connected.negotiated_h2()
            }
            Stream::Tls(_) | Stream::Plain(_) => connected,
        }
    }
}

impl AsyncRead for Link {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let link = self.get_mut();
        link.peer.wire.check(context)?;
        let before = buffer.filled().len();
        let polled = match &mut link.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        link.peer.wire.came(buffer.filled().len().saturating_sub(before))?;
        polled
    }
}

/// How much of what was to be written can have gone.
///
/// INVARIANT (AskedOnce): a write over TLS fails with one record although others went before it.
fn may_have_gone(polled: &Poll<io::Result<usize>>, wanted: usize, by: Scheme) -> usize {
    match (polled, by) {
        (Poll::Ready(Ok(written)), _) => *written,
        (Poll::Ready(Err(_)), Scheme::Https) => wanted,
        (Poll::Ready(Err(_)), Scheme::Http) | (Poll::Pending, _) => 0,
    }
}

impl AsyncWrite for Link {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let link = self.get_mut();
        let polled = match &mut link.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        };
        link.peer.wire.went(may_have_gone(&polled, bytes.len(), link.stream.scheme()));
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_over_tls_counts_as_sent() {
        let failed = || Poll::Ready(Err(io::Error::other("reset")));
        assert_eq!(may_have_gone(&failed(), 10, Scheme::Https), 10);
        assert_eq!(may_have_gone(&failed(), 10, Scheme::Http), 0);
        for by in [Scheme::Http, Scheme::Https] {
            assert_eq!(may_have_gone(&Poll::Ready(Ok(3)), 10, by), 3);
            assert_eq!(may_have_gone(&Poll::Pending, 10, by), 0);
        }
    }
}
