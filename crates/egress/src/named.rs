//! Asks servers that a person has named, and reads their answers as they come: MCP servers with an address.
//!
//! INVARIANT (OneGate): what such a server is asked is judged message by message by who drives it, before it comes here;
//! there is no permit for a connection that carries many of them. So it is an exception, with an ugly name. It is
//! none of GlobalOnly: every address is vetted, every time.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Incoming};
use hyper::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, TRANSFER_ENCODING, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode};
use scan::net::{Inner, Refused, Rule, Target};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, timeout, timeout_at};
use zeroize::Zeroizing;

use crate::client::{AGENT, AskError, Client, of_pool};
use crate::headers;
use crate::rules::Rules;
use crate::using::Using;
use crate::why::why;

/// Packed answers are not asked for, and so none can unpack to more than was sent.
const UNPACKED: HeaderValue = HeaderValue::from_static("identity");
/// How often it is looked whether somebody still waits for an answer.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Connections that were kept too long and are tried before a new one.
const STALE_MAX: usize = 4;

/// A client for servers that a person has named.
#[derive(Clone)]
pub struct NamedServers {
    shared: Arc<Shared>,
}

struct Shared {
    /// There until the end.
    runtime: Option<Runtime>,
    client: Client,
    rules: Rules,
}

/// A way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verb {
    Get,
    Post,
    Delete,
}

/// A question to a named server.
pub struct Question<'a> {
    /// How it is asked.
    pub verb: Verb,
    /// Whom.
    pub target: &'a Target,
    /// What follows the target's own address, if it is not to be seen in any error or record: it holds a secret.
    pub hidden: Option<&'a str>,
    /// Header fields; their values may be secrets.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// What is sent along.
    pub body: Bytes,
    /// Time until the head of the answer is there.
    pub wait: Duration,
}

/// An answer, whose body is still to come.
pub struct Arrived {
    /// Its status.
    pub status: u16,
    /// Its header fields, names in small letters; those that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// Before the body: whose connection is closed for an answer that was not read is given to nobody meanwhile.
    using: Option<Using>,
    body: Incoming,
    shared: Arc<Shared>,
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Some bytes.
    Data(Bytes),
    /// Nothing came in time.
    Still,
    /// The body is whole.
    End,
}

impl NamedServers {
    /// Asks with `client`, within `rules`, whoever a person has named. What agents and servers name is asked for with a
    /// permit, and not here.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn dangerously_without_permits(client: Client, rules: Rules) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mcp-http")
            .enable_all()
            .build()?;
        Ok(Self { shared: Arc::new(Shared { runtime: Some(runtime), client, rules }) })
    }

    /// Reads an address: one that leads outside, or to what was opened.
    ///
    /// # Errors
    /// The rule that refuses it.
    pub fn read(&self, text: &str) -> Result<Target, Refused> {
        let target = Target::within(text, &self.shared.rules.inner)?;
        self.shared.rules.check(&target)?;
        Ok(target)
    }

    /// What is open of the inner network.
    #[must_use]
    pub fn inner(&self) -> &Inner {
        &self.shared.rules.inner
    }

    /// Asks, and gives the answer as soon as its head is there. Redirects are not followed. It ends early where
    /// `is_cancelled` is set meanwhile.
    ///
    /// # Errors
    /// If it leads inside, nobody answers in time, or the answer is framed or packed as nobody asked for.
    pub fn ask(
        &self,
        question: &Question<'_>,
        is_cancelled: &AtomicBool,
    ) -> Result<Arrived, AskError> {
        self.ask_until(question, &|| is_cancelled.load(Ordering::Relaxed))
    }

    /// The same, where it is asked now and then whether nobody waits any more.
    ///
    /// # Errors
    /// As [`NamedServers::ask`].
    pub(crate) fn ask_until(
        &self,
        question: &Question<'_>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Arrived, AskError> {
        let shared = &self.shared;
        shared.rules.check(question.target)?;
        shared.rules.check_payload(question.body.len() as u64)?;
        let fields = fields(question)?;
        let answered = shared.run(async {
            let mut asking = pin!(shared.head(question, &fields));
            let end = Instant::now() + question.wait;
            loop {
                if is_cancelled() {
                    return Err(AskError::Failed("nobody waits for the answer any more".into()));
                }
                if Instant::now() >= end {
                    let waited = question.wait.as_millis();
                    return Err(AskError::Failed(format!("no answer within {waited} ms")));
                }
                if let Ok(answered) = timeout_at(end.min(Instant::now() + LOOK), &mut asking).await
                {
                    return answered;
                }
            }
        })?;
        let (using, response) = answered?;
        let (head, body) = response.into_parts();
        headers::check_head(&head.headers, shared.client.limits().head_bytes)?;
        headers::check_framing(&head.headers)?;
        check_packing(&head.headers)?;
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(AskError::Failed("the server left HTTP".to_owned()));
        }
        let headers = texts(&head.headers);
        let (status, shared) = (head.status.as_u16(), Arc::clone(shared));
        Ok(Arrived { status, headers, body, using: Some(using), shared })
    }
}

