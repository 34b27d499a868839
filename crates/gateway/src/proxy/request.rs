//! One request of a program: who it is, the gate, the way out, the answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use aegx::Digest;
use bytes::Bytes;
use egress::{AskError, EgressEvent, Outcome, Passed};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use model::{Caller, Effect, RawCall};
use monitor::{Asked, Begun, Granted, Output, Permit};
use tokio::net::TcpStream;

use super::Proxy;
use super::accounts::Account;
use super::answer::{Body, No};
use super::calls::Asking;
use super::relay::{Carried, relay};

/// Answers one request, whatever it is.
pub(crate) async fn answer(proxy: Arc<Proxy>, asked: Request<Incoming>) -> Response<Body> {
    let Some(account) = proxy.accounts.of(asked.headers()).cloned() else {
        return No::no_account().response();
    };
    let asking = match Asking::of(asked.method(), asked.uri()) {
        Ok(asking) => asking,
        Err(reason) => return No::bad_request(reason).response(),
    };
    let event = EgressEvent::of_proxy(&asking.method, asked.uri());
    let judged = proxy.judge(&account.who, &asking).await;
    let (permit, begun) = match judged {
        Ok(judged) => judged,
        Err(no) => return no.response(),
    };
    let hop = Hop { who: account.who.clone(), record: permit.record(), event, at: Instant::now() };
    let Granted::Tool(permit) = permit.by_kind() else {
        return No::bad_request("the gate took it for something else").response();
    };
    if asking.is_tunnel() {
        tunnel(proxy, &account, permit, begun, hop, asked).await
    } else {
        pass_on(proxy, &account, permit, begun, hop, asked).await
    }
}

/// One way out, to be recorded when it has ended.
struct Hop {
    who: Caller,
    record: Digest,
    event: EgressEvent,
    at: Instant,
}

impl Proxy {
    /// Takes the request through the gate. That waits for the disk, so not on a thread that others need.
    async fn judge(
        self: &Arc<Self>,
        who: &Caller,
        asking: &Asking,
    ) -> Result<(Permit<Effect>, Begun), No> {
        let (monitor, who) = (Arc::clone(&self.monitor), who.clone());
        let (tool, args) = (asking.tool, asking.args.clone());
        let judged = tokio::task::spawn_blocking(move || {
            monitor.begin(&who, &Asked::Tool(RawCall { tool, args: &args }))
        });
        let judged = judged.await.map_err(|_| No::unable())?;
        judged.map_err(|refusal| No::by_gate(&refusal))
    }

    /// Closes the call: it was carried out as far as the gate can see.
    async fn finish(self: &Arc<Self>, begun: Begun, output: Output) -> Result<(), No> {
        let monitor = Arc::clone(&self.monitor);
        let finished = tokio::task::spawn_blocking(move || monitor.finish(begun, output));
        let finished = finished.await.map_err(|_| No::unable())?;
        finished.map(drop).map_err(|refusal| No::by_gate(&refusal))
    }

    /// Records a hop that has ended.
    fn note(&self, mut hop: Hop, outcome: Outcome) {
        hop.event.outcome = outcome;
        hop.event.took = hop.at.elapsed();
        // The decision is recorded; if the disk fails now, the next request is refused.
        let _ = self.journal.post(hop.event.record(&hop.who, hop.record));
    }

    async fn failed(self: &Arc<Self>, begun: Begun, hop: Hop, error: &AskError) -> Response<Body> {
        let outcome = match error {
            AskError::Refused(it) => {
                Outcome::Refused { rule: it.rule.to_owned(), reason: it.reason.clone() }
            }
            AskError::Failed(reason) => Outcome::Failed { reason: reason.clone() },
        };
        self.note(hop, outcome);
        // Our own words, and no byte of anybody else.
        let _ = self.finish(begun, Output::not_begun("no connection")).await;
        No::by_egress(error).response()
    }
}

async fn tunnel(
    proxy: Arc<Proxy>,
    account: &Account,
    permit: Permit<model::ToolCall>,
    begun: Begun,
    mut hop: Hop,
    asked: Request<Incoming>,
) -> Response<Body> {
    let dialled = match proxy.ways.tunnel(permit, &account.rules).await {
        Ok(dialled) => dialled,
        Err(error) => return proxy.failed(begun, hop, &error).await,
    };
    hop.event.address = Some(dialled.address.ip());
    // INVARIANT (AbsorbBeforeDeliver): closed before a byte goes through.
    if let Err(no) = proxy.finish(begun, Output::text("")).await {
        return no.response();
    }
    tokio::spawn(async move {
        let carried = Carried::default();
        let outcome = match hyper::upgrade::on(asked).await {
            Ok(upgraded) => match parts(upgraded) {
                Some((near, early)) => {
                    // However it ended, it has; how much came through is what is left to say.
                    let _ = relay(near, early, dialled.stream, &carried).await;
                    Outcome::Tunnelled
                }
                None => Outcome::Failed { reason: "the program's connection is gone".to_owned() },
            },
            Err(error) => Outcome::Failed { reason: error.to_string() },
        };
        hop.event.sent_bytes = carried.out.into_inner();
        hop.event.received_bytes = carried.back.into_inner();
        proxy.note(hop, outcome);
    });
    Response::new(Empty::<Bytes>::new().map_err(|never| match never {}).boxed())
}

/// The program's connection, and what was read of it already.
fn parts(upgraded: Upgraded) -> Option<(TcpStream, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<TcpStream>>().ok()?;
    Some((parts.io.into_inner(), parts.read_buf))
}

async fn pass_on(
    proxy: Arc<Proxy>,
    account: &Account,
    permit: Permit<model::ToolCall>,
    begun: Begun,
    mut hop: Hop,
    asked: Request<Incoming>,
) -> Response<Body> {
    let Passed { response, address } = match proxy.ways.pass_on(permit, &account.rules, asked).await
    {
        Ok(passed) => passed,
        Err(error) => return proxy.failed(begun, hop, &error).await,
    };
    hop.event.address = address;
    if let Err(no) = proxy.finish(begun, Output::text("")).await {
        return no.response();
    }
    let status = response.status().as_u16();
    response.map(|inner| Counted { inner, bytes: 0, status, ending: Some((proxy, hop)) }.boxed())
}

/// A body that is passed on; when it has ended, or nobody wants more of it, its hop is recorded.
struct Counted {
    inner: Incoming,
    bytes: u64,
    status: u16,
    ending: Option<(Arc<Proxy>, Hop)>,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let length = frame.data_ref().map_or(0, Bytes::len);
            self.bytes = self.bytes.saturating_add(length as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some((proxy, mut hop)) = self.ending.take() {
            hop.event.received_bytes = self.bytes;
            proxy.note(hop, Outcome::Answered(self.status));
        }
    }
}
