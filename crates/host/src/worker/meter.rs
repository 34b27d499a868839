//! Questions to models that count for a turn: its own, and those that its tools ask for it.

use std::sync::Arc;

use llm::{Answer, ErrorKind, Flow, LlmError, Piece, Request, Usage};
use model::Caller;

use super::model::Asks;
use super::shared::{Current, Shared};
use crate::executor::Questions;

/// The longest answer that a model may be asked for, in tokens.
const ANSWER_TOKENS_MAX: u32 = 200_000;
/// Why nobody is asked.
pub(super) const SPENT: &str = "as much is used as may be, or the turn is over";

/// Asks, as far as the limits of the turn go, and counts what it used. Nothing if as much is used as may be: then nobody
/// was asked.
pub(super) fn metered(
    shared: &Shared,
    asks: &dyn Asks,
    who: &Caller,
    request: Request,
    on_piece: &mut dyn FnMut(Piece) -> Flow,
) -> Option<Result<Answer, LlmError>> {
    // INVARIANT (OnePurse): where there is a limit, whoever asks does so one after the other, so that none of them spends
    // what another one has spent already.
    let purses = shared.purses();
    // Whoever had to wait may find the turn over.
    let is_late = !purses.is_empty() && shared.is_over();
    if is_late || shared.is_spent() {
        shared.of_turn().over_cost |= !is_late;
        return None;
    }
    let max_tokens = [request.max_tokens, answer_max(shared)].into_iter().flatten().min();
    let request = Request { max_tokens, ..request };
    let outcome = asks.ask(who, &request, on_piece);
    // INVARIANT (FailClosed): what has no price costs more than anything, where somebody has set a limit.
    let unknown = if shared.has_cost_limit() { u64::MAX } else { 0 };
    let cost = |model: &str, usage: &Usage| asks.cost(model, usage).unwrap_or(unknown);
    match &outcome {
        Ok(answer) => shared.count(answer.usage, cost(&answer.model, &answer.usage)),
        // A question that the gate did not let out has used nothing.
        Err(error) if error.usage == Usage::default() => {}
        Err(error) => shared.count(error.usage, cost(&request.model, &error.usage)),
    }
    drop(purses);
    Some(outcome)
}

/// The longest answer in tokens, where somebody has set a limit.
fn answer_max(shared: &Shared) -> Option<u32> {
    let left = shared.tokens_left()?;
    Some(u32::try_from(left).map_or(ANSWER_TOKENS_MAX, |it| it.clamp(1, ANSWER_TOKENS_MAX)))
}

/// Asks models for the tools of a session; what that uses is the turn's that runs.
pub(super) struct Metered {
    pub(super) asks: Arc<dyn Asks>,
    pub(super) current: Current,
}

impl Questions for Metered {
    fn ask(&self, who: &Caller, request: Request) -> Result<Answer, LlmError> {
        let shared = self.current.get();
        let refused = |why: &str| Err(LlmError::new(ErrorKind::Invalid, why));
        if shared.is_over() {
            return refused(SPENT);
        }
        if !shared.may_ask_beside(shared.limits.model_calls) {
            return refused("this turn has asked the model as often as one may");
        }
        let mut on_piece = |_| if shared.is_interrupted() { Flow::Stop } else { Flow::Continue };
        let outcome = metered(&shared, &*self.asks, who, request, &mut on_piece);
        outcome.unwrap_or_else(|| refused(SPENT))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use llm::StopReason;
    use model::{AgentId, Kind, SessionId, UserId};

    use super::*;
    use crate::executor::question;
    use crate::worker::shared::{Bounds, tokens};
    use crate::worker::turn::TurnLimits;

    /// A model that uses ten tokens for each answer, or for each failure.
    #[derive(Default)]
    struct Ten {
        asked: AtomicUsize,
        fails: AtomicBool,
    }

    impl Asks for Ten {
        fn ask(
            &self,
            _: &Caller,
            request: &Request,
            _: &mut dyn FnMut(Piece) -> Flow,
        ) -> Result<Answer, LlmError> {
            assert!(request.tools.is_empty());
            self.asked.fetch_add(1, Ordering::AcqRel);
            let usage = Usage { output_tokens: 10, ..Usage::default() };
            if self.fails.load(Ordering::Acquire) {
                return Err(LlmError::new(ErrorKind::Unreachable, "broke off").after(usage));
            }
            let stop = StopReason::EndTurn;
            Ok(Answer { content: Vec::new(), stop, usage, model: "mock/m".to_owned() })
        }

        fn cost(&self, _: &str, _: &Usage) -> Option<u64> {
            None
        }
    }

    #[test]
    fn what_a_tool_asks_a_model_is_used_by_the_turn_and_ends_where_the_turn_does() {
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("me").unwrap(),
            agent: AgentId::parse("main").unwrap(),
            door: Kind::of_static("worker"),
        };
        let (model, current) = (Arc::new(Ten::default()), Current::default());
        let metered = Metered { asks: model.clone(), current: current.clone() };
        let ask = || metered.ask(&who, question(String::new(), String::new(), "why?"));
        let begin = |limits| {
            let shared = Arc::new(Shared::new(&Bounds { limits, ..Bounds::default() }));
            current.set(&shared);
            shared
        };
        let turn = begin(TurnLimits { tokens: Some(20), ..TurnLimits::default() });
        assert!(ask().is_ok());
        model.fails.store(true, Ordering::Release);
        assert!(ask().is_err());
        assert_eq!(tokens(&turn.of_turn().usage), 20, "a failure is used, too");
        assert_eq!(ask().unwrap_err().detail, SPENT);
        assert!(turn.of_turn().over_cost);
        // As often as one may.
        model.fails.store(false, Ordering::Release);
        begin(TurnLimits { model_calls: 1, ..TurnLimits::default() });
        assert!(ask().is_ok());
        assert!(ask().unwrap_err().detail.contains("as often as one may"));
        // A turn that is over asks nobody.
        begin(TurnLimits::default()).finish();
        assert!(ask().is_err());
        assert_eq!(model.asked.load(Ordering::Acquire), 3);
    }
}