impl Shared {
    fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, AskError> {
        let gone = || AskError::Failed("the client has ended".to_owned());
        Ok(self.runtime.as_ref().ok_or_else(gone)?.block_on(work))
    }

    /// Asks by a connection that was kept, or by a new one where that had been closed meanwhile.
    async fn head(
        &self,
        question: &Question<'_>,
        fields: &HeaderMap,
    ) -> Result<(Using, Response<Incoming>), AskError> {
        let mut others = STALE_MAX;
        loop {
            let mut request = request(question, fields)?;
            let mut using = Using::of(&mut request);
            match using.until(self.client.pool().request(request)).await {
                Ok(response) => return Ok((using, response)),
                // INVARIANT (AskedOnce): a call is sent again only if nothing of it can have gone.
                Err(_) if others > 0 && using.was_stale(question.verb != Verb::Get) => others -= 1,
                Err(error) => return Err(of_pool(&error)),
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A lookup that hangs keeps nobody waiting.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

impl Arrived {
    /// Returns the value of a header field, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// Returns whom the connection is with.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.using.as_ref().and_then(Using::address)
    }

    /// Waits so long for the next piece of the body.
    ///
    /// # Errors
    /// If it broke off.
    pub fn next(&mut self, wait: Duration) -> Result<Piece, AskError> {
        let Self { body, shared, .. } = self;
        let frame = shared.run(async { timeout(wait, body.frame()).await })?;
        match frame {
            Err(_) => Ok(Piece::Still),
            Ok(None) => {
                self.using.take().into_iter().for_each(Using::ended_well);
                Ok(Piece::End)
            }
            Ok(Some(Err(error))) => Err(AskError::Failed(why(&error).to_owned())),
            // Trailers say nothing that is read.
            Ok(Some(Ok(frame))) => {
                // Others may be given the connection from now on, whether the end is asked for or not.
                if self.body.is_end_stream() {
                    self.using.take().into_iter().for_each(Using::ended_well);
                }
                Ok(frame.into_data().map_or(Piece::Still, Piece::Data))
            }
        }
    }
}

fn request(question: &Question<'_>, fields: &HeaderMap) -> Result<Request<Full<Bytes>>, AskError> {
    let method = match question.verb {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Delete => Method::DELETE,
    };
    let address = question.target.url().as_str();
    let request = Request::builder().method(method);
    let request = match question.hidden {
        None => request.uri(address),
        Some(hidden) => {
            let whole = Zeroizing::new(format!("{}{hidden}", address.trim_end_matches('/')));
            request.uri(whole.as_str())
        }
    };
    let mut request = request.body(Full::new(question.body.clone())).map_err(|error| {
        let reason = format!("it cannot be asked for: {error}");
        Refused { rule: Rule::NotAUrl, reason }
    })?;
    *request.headers_mut() = fields.clone();
    Ok(request)
}

fn fields(question: &Question<'_>) -> Result<HeaderMap, Refused> {
    let given = question.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut fields = headers::of_caller(given)?;
    // Any of them may be a key: none is kept by what packs header fields.
    fields.values_mut().for_each(|it| it.set_sensitive(true));
    fields.insert(ACCEPT_ENCODING, UNPACKED);
    fields.entry(USER_AGENT).or_insert(AGENT);
    Ok(fields)
}

fn check_packing(fields: &HeaderMap) -> Result<(), AskError> {
    let mut codings = fields.get_all(CONTENT_ENCODING).iter();
    if codings.all(|it| it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Ok(());
    }
    let reason = "the answer is packed, for which nobody had asked: stopped";
    Err(AskError::Failed(reason.to_owned()))
}

fn texts(fields: &HeaderMap) -> Vec<(String, String)> {
    let fields = fields.iter().filter(|it| it.0 != TRANSFER_ENCODING);
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    fields.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))).collect()
}
