//! The forward proxy: any program that honours `HTTPS_PROXY` gets the rules of the gate.
//!
//! Each request and each tunnel is a call of a session, which is that of the account whose name and token the
//! program gave. What travels through a tunnel is not looked at: it is encrypted for others.

mod accounts;
mod answer;
mod calls;
mod relay;
mod request;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use egress::Ways;
use evidence::Journal;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use monitor::Monitor;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

pub use accounts::{Account, Accounts, TOKEN_BYTES, Token};
pub use calls::{catalogue, tools};

/// Connections of programs at once.
pub const CONNECTIONS_MAX: usize = 4096;
/// How long a program may take for the head of a request, and be silent between two.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// The head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A proxy.
pub struct Proxy {
    /// The gate.
    pub monitor: Arc<Monitor>,
    /// Where each hop is recorded.
    pub journal: Arc<Journal>,
    /// The way out.
    pub ways: Ways,
    /// Who may use it.
    pub accounts: Accounts,
}

impl Proxy {
    /// Serves who comes to `listener`, until it is dropped.
    ///
    /// # Errors
    /// Never: what goes wrong with one connection ends that connection.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> Infallible {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            // Who comes when there is no room waits in the system's queue.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { continue };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let proxy = Arc::clone(&self);
                    tokio::spawn(async move {
                        // A program that breaks off is told nothing any more.
                        let _ = proxy.converse(stream).await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn converse(self: Arc<Self>, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let answering = service_fn(move |asked| {
            let proxy = Arc::clone(&self);
            async move { Ok::<_, Infallible>(request::answer(proxy, asked).await) }
        });
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), answering)
            .with_upgrades()
            .await
            .map_err(io::Error::other)
    }
}
