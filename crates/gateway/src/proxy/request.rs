//! One request of a program: the gate, the way out, the answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use egress::{Arriving, AskError, Carried, EgressEvent, Outcome};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use model::{Effect, RawCall, ToolCall};
use monitor::{Asked, Begun, Connection, Granted, Output, Permit, Refusal};
use scan::net::Refused;

use tokio::sync::Semaphore;

use super::Proxy;
use super::accounts::{Account, Shown};
use super::answer::{Body, No};
use super::bounds::AT_THE_GATE_MAX;
use super::calls::{Asking, NoCall};
use super::hop::Hop;
use super::near::Near;
use super::relay::relay;

/// Names one exchange in the journal.
const CORRELATION_BYTES: usize = 8;

/// Answers one request, whatever it is.
pub(crate) async fn answer(
    proxy: Arc<Proxy>,
    shown: Shown,
    asked: Request<Incoming>,
) -> Response<Body> {
    proxy.answered(shown, asked).await.unwrap_or_else(No::response)
}

/// How long the head of a request is: where it goes, and its fields.
fn head_bytes(asked: &Request<Incoming>) -> u64 {
    let fields = asked.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    (asked.uri().to_string().len() + fields.sum::<usize>()) as u64
}

impl Proxy {
    async fn answered(
        self: Arc<Self>,
        shown: Shown,
        asked: Request<Incoming>,
    ) -> Result<Response<Body>, No> {
        if let Some(over) = shown.account.command.as_ref().and_then(|it| it.over()) {
            return Err(No::by_egress(&AskError::Refused(over)));
        }
        let mut hop = self.hop(&shown, &asked)?;
        let Shown { account, .. } = shown;
        if let Some(command) = &account.command {
            command.begins_one(head_bytes(&asked)).map_err(|refused| hop.refused(refused))?;
        }
        let asking = match Asking::of(&asked, &account.rules.inner) {
            Ok(asking) => asking,
            Err(NoCall::Bad(reason)) => {
                let rule = No::BAD_REQUEST.to_owned();
                hop.event.outcome = Outcome::Refused { rule, reason: reason.to_owned() };
                return Err(No::bad_request(reason));
            }
            Err(NoCall::Refused(refused)) => return Err(hop.refused(refused)),
        };
        hop.event.opened = asking.opened;
        let (permit, begun) = self.judge(&account, &mut hop, &asking).await?;
        hop.decision = Some(permit.record());
        let Granted::Tool(permit) = permit.by_kind() else {
            return Err(No::bad_request("the gate took it for something else"));
        };
        if asking.is_tunnel() {
            self.tunnel(&account, permit, begun, hop, asked).await
        } else {
            self.pass_on(&account, permit, begun, hop, asked).await
        }
    }

    fn hop(&self, shown: &Shown, asked: &Request<Incoming>) -> Result<Hop, No> {
        let account = &shown.account;
        let correlation = match &account.command {
            // What a command asks for is known by the record of the command.
            Some(command) => command.record().to_hex().as_str().to_owned(),
            None => {
                let mut random = [0; CORRELATION_BYTES];
                getrandom::fill(&mut random).map_err(|_| No::unable())?;
                HEXLOWER.encode(&random)
            }
        };
        let mut event = EgressEvent::of_proxy(asked.method(), asked.uri(), correlation);
        event.token = Some(shown.token.clone().into_owned());
        Ok(Hop {
            journal: Arc::clone(&self.journal),
            who: account.who.clone(),
            command: account.command.clone(),
            decision: None,
            event,
            carried: Arc::new(Carried::within(account.allowance())),
            at: Instant::now(),
        })
    }

    /// Takes the request through the gate. That waits for the disk, so not on a thread that others need.
    async fn judge(
        self: &Arc<Self>,
        account: &Account,
        hop: &mut Hop,
        asking: &Asking,
    ) -> Result<(Permit<Effect>, Begun), No> {
        let (monitor, who) = (Arc::clone(&self.monitor), hop.who.clone());
        let (tool, args) = (asking.tool, asking.args.clone());
        let Some(command) = account.command.clone() else {
            let judged = at_the_gate(account, move || {
                monitor.begin(&who, &Asked::Tool(RawCall { tool, args: &args }))
            });
            return judged.await?.map_err(|refusal| hop.stopped(&refusal));
        };
        let asked = asking.to_bytes();
        if let Some(no) = command.refusal_of(&asked) {
            return Err(hop.stopped_again(no));
        }
        let record = command.record();
        let judged = at_the_gate(account, move || {
            let call = RawCall { tool, args: &args };
            monitor.begin(&who, &Asked::Connection(Connection { call, command: record }))
        });
        let judged = judged.await?.map_err(|refusal| (hop.stopped(&refusal), refusal));
        judged.map_err(|(no, refusal)| {
            if let Refusal::Stopped(_) = refusal {
                command.was_refused(&asked, &no);
            }
            no
        })
    }

