//! Questions to models that count for a turn: its own, and those that its tools ask for it.

use std::sync::Arc;

use agent::{Aside, Estimate, NotPaid, Purse, TurnErrorCode};
use llm::{Answer, ErrorKind, Flow, LlmError, Piece, Request, Usage};
use model::Caller;

use super::model::Asks;
use super::shared::{Current, Shared};
use crate::executor::Questions;

/// The longest answer that a model may be asked for, in tokens.
const ANSWER_TOKENS_MAX: u32 = 200_000;
/// Why nobody is asked.
const SPENT: &str = "as much is used as may be, or the turn is over";

/// Asks, as far as the limits of the turn and whoever pays for it go, and counts what it used.
///
/// # Errors
/// If as much is used as may be: then nobody was asked.
pub(crate) fn metered(
    shared: &Shared,
    asks: &dyn Asks,
    who: &Caller,
    request: Request,
    on_piece: &mut dyn FnMut(Piece) -> Flow,
) -> Result<Result<Answer, LlmError>, NotPaid> {
    // INVARIANT (OnePurse): where there is a limit, whoever asks does so one after the other, so that none of them spends
    // what another one has spent already.
    let purses = shared.purses();
    let spent = || NotPaid::new(TurnErrorCode::BudgetExceeded, SPENT);
    // Whoever had to wait may find the turn over.
    if !purses.is_empty() && shared.is_over() {
        return Err(spent());
    }
    let too_much = |why: NotPaid| {
        shared.of_turn().over = Some(why.clone());
        why
    };
    if shared.is_spent() {
        return Err(too_much(spent()));
    }
    let max_tokens = [request.max_tokens, answer_max(shared)].into_iter().flatten().min();
    let request = within_cost(shared, asks, Request { max_tokens, ..request }).map_err(too_much)?;
    let (paid, request) = pay(shared, asks, request).map_err(too_much)?;
    let outcome = asks.ask_until(who, &request, &|| shared.is_interrupted(), on_piece);
    let (usage, price) = match &outcome {
        Ok(answer) => (answer.usage, asks.price_of(answer)),
        Err(error) => (error.usage, asks.price(&request.model)),
    };
    if let Some((purse, aside)) = paid {
        purse.after(aside, &usage, price);
    }
    // A question that the gate did not let out has used nothing.
    if outcome.is_ok() || usage != Usage::default() {
        // INVARIANT (FailClosed): what has no price costs more than anything, where somebody has set a limit.
        let unknown = if shared.has_cost_limit() { u64::MAX } else { 0 };
        shared.count(usage, price.map_or(unknown, |it| it.cost(&usage)));
    }
    drop(purses);
    Ok(outcome)
}

/// The same question, with an answer that is no longer than what the turn may still cost is enough for. A model without a price is asked
/// once.
fn within_cost(shared: &Shared, asks: &dyn Asks, request: Request) -> Result<Request, NotPaid> {
    let (left, price) = (shared.cost_left(), asks.price(&request.model));
    let (Some(left), Some(price)) = (left, price) else { return Ok(request) };
    let most = Estimate::of(&request, Some(price)).asked_of(asks.models_of(&request.model));
    let question = price.cost(&Usage { input_tokens: most.input_tokens, ..Usage::default() });
    let enough = left.checked_sub(question).map(|it| price.answer_for(it)).filter(|it| *it > 0);
    let Some(enough) = enough else {
        let dollars = |micro: u64| format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
        let why = format!(
            "the next question alone may cost {} dollars, and of what the turn may cost {} are left",
            dollars(question),
            dollars(left)
        );
        return Err(NotPaid::new(TurnErrorCode::BudgetExceeded, why));
    };
    let enough = u32::try_from(enough).unwrap_or(u32::MAX);
    let max_tokens = request.max_tokens.map_or(enough, |it| it.min(enough));
    Ok(Request { max_tokens: Some(max_tokens.min(ANSWER_TOKENS_MAX)), ..request })
}

