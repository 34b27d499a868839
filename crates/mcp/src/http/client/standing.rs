//! The standing stream of a legacy server: what it says without being asked.

use super::fields::{EVENTS, LAST_EVENT};
use super::limits::{
    EVENT_BYTES_MAX, HANDSHAKE_WAIT, IDLE_WAIT, LOOK, RECONNECTS_MAX, RETRY_MAX, RETRY_MIN,
};
use super::link::Shared;
use super::sse::Parser;
use super::{Answer, Piece, Request, Verb};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// What is kept from one stream to the next.
#[derive(Default)]
struct Resumed {
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Shared {
    /// Opens the standing stream, where the server offers one, and keeps it open. One for each session.
    pub(super) fn stand(self: &Arc<Self>) {
        let (shared, generation) = (Arc::clone(self), self.conversation().generation);
        // Without it the server is only less talkative.
        let _ = thread::Builder::new()
            .name("mcp-http-stand".to_owned())
            .spawn(move || shared.listen(generation));
    }

    fn listen(&self, generation: u64) {
        let mut resumed = Resumed::default();
        let mut fruitless = 0;
        while fruitless <= RECONNECTS_MAX && self.is_standing(generation) {
            let Some(answer) = self.open_stream(&resumed) else { return };
            let heard = self.listen_once(answer, generation, &mut resumed);
            fruitless = if heard { 0 } else { fruitless + 1 };
            let wait = resumed.retry.unwrap_or(RETRY_MIN).saturating_mul(1 << fruitless.min(6));
            self.sleep(wait.min(RETRY_MAX));
        }
    }

    fn is_standing(&self, generation: u64) -> bool {
        !self.has_ended.load(Ordering::SeqCst) && self.conversation().generation == generation
    }

    /// `None` where the server offers no such stream, or none any more.
    fn open_stream(&self, resumed: &Resumed) -> Option<Answer> {
        let mut headers = self.conversation().legacy();
        headers.push(("accept", EVENTS.to_owned()));
        headers.extend(resumed.last_id.iter().map(|it| (LAST_EVENT, it.clone())));
        let request = Request {
            verb: Verb::Get,
            headers,
            parameters: Vec::new(),
            body: Vec::new(),
            wait: HANDSHAKE_WAIT,
        };
        let answer = self.web.send(&request, &self.has_ended).ok()?;
        (answer.status == 200 && answer.media_type() == EVENTS).then_some(answer)
    }

    /// Reads one stream to its end; `true` where a message came.
    fn listen_once(&self, mut answer: Answer, generation: u64, resumed: &mut Resumed) -> bool {
        let mut parser = Parser::new(EVENT_BYTES_MAX);
        let (mut heard, mut last) = (false, Instant::now());
        while self.is_standing(generation) {
            let data = match answer.body.next(LOOK) {
                Ok(Piece::Data(data)) => data,
                Ok(Piece::Still) if last.elapsed() < IDLE_WAIT => continue,
                Ok(Piece::Still | Piece::End) | Err(_) => break,
            };
            last = Instant::now();
            let mut messages = Vec::new();
            let taken = parser.take(&data, &mut messages);
            heard |= !messages.is_empty();
            if !messages.iter().all(|it| self.hand_over(it)) || taken.is_err() {
                break;
            }
        }
        resumed.last_id = parser.last_id().map(str::to_owned).or(resumed.last_id.take());
        resumed.retry = parser.retry().or(resumed.retry);
        heard
    }

    pub(super) fn sleep(&self, wait: Duration) {
        let end = Instant::now() + wait.min(RETRY_MAX);
        while Instant::now() < end && !self.has_ended.load(Ordering::SeqCst) {
            thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
        }
    }
}
