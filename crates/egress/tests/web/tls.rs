//! A server with TLS, for HTTP/1.1 and HTTP/2, and who vouches for it.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use testkit::tls::{Authority, Certificate};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// The one whom the client of the tests trusts.
pub(crate) static AUTHORITY: LazyLock<Authority> = LazyLock::new(Authority::generate);

/// What a request looked like from the server.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) sni: Option<String>,
    pub(crate) protocol: String,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) fields: hyper::HeaderMap,
}

/// Where a path leads: a status, where to, and what the page says.
type Answer = dyn Fn(&str, &str) -> Response<Full<Bytes>> + Send + Sync;

pub(crate) struct TlsOrigin {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<Mutex<usize>>,
    /// Serves as long as it is held.
    _runtime: tokio::runtime::Runtime,
}

impl TlsOrigin {
    /// `answer` is given the host and the path.
    pub(crate) fn new(
        certificate: Certificate,
        alpn: &[&[u8]],
        answer: impl Fn(&str, &str) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let acceptor = TlsAcceptor::from(certificate.server(alpn));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, connections) = (Arc::default(), Arc::new(Mutex::new(0)));
        let (log, count, answer): (_, _, Arc<Answer>) =
            (Arc::clone(&asked), Arc::clone(&connections), Arc::new(answer));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
                tokio::spawn(serve(acceptor, stream, log, Arc::clone(&answer)));
            }
        });
        Self { port, asked, connections, _runtime: runtime }
    }

    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

async fn serve(
    acceptor: TlsAcceptor,
    stream: tokio::net::TcpStream,
    log: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<Answer>,
) {
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let session = stream.get_ref().1;
    let sni = session.server_name().map(str::to_owned);
    let h2 = session.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |request: Request<Incoming>| {
        let host = match request.uri().authority() {
            Some(authority) => authority.to_string(),
            None => request.headers()["host"].to_str().unwrap().to_owned(),
        };
        let asked = Asked {
            sni: sni.clone(),
            protocol: format!("{:?}", request.version()),
            host: host.clone(),
            path: request.uri().path().to_owned(),
            fields: request.headers().clone(),
        };
        log.lock().unwrap().push(asked);
        let answered = answer(&host, request.uri().path());
        async move { Ok::<_, Infallible>(answered) }
    });
    let io = TokioIo::new(stream);
    if h2 {
        let serving = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = serving.serve_connection(io, service).await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    }
}

pub(crate) fn ok(body: &str) -> Response<Full<Bytes>> {
    let response = Response::builder().header("content-type", "text/html; charset=utf-8");
    response.body(Full::from(body.to_owned())).unwrap()
}

pub(crate) fn onward(status: u16, location: &str) -> Response<Full<Bytes>> {
    Response::builder().status(status).header("location", location).body(Full::default()).unwrap()
}
