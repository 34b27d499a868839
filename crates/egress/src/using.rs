//! The connection that a request was given, for as long as its exchange goes on.

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;

use hyper::Request;
use hyper::http::Extensions;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};

use crate::connect::Peer;
use crate::wire::Exchange;

/// A connection in use. Dropped before the exchange has ended well, nobody else is given it: who comes next
/// would wait for the same server that does not answer.
pub(crate) struct Using {
    connection: CaptureConnection,
    exchange: Option<Exchange>,
    ended_well: bool,
}

impl Using {
    /// Of what `request` will be given.
    pub(crate) fn of<B>(request: &mut Request<B>) -> Self {
        Self { connection: capture_connection(request), exchange: None, ended_well: false }
    }

    /// Waits for an answer, and notes by which connection it is asked for as soon as there is one.
    pub(crate) async fn until<T>(&mut self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        let mut connection = self.connection.clone();
        tokio::select! {
            biased;
            answered = &mut answer => {
                self.note();
                return answered;
            }
            _ = connection.wait_for_connection_metadata() => self.note(),
        }
        let answered = answer.await;
        // A request that met a connection at its end was given another.
        self.note();
        answered
    }

    /// Whom the connection is with.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.peer().map(|it| it.address.ip())
    }

    /// The connection may serve others.
    pub(crate) fn ended_well(mut self) {
        self.ended_well = true;
        self.exchange.take().into_iter().for_each(Exchange::ended_well);
    }

    fn note(&mut self) {
        let Some(peer) = self.peer() else { return };
        if !self.exchange.as_ref().is_some_and(|it| it.is_over(&peer.wire)) {
            self.exchange = Some(peer.wire.begin());
        }
    }

    fn peer(&self) -> Option<Peer> {
        let mut extras = Extensions::new();
        self.connection.connection_metadata().as_ref()?.get_extras(&mut extras);
        extras.remove()
    }
}

impl Drop for Using {
    fn drop(&mut self) {
        if self.ended_well {
            return;
        }
        if let Some(connection) = self.connection.connection_metadata().as_ref() {
            connection.poison();
        }
        // It may have been given one since it was last looked.
        self.note();
    }
}
