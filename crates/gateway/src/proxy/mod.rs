//! The forward proxy: any program that honours `HTTPS_PROXY` gets the rules of the gate.
//!
//! Each request and each tunnel is a call of a session, which is that of the account whose name and token the
//! program gave. What travels through a tunnel is not looked at: it is encrypted for others.

mod accounts;
mod answer;
mod bounds;
mod calls;
mod hop;
mod near;
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
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use bounds::{FIELDS_MAX, HEAD_BYTES_MAX};
use near::Near;

pub use accounts::{Account, Accounts, TOKEN_BYTES, Token};
pub use bounds::{Bounds, CONNECTIONS_MAX};
pub use calls::{catalogue, tools};

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
    /// What a program may cost.
    pub bounds: Bounds,
}

impl Proxy {
    /// Serves who comes to `listener`, until it is dropped.
    ///
    /// # Errors
    /// Never: what goes wrong with one connection ends that connection.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> Infallible {
        let room = Arc::new(Semaphore::new(self.bounds.connections));
        loop {
            // Who comes when there is no room waits in the system's queue.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { continue };
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Small messages go at once; a socket that cannot be told so works as well.
                    let _ = stream.set_nodelay(true);
                    let near = Near::new(stream, place, self.bounds.linger);
                    tokio::spawn(Arc::clone(&self).converse(near));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Answers requests until the program is done, or breaks off: then it is told nothing any more.
    async fn converse(self: Arc<Self>, near: Near) {
        let (moved, bounds) = (near.moved(), self.bounds);
        let answering = service_fn(move |asked| {
            // On its own: a call that has begun ends in order, also if nobody waits for it any more.
            let answer = tokio::spawn(request::answer(Arc::clone(&self), asked));
            async move { answer.await.map_err(io::Error::other) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.head)
            .max_buf_size(HEAD_BYTES_MAX)
            .max_header_size(HEAD_BYTES_MAX)
            .max_headers(FIELDS_MAX)
            .serve_connection(TokioIo::new(near), answering)
            .with_upgrades();
        tokio::select! {
            _ = connection => {}
            () = near::stands_still(&moved, bounds.silence) => {}
        }
    }
}