/// What was set aside for a question, and by whom.
type Paid = Option<(Arc<dyn Purse>, Aside)>;

/// Has a question paid before it is asked, where somebody pays. Its answer is at most as long as that is enough for.
fn pay(shared: &Shared, asks: &dyn Asks, request: Request) -> Result<(Paid, Request), NotPaid> {
    let Some(purse) = shared.payer() else { return Ok((None, request)) };
    let most = Estimate::of(&request, asks.price(&request.model));
    let most = most.asked_of(asks.models_of(&request.model));
    let aside = purse.before(&most)?;
    let enough = aside.output_tokens.map(|it| u32::try_from(it).unwrap_or(ANSWER_TOKENS_MAX));
    let max_tokens = [request.max_tokens, enough].into_iter().flatten().min();
    Ok((Some((purse, aside)), Request { max_tokens, ..request }))
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
        outcome.unwrap_or_else(|why| refused(&why.message))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use llm::StopReason;
    use model::{AgentId, Kind, SessionId, UserId};

    use super::*;
    use crate::executor::question;
    use crate::models::Cancelled;
    use crate::worker::shared::{Bounds, tokens};
    use crate::worker::turn::TurnLimits;

    /// A model that uses ten tokens for each answer, or for each failure.
    #[derive(Default)]
    struct Ten {
        asked: AtomicUsize,
        fails: AtomicBool,
        price: Option<llm::Price>,
    }

    impl Asks for Ten {
        fn ask_until(
            &self,
            _: &Caller,
            request: &Request,
            _: Cancelled<'_>,
            _: &mut dyn FnMut(Piece) -> Flow,
        ) -> Result<Answer, LlmError> {
            assert!(request.tools.is_empty());
            self.asked.fetch_add(1, Ordering::AcqRel);
            let usage = Usage { output_tokens: 10, ..Usage::default() };
            if self.fails.load(Ordering::Acquire) {
                return Err(LlmError::new(ErrorKind::Unreachable, "broke off").after(usage));
            }
            let stop = StopReason::EndTurn;
            let (content, failed) = (Vec::new(), Vec::new());
            Ok(Answer { content, stop, usage, model: "mock/m".to_owned(), failed })
        }

        fn price(&self, _: &str) -> Option<llm::Price> {
            self.price
        }
    }

    #[test]
    fn the_first_question_of_a_turn_is_bounded_by_what_it_may_cost_too() {
        let price =
            llm::Price { input: 3_000_000, output: 15_000_000, cache_read: 0, cache_write: 0 };
        let model = Ten { price: Some(price), ..Ten::default() };
        let asked = || question(String::new(), String::new(), "why?");
        let question_costs = price.cost(&Usage {
            input_tokens: Estimate::of(&asked(), Some(price)).input_tokens,
            ..Usage::default()
        });
        let bounded = |cost: u64| {
            let limits = TurnLimits { cost: Some(cost), ..TurnLimits::default() };
            let shared = Shared::new(&Bounds { limits, ..Bounds::default() });
            within_cost(&shared, &model, asked()).map(|it| it.max_tokens)
        };
        let refused = bounded(question_costs).unwrap_err();
        assert_eq!(refused.code, TurnErrorCode::BudgetExceeded);
        assert_eq!(bounded(question_costs + 15 * 7).unwrap(), Some(7));
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("me").unwrap(),
            agent: AgentId::parse("main").unwrap(),
            door: Kind::of_static("worker"),
        };
        let limits = TurnLimits { cost: Some(1), ..TurnLimits::default() };
        let shared = Shared::new(&Bounds { limits, ..Bounds::default() });
        assert!(metered(&shared, &model, &who, asked(), &mut |_| Flow::Continue).is_err());
        assert_eq!(model.asked.load(Ordering::Acquire), 0, "nobody was asked");
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
        assert!(turn.of_turn().over.is_some());
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
