//! Connections: as many as there may be, each with limits of its own, encrypted where the settings say so.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::app::App;
use crate::certificate::Certificate;
use crate::front::Peer;
use crate::limits::{CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS_MAX, HEAD_MAX, SEND_MAX};
use crate::routes::router;
use crate::server::Stage;
use crate::taken::Taken;

/// How long to wait where the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// Connections by where they come from.
#[derive(Default)]
struct Crowd(Mutex<HashMap<IpAddr, usize>>);

/// A place in the crowd, until it is dropped.
struct Place {
    crowd: Arc<Crowd>,
    address: IpAddr,
    app: Arc<App>,
}

/// Takes connections until the end.
pub(crate) async fn accept(app: Arc<App>, listener: TcpListener, stop: watch::Receiver<Stage>) {
    let router = router(&app);
    let crowd = Arc::new(Crowd::default());
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(room) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let peer = peer.ip().to_canonical();
        let Some(place) = Crowd::enter(&crowd, &app, peer) else { continue };
        // Each is shown the certificate of now.
        let tls = app.certificate.as_ref().map(Certificate::now);
        let (router, stop) = (router.clone(), stop.clone());
        tokio::spawn(async move {
            let _held = (room, place);
            serve(stream, peer, router, tls, stop).await;
        });
    }
}

async fn serve(
    stream: TcpStream,
    peer: IpAddr,
    router: Router,
    tls: Option<Arc<rustls::ServerConfig>>,
    stop: watch::Receiver<Stage>,
) {
    // Small frames go out at once.
    let _ = stream.set_nodelay(true);
    let stream = Taken::within(SEND_MAX, stream);
    match tls {
        None => speak(stream, peer, router, stop).await,
        Some(tls) => {
            let accepted = TlsAcceptor::from(tls).accept(stream);
            if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_MAX, accepted).await {
                speak(stream, peer, router, stop).await;
            }
        }
    }
}

async fn speak(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: IpAddr,
    router: Router,
    mut stop: watch::Receiver<Stage>,
) {
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        let mut router = router.clone();
        async move { tower_service::Service::call(&mut router, request).await }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX).max_buf_size(HEAD_BYTES_MAX);
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // Whoever breaks off need not be told.
        _ = connection.as_mut() => {}
        _ = stop.wait_for(|it| *it >= Stage::Over) => {}
    }
}

impl Crowd {
    fn enter(crowd: &Arc<Self>, app: &Arc<App>, address: IpAddr) -> Option<Place> {
        let mut all = crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_proxy = app.directory().settings.behind_proxy.contain(address);
        let count = all.entry(address).or_default();
        if *count >= CONNECTIONS_PER_ADDRESS_MAX && !is_proxy {
            return None;
        }
        *count += 1;
        app.connections.fetch_add(1, Ordering::Relaxed);
        Some(Place { crowd: Arc::clone(crowd), address, app: Arc::clone(app) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.app.connections.fetch_sub(1, Ordering::Relaxed);
        let mut all = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                all.remove(&self.address);
            }
        }
    }
}
