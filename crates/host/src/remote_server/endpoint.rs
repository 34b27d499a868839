//! The endpoint of a server: requests with credentials, redirects within its origin, and one renewal where it says 401.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ::mcp::http::client::oauth::Challenge;
use ::mcp::http::client::{Answer, Request, Web, WebError};
use egress::{Arrived, AskError};
use scan::net::Target;

use super::credentials::{Credentials, Filled};
use crate::named::NamedWay;
use crate::named_exchange::{web_answer, web_error};

/// Redirects that are followed for one request.
const REDIRECTS_MAX: usize = 3;

/// A way to one server, with its credentials.
pub(super) struct Endpoint {
    pub(super) way: NamedWay,
    /// Where the endpoint is by now.
    pub(super) target: Mutex<Target>,
    pub(super) credentials: Credentials,
    /// Was anybody told what is missing?
    pub(super) has_told: AtomicBool,
    /// Was it ever there?
    pub(super) has_answered: AtomicBool,
}

impl Web for Endpoint {
    fn send(&self, request: &Request, is_cancelled: &AtomicBool) -> Result<Answer, WebError> {
        let mut may_renew = true;
        let mut redirects = 0;
        loop {
            let target = self.target();
            let fields = self.credentials.fields().map_err(|error| self.tell(error))?;
            let arrived = self.ask(request, &target, &fields, is_cancelled)?;
            match arrived.status {
                301 | 302 | 303 | 307 | 308 if redirects < REDIRECTS_MAX => {
                    redirects += 1;
                    self.move_to(&target, &arrived).map_err(|error| self.tell(error))?;
                }
                401 if may_renew => {
                    may_renew = false;
                    if !self.credentials.renew(&fields, &self.way)? {
                        return Err(self.tell(self.login_needed(&arrived)));
                    }
                }
                401 => return Err(self.tell(self.login_needed(&arrived))),
                403 if challenge(&arrived).is_some() => {
                    return Err(self.tell(self.login_needed(&arrived)));
                }
                _ => return Ok(web_answer(arrived)),
            }
        }
    }
}

impl Endpoint {
    fn target(&self) -> Target {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(
        &self,
        request: &Request,
        target: &Target,
        fields: &Filled,
        is_cancelled: &AtomicBool,
    ) -> Result<Arrived, WebError> {
        let theirs = fields.0.iter().map(|(name, value)| (name.clone(), value.clone()));
        let sent = self.way.send(request, target, theirs, is_cancelled);
        let arrived = sent.map_err(|error| {
            let is_refused = matches!(error, AskError::Refused(_));
            let error = web_error(error);
            // One that was there before comes back by itself, or not.
            let is_missing = is_refused || !self.has_answered.load(Ordering::SeqCst);
            if is_missing { self.tell(error) } else { error }
        })?;
        if !self.has_answered.swap(true, Ordering::SeqCst) {
            self.has_told.store(false, Ordering::SeqCst);
        }
        Ok(arrived)
    }

    /// Moves the endpoint within its origin. Credentials are for that origin, so nothing leads out of it; where a redirect
    /// leads is judged all the same, and told.
    fn move_to(&self, from: &Target, arrived: &Arrived) -> Result<(), WebError> {
        let location = arrived.header("location").unwrap_or_default();
        let next = from.join_within(location, self.way.servers().inner()).map_err(|refused| {
            WebError(format!("it redirects elsewhere: {} ({})", refused.reason, refused.rule))
        })?;
        if next.url().origin() != from.url().origin() {
            let why = format!(
                "it redirects to `{}`, which is another origin; name that address if you mean it",
                super::logins::origin(&next)
            );
            return Err(WebError(why));
        }
        if !matches!(arrived.status, 307 | 308) {
            let why = "it redirects in a way that drops what it was sent; name the new address";
            return Err(WebError(why.to_owned()));
        }
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    fn login_needed(&self, arrived: &Arrived) -> WebError {
        let Credentials { server, url, headers, login, .. } = &self.credentials;
        let status = arrived.status;
        if !headers.is_empty() {
            let why = "it refuses what it was sent as credentials";
            return WebError(format!("{why} (HTTP {status}); look at its `headers`"));
        }
        if !login {
            let why = "wants to know who asks, and is sent nothing that says so";
            return WebError(format!(
                "it {why} (HTTP {status}); name it in its `headers`, or `login: true`"
            ));
        }
        let scope = challenge(arrived).and_then(|it| it.scope).filter(|_| status == 403);
        let more = scope.map(|it| format!(" --scope '{}'", ::mcp::shown::log_value(&it)));
        let login = format!("lazaret mcp login {server} --url {url}{}", more.unwrap_or_default());
        WebError(format!("it wants you to log in (HTTP {status}): `{login}`"))
    }

    /// Tells whoever gives it its secrets, once: some clients show no more than that a server does not work.
    fn tell(&self, error: WebError) -> WebError {
        if !self.has_told.swap(true, Ordering::SeqCst) {
            self.credentials.keys.tell(&self.credentials.server, &error.to_string());
        }
        error
    }
}

fn challenge(arrived: &Arrived) -> Option<Challenge> {
    let challenges = arrived.headers.iter().filter(|it| it.0 == "www-authenticate");
    Challenge::parse(challenges.map(|it| it.1.as_str()))
}
