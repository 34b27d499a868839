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

    /// Is there a connection over which nothing has ever come?
    pub(crate) fn is_silent(&self) -> bool {
        self.peer().is_some_and(|it| it.wire.is_silent())
    }

    /// Did it fail only because the connection had been kept for too long? Then it may be asked again by another.
    ///
    /// INVARIANT (AskedOnce): what changes something is asked for again only if nothing of it can have been sent,
    /// and nothing is asked for again once a byte has come back.
    pub(crate) fn was_stale(&self, changes_something: bool) -> bool {
        let since = self.peer().and_then(|it| it.wire.since_kept());
        since.is_some_and(|it| !(it.heard || it.sent && changes_something))
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;

    use super::*;
    use crate::connect::Connector;
    use crate::dial::Dialer;
    use crate::limits::Limits;
    use crate::resolve::{Looking, Resolve};

    /// Every name leads to this machine.
    struct Here;

    impl Resolve for Here {
        fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
            Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
        }
    }

    /// Answers one request on each connection, and closes it when it is told to.
    fn serve(listener: &TcpListener, close: &mpsc::Receiver<()>, closed: &mpsc::Sender<()>) {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            let told = close.recv();
            drop(stream);
            if told.and_then(|()| closed.send(()).map_err(|_| mpsc::RecvError)).is_err() {
                return;
            }
        }
    }

    #[test]
    fn a_request_that_met_a_connection_at_its_end_counts_on_the_one_that_it_was_given() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let ((close, told), (tell, closed)) = (mpsc::channel(), mpsc::channel());
        let server = thread::spawn(move || serve(&listener, &told, &tell));
        let limits = Limits::default();
        let dialer = Dialer::with_resolver(Arc::new(Here), &limits)
            .dangerously_open_these_loopback_ports_for_tests(&[port]);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let (dialer, tls) = (Arc::new(dialer), Arc::new(tls));
        let connector = Connector { dialer, tls, handshake: limits.connect, answer_bytes: 100 };
        let pool = Client::builder(TokioExecutor::new()).build(connector);
        let request = || {
            let url = format!("http://a.example:{port}/");
            Request::get(url).body(Full::<Bytes>::default()).unwrap()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut first = request();
            let mut using = Using::of(&mut first);
            let answer = using.until(pool.request(first)).await.unwrap();
            assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
            let before = using.peer().unwrap();
            using.ended_well();
            // It is kept for the next one, then its server goes while nobody here looks.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            close.send(()).unwrap();
            closed.recv().unwrap();
            thread::sleep(Duration::from_millis(100));
            // The system has told of it, and who works on the connection has not heard it yet.
            tokio::task::yield_now().await;
            let mut next = request();
            let mut using = Using::of(&mut next);
            let answer = using.until(pool.request(next)).await.unwrap();
            let peer = using.peer().unwrap();
            assert!(!Arc::ptr_eq(&before.wire, &peer.wire), "it was asked by the same one");
            assert!(using.exchange.as_ref().is_some_and(|it| it.is_over(&peer.wire)));
            assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
            using.ended_well();
        });
        drop((close, closed, pool, runtime));
        server.join().unwrap();
    }
}
