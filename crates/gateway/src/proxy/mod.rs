//! The forward proxy: any program that honours `HTTPS_PROXY` gets the rules of the gate.
//!
//! Each request and each tunnel is a call of a session, which is that of the account whose name and token the
//! program gave. What travels through a tunnel is not looked at: it is encrypted for others.

mod accounts;
mod answer;
mod bounds;
mod calls;
mod command;
mod door;
mod hop;
mod near;
mod relay;
mod request;
mod serving;
mod shares;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use egress::{Dialer, Limits, Ways};
use evidence::Journal;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use monitor::Monitor;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use accounts::Shown;
use answer::{Body, No};
use bounds::{FIELDS_MAX, HEAD_BYTES_MAX};
use door::{Door, Guest};
use near::Near;
use shares::{Share, Shares};

pub use accounts::{Access, Account, Accounts, Token};
pub use bounds::{Bounds, CONNECTIONS_MAX};
pub use calls::{catalogue, tools};
pub use command::{Budget, Command, Turned};
pub use serving::Serving;

/// How long to wait when the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// What proxies stand on.
#[derive(Clone)]
pub struct Outside {
    /// The gate.
    pub monitor: Arc<Monitor>,
    /// Its journal, where each hop is recorded.
    pub journal: Arc<Journal>,
    /// Opens connections, to vetted addresses alone.
    pub dialer: Arc<Dialer>,
    /// What one exchange may cost.
    pub limits: Limits,
}

/// A proxy.
pub struct Proxy {
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
    ways: Ways,
    accounts: Accounts,
    bounds: Bounds,
}

impl Proxy {
    /// A proxy for whoever has one of these accounts, each of which may cost so much.
    #[must_use]
    pub fn new(outside: Outside, accounts: Accounts, bounds: Bounds) -> Arc<Self> {
        let Outside { monitor, journal, dialer, limits } = outside;
        let ways = Ways::new(dialer, limits);
        Arc::new(Self { monitor, journal, ways, accounts, bounds })
    }

    /// Serves who comes to `listener`, until it is dropped.
    ///
    /// # Errors
    /// Never: what goes wrong with one connection ends that connection.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) -> Infallible {
        let shares = Shares::new(self.bounds.connections, &self.accounts);
        let door =
            Door::new(self.bounds, shares, Arc::clone(&self.journal), self.accounts.strangers());
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Small messages go at once; a socket that cannot be told so works as well.
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(Arc::clone(&self).converse(stream, Arc::clone(&door)));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Answers requests until the program is done, or breaks off: then it is told nothing any more.
    async fn converse(self: Arc<Self>, stream: TcpStream, door: Arc<Door>) {
        let (guest, bounds) = (door.welcome(), self.bounds);
        let near = Near::new(stream, Arc::clone(&guest), bounds.linger);
        let moved = near.moved();
        let (proxy, known) = (self, Arc::clone(&guest));
        let answering = service_fn(move |asked| {
            // Here and not when the answer is first waited for, which may be never.
            let taken = proxy.take(asked, &known, &door);
            Arc::clone(&proxy).answer(taken, Arc::clone(&known))
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
            () = guest.must_go() => {}
        }
    }

    fn take(self: &Arc<Self>, asked: Request<Incoming>, guest: &Guest, door: &Arc<Door>) -> Taken {
        let shown = self.accounts.of(asked.headers());
        let known = shown.and_then(|it| {
            let share = door.shares().of(&it.account.who.agent, &it.token)?;
            Some((it, share))
        });
        match known {
            Some((shown, share)) if guest.try_seat(&share) => {
                Taken::Begun(self.begin(shown, asked))
            }
            Some((shown, share)) => Taken::Waits(Box::new((shown, share, asked))),
            None => Taken::Refused(door.turn_away()),
        }
    }

    /// On its own: a call that has begun ends in order, also if nobody waits for it any more.
    fn begin(
        self: &Arc<Self>,
        shown: Shown,
        asked: Request<Incoming>,
    ) -> JoinHandle<Response<Body>> {
        tokio::spawn(request::answer(Arc::clone(self), shown, asked))
    }

    async fn answer(
        self: Arc<Self>,
        taken: Taken,
        guest: Arc<Guest>,
    ) -> io::Result<Response<Body>> {
        let begun = match taken {
            Taken::Begun(begun) => begun,
            Taken::Waits(waits) => {
                let (shown, share, asked) = *waits;
                match guest.seat(&share).await {
                    Ok(()) => self.begin(shown, asked),
                    Err(no) => return Ok(no.response()),
                }
            }
            Taken::Refused(no) => return Ok(no.response()),
        };
        begun.await.map_err(io::Error::other)
    }
}

/// How far a request has come when it has been read.
enum Taken {
    Begun(JoinHandle<Response<Body>>),
    /// For a place. If the program goes, nothing was begun.
    Waits(Box<(Shown, Share, Request<Incoming>)>),
    Refused(No),
}
