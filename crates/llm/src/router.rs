//! Several models behind one question: tried in turn, and providers that fail are left alone for a while.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Provider;
use crate::answer::{Answer, Flow, Piece, Usage};
use crate::attempt::{Attempt, Failure};
use crate::error::{ErrorKind, LlmError};
use crate::request::Request;

/// How long a provider is left alone after it failed once.
pub const REST_MIN: Duration = Duration::from_secs(30);
/// The longest that one is left alone, whatever it asks for.
pub const REST_MAX: Duration = Duration::from_secs(300);

/// One model of a chain.
pub struct Link<'a> {
    /// Who runs it.
    pub provider: &'a str,
    /// What that provider calls it.
    pub model: &'a str,
    /// How it is asked.
    pub attempt: &'a dyn Attempt,
}

/// Models that are tried in turn.
pub struct Chain<'a> {
    /// The models, the first choice first.
    pub links: Vec<Link<'a>>,
    /// Which providers are left alone.
    pub cooldowns: &'a Cooldowns,
}

impl Chain<'_> {
    /// Asks the first that is not left alone; where it fails in a way in which another may not, and nothing of its
    /// answer was handed over, the next. `on_failed` hears of each failure by the name `provider/model`. What those that
    /// failed have used is counted with the answer, or with the error.
    ///
    /// # Errors
    /// If none of them answers: what the last one said.
    pub fn ask_telling(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
        on_failed: &mut dyn FnMut(&str, &LlmError),
    ) -> Result<Answer, LlmError> {
        let (mut last, mut used, mut failed) = (None, Usage::default(), Vec::new());
        for link in &self.links {
            let name = format!("{}/{}", link.provider, link.model);
            if let Some(rest) = self.rest_of(link) {
                let seconds = rest.as_secs().saturating_add(1);
                let detail =
                    format!("`{}` failed and is left alone for {seconds} s", link.provider);
                last.get_or_insert(LlmError::new(ErrorKind::Overloaded, detail));
                continue;
            }
            let mut handed = false;
            let mut pass = |piece: Piece| {
                handed = true;
                on_piece(piece)
            };
            let request = Request { model: link.model.to_owned(), ..request.clone() };
            match link.attempt.attempt(&request, &mut pass) {
                Ok(answer) => {
                    self.cooldowns.answered(link.provider);
                    let usage = used.and(answer.usage);
                    return Ok(Answer { model: name, usage, failed, ..answer });
                }
                Err(failure) => {
                    on_failed(&name, &failure.error);
                    if failure.error.usage != Usage::default() {
                        used = used.and(failure.error.usage);
                        failed.push(name);
                    }
                    if failure.passes_on {
                        self.cooldowns.failed(link.provider, failure.retry_after, Instant::now());
                    }
                    // Whoever reads it may have several.
                    let detail =
                        format!("{}/{}: {}", link.provider, link.model, failure.error.detail);
                    let error = LlmError { detail, ..failure.error };
                    // What was handed over cannot be taken back: a second answer behind it would be a lie.
                    if handed || !failure.passes_on {
                        return Err(error.after(used));
                    }
                    last = Some(error);
                }
            }
        }
        let none = || LlmError::new(ErrorKind::Invalid, "no model is configured");
        Err(last.unwrap_or_else(none).after(used))
    }

    /// How long a link is still left alone. An only choice is asked all the same, unless it said itself when to
    /// come again.
    fn rest_of(&self, link: &Link<'_>) -> Option<Duration> {
        let rest = self.cooldowns.rest(link.provider, Instant::now())?;
        (self.links.len() > 1 || rest.was_asked_for).then_some(rest.left)
    }
}

impl Provider for Chain<'_> {
    fn ask(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, LlmError> {
        self.ask_telling(request, on_piece, &mut |_, _| ())
    }
}

impl Attempt for Chain<'_> {
    fn attempt(
        &self,
        request: &Request,
        on_piece: &mut dyn FnMut(Piece) -> Flow,
    ) -> Result<Answer, Failure> {
        let failed = |error| Failure { error, passes_on: false, retry_after: None };
        self.ask(request, on_piece).map_err(failed)
    }
}

/// Which providers are left alone, and until when.
#[derive(Debug, Default)]
pub struct Cooldowns {
    /// By name: there are as many as the settings name.
    rests: Mutex<BTreeMap<String, Rest>>,
}

#[derive(Clone, Copy, Debug)]
struct Rest {
    until: Instant,
    length: Duration,
    was_asked_for: bool,
}

/// What is left of a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestLeft {
    /// How long.
    pub left: Duration,
    /// Whether the provider itself said so.
    pub was_asked_for: bool,
}

impl Cooldowns {
    /// What is left of the rest of a provider, if it has one.
    pub fn rest(&self, provider: &str, now: Instant) -> Option<RestLeft> {
        let rest = *self.rests().get(provider)?;
        let left = rest.until.saturating_duration_since(now);
        (!left.is_zero()).then_some(RestLeft { left, was_asked_for: rest.was_asked_for })
    }

    /// Leaves a provider alone: longer each time until it answers, and as long as it asks for.
    pub fn failed(&self, provider: &str, retry_after: Option<Duration>, now: Instant) {
        let mut rests = self.rests();
        let before = rests.get(provider).map(|it| it.length);
        let length = before.map_or(REST_MIN, |it| it.saturating_mul(2)).min(REST_MAX);
        let rest = retry_after.map_or(length, |it| it.min(REST_MAX));
        let was_asked_for = retry_after.is_some();
        let until = now.checked_add(rest).unwrap_or(now);
        rests.insert(provider.to_owned(), Rest { until, length, was_asked_for });
    }

    /// A provider answered: the next failure is its first again.
    pub fn answered(&self, provider: &str) {
        self.rests().remove(provider);
    }

    fn rests(&self) -> MutexGuard<'_, BTreeMap<String, Rest>> {
        self.rests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