    /// Closes the call: it was carried out as far as the gate can see.
    async fn finish(
        self: &Arc<Self>,
        account: &Account,
        begun: Begun,
        output: Output,
    ) -> Result<(), No> {
        let monitor = Arc::clone(&self.monitor);
        let finished = at_the_gate(account, move || monitor.finish(begun, output)).await?;
        finished.map(drop).map_err(|refusal| No::by_gate(&refusal))
    }

    async fn failed(
        self: &Arc<Self>,
        account: &Account,
        begun: Begun,
        mut hop: Hop,
        error: &AskError,
    ) -> No {
        hop.event.failed(error);
        // Our own words, and no byte of anybody else: the error of a tool would count as read from outside, and
        // every server that is down would mark the session.
        let output = match hop.carried.address() {
            Some(_) => Output::text("no answer"),
            None => Output::not_begun("no connection"),
        };
        drop(hop);
        let _ = self.finish(account, begun, output).await;
        No::by_egress(error)
    }

    async fn tunnel(
        self: Arc<Self>,
        account: &Account,
        permit: Permit<ToolCall>,
        begun: Begun,
        mut hop: Hop,
        asked: Request<Incoming>,
    ) -> Result<Response<Body>, No> {
        let dialled = match self.ways.tunnel(permit, &account.rules, &hop.carried).await {
            Ok(dialled) => dialled,
            Err(error) => return Err(self.failed(account, begun, hop, &error).await),
        };
        account.command.iter().for_each(|it| it.reaches(&hop.event.host));
        // INVARIANT (AbsorbBeforeDeliver): closed before a byte goes through.
        self.finish(account, begun, Output::text("")).await?;
        tokio::spawn(async move {
            let Some((near, early)) = hyper::upgrade::on(asked).await.ok().and_then(parts) else {
                let reason = "the program's connection is gone".to_owned();
                return hop.event.failed(&AskError::Failed(reason));
            };
            hop.event.outcome = Outcome::Tunnelled;
            let (stream, _guest) = near.into_parts();
            let carried: &Carried = &hop.carried;
            // However it ended, it has; how much came through, and what cut it off, the hop knows.
            let _ = relay(stream, early, dialled.stream, carried, &self.bounds).await;
        });
        Ok(Response::new(Empty::<Bytes>::new().map_err(|never| match never {}).boxed()))
    }

    async fn pass_on(
        self: Arc<Self>,
        account: &Account,
        permit: Permit<ToolCall>,
        begun: Begun,
        mut hop: Hop,
        asked: Request<Incoming>,
    ) -> Result<Response<Body>, No> {
        if let Err(refused) = fits(account, &asked) {
            return Err(self.failed(account, begun, hop, &refused.into()).await);
        }
        let passed = self.ways.pass_on(permit, &account.rules, asked, &hop.carried).await;
        let response = match passed {
            Ok(response) => response,
            Err(error) => return Err(self.failed(account, begun, hop, &error).await),
        };
        account.command.iter().for_each(|it| it.reaches(&hop.event.host));
        hop.event.outcome = Outcome::Answered(response.status().as_u16());
        self.finish(account, begun, Output::text("")).await?;
        Ok(response.map(|inner| Passing { inner, _hop: hop }.boxed()))
    }
}

/// May a command send what it announces? What it does not announce is cut off where nothing is left.
fn fits(account: &Account, asked: &Request<Incoming>) -> Result<(), Refused> {
    match (&account.command, asked.body().size_hint().exact()) {
        (Some(command), Some(bytes)) => command.has_room_for(bytes),
        (Some(_), None) | (None, _) => Ok(()),
    }
}

/// Turns at the gate.
static TURNS: Semaphore = Semaphore::const_new(AT_THE_GATE_MAX);

/// Does `work`, which waits for the disk, on a thread that nobody else needs.
async fn at_the_gate<T: Send + 'static>(
    account: &Account,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, No> {
    let unable = |_| No::unable();
    // Its own first: however many calls an agent has, few of them stand before those of others.
    let own = Arc::clone(&account.turns).acquire_owned().await.map_err(unable)?;
    let turn = TURNS.acquire().await.map_err(unable)?;
    let done = tokio::task::spawn_blocking(move || {
        // Kept until here: the thread is busy even if nobody waits any more.
        let _turns = (own, turn);
        work()
    });
    done.await.map_err(|_| No::unable())
}

/// The program's connection, and what was read of it already.
fn parts(upgraded: Upgraded) -> Option<(Near, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<Near>>().ok()?;
    Some((parts.io.into_inner(), parts.read_buf))
}

/// A body that is passed on; when it has ended, or nobody wants more of it, its hop is recorded.
struct Passing {
    inner: Arriving,
    _hop: Hop,
}

impl hyper::body::Body for Passing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        Poll::Ready(frame.map(|it| it.map_err(io::Error::other)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
