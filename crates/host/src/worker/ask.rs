//! Questions of a worker to a model: it gives the conversation, and nothing else.

use std::sync::Arc;
use std::thread;

use agent::{MESSAGES_MAX, PARALLEL_CALLS_MAX, Purpose, ToWorker};
use llm::{Answer, Block, ErrorKind, Flow, Message, Request, Usage};

use super::shared::{Shared, add};
use super::start::Inner;
use super::turn::TurnLimits;

/// Characters of one message.
const MESSAGE_CHARS_MAX: usize = 200_000;

/// Asks the model, beside whatever else goes on.
pub(super) fn ask(
    worker: &Arc<Inner>,
    shared: &Arc<Shared>,
    id: u64,
    purpose: Purpose,
    messages: Vec<Message>,
    limits: TurnLimits,
) {
    let refuse = |why: &str| no_answer(worker, id, ErrorKind::Invalid, why);
    if messages.len() > MESSAGES_MAX || messages.iter().any(|it| chars(it) > MESSAGE_CHARS_MAX) {
        return refuse("the conversation is too long for a model");
    }
    if limits.cost.is_some_and(|most| shared.of_turn().cost >= most) {
        shared.of_turn().over_cost = true;
        return refuse("the turn has cost as much as it may");
    }
    if !shared.may_ask(limits.model_calls) {
        return refuse("this turn has asked the model as often as one may");
    }
    let Some(at_work) = shared.work(PARALLEL_CALLS_MAX + 1) else {
        shared.has_asked();
        return refuse("too much goes on at once");
    };
    let (its, of_turn) = (Arc::clone(worker), Arc::clone(shared));
    let asked = thread::Builder::new().name("ask".to_owned()).spawn(move || {
        asking(&its, &of_turn, id, purpose, messages, limits.cost.is_some());
        // If the worker has ended meanwhile, nobody is left to hear that its session could not be ended in order.
        let _ = its.let_go();
        drop(at_work);
    });
    if asked.is_err() {
        shared.has_asked();
        refuse("the system has no thread left");
    }
}

fn asking(
    worker: &Inner,
    shared: &Shared,
    id: u64,
    purpose: Purpose,
    messages: Vec<Message>,
    is_limited: bool,
) {
    let request = request(worker, purpose, messages);
    let mut on_piece = |piece: llm::Piece| {
        let stopped = shared.is_interrupted();
        let said = worker.link.say(&ToWorker::Piece { id, piece: piece.into() });
        if stopped || said.is_err() { Flow::Stop } else { Flow::Continue }
    };
    let outcome = worker.asks.ask(&worker.who, &request, &mut on_piece);
    // INVARIANT (FailClosed): what has no price costs more than anything, where somebody has set a limit.
    let unknown = if is_limited { u64::MAX } else { 0 };
    let cost = |model: &str, usage: &Usage| worker.asks.cost(model, usage).unwrap_or(unknown);
    // Before the answer is told: the next question may come at once.
    shared.has_asked();
    match outcome {
        Ok(answer) => {
            let mut turn = shared.of_turn();
            add(&mut turn.usage, answer.usage);
            turn.cost = turn.cost.saturating_add(cost(&answer.model, &answer.usage));
            if purpose == Purpose::Step {
                turn.answer = text(&answer);
            }
            drop(turn);
            let _ = worker.link.say(&ToWorker::Answer { id, answer });
        }
        Err(error) => {
            let detail = agent::clean(&error.detail, super::ERROR_CHARS_MAX);
            let mut turn = shared.of_turn();
            add(&mut turn.usage, error.usage);
            // A question that the gate did not let out has used nothing.
            if error.usage != Usage::default() {
                turn.cost = turn.cost.saturating_add(cost(&request.model, &error.usage));
            }
            turn.failed = Some((error.kind, detail.clone()));
            drop(turn);
            no_answer(worker, id, error.kind, &detail);
        }
    }
}

/// INVARIANT (ParentAsks): all but the conversation is the parent's.
fn request(worker: &Inner, purpose: Purpose, messages: Vec<Message>) -> Request {
    match purpose {
        Purpose::Step => Request {
            model: worker.model.clone(),
            system: super::shared::held(&worker.system).clone(),
            messages,
            tools: worker.offer.tools.clone(),
            max_tokens: None,
            temperature: None,
        },
        Purpose::Summary => Request {
            model: worker.fast.clone(),
            system: agent::prompt::SUMMARY.to_owned(),
            messages,
            tools: Vec::new(),
            max_tokens: None,
            temperature: None,
        },
    }
}

/// What the model said, if that is an answer and no call.
fn text(answer: &Answer) -> Option<String> {
    let mut text = String::new();
    for block in &answer.content {
        match block {
            Block::Text { text: more } => text.push_str(more),
            Block::ToolUse { .. } => return None,
            Block::ToolResult { .. } => {}
        }
    }
    Some(text)
}

fn no_answer(worker: &Inner, id: u64, kind: ErrorKind, why: &str) {
    let (code, message) = (kind.as_str().to_owned(), why.to_owned());
    let _ = worker.link.say(&ToWorker::NoAnswer { id, code, message });
}

fn chars(message: &Message) -> usize {
    let of = |it: &Block| match it {
        Block::Text { text } => text.chars().count(),
        Block::ToolUse { input, .. } => input.to_string().chars().count(),
        Block::ToolResult { content, .. } => content.chars().count(),
    };
    message.content.iter().map(of).sum()
}
