//! Questions of a worker to a model: it gives the conversation, and nothing else.

use std::sync::Arc;
use std::thread;

use agent::{MESSAGES_MAX, PARALLEL_CALLS_MAX, Purpose, ToWorker};
use llm::{Answer, Block, ErrorKind, Flow, Message, Request};

use super::meter::metered;
use super::shared::Shared;
use super::start::Inner;

/// Characters of one message.
const MESSAGE_CHARS_MAX: usize = 200_000;

/// Asks the model, beside whatever else goes on.
pub(super) fn ask(
    worker: &Arc<Inner>,
    shared: &Arc<Shared>,
    id: u64,
    purpose: Purpose,
    messages: Vec<Message>,
) {
    let refuse = |why: &str| no_answer(worker, id, ErrorKind::Invalid, why);
    // A worker that was told to end need not listen.
    if shared.is_over() {
        return refuse("the turn is over");
    }
    if messages.len() > MESSAGES_MAX || messages.iter().any(|it| chars(it) > MESSAGE_CHARS_MAX) {
        let why = "the conversation is too long for a model";
        shared.of_turn().failed = Some((ErrorKind::ContextTooLong, why.to_owned()));
        return no_answer(worker, id, ErrorKind::ContextTooLong, why);
    }
    if !shared.may_ask(shared.limits.model_calls) {
        return refuse("this turn has asked the model as often as one may");
    }
    let Some(at_work) = shared.work(PARALLEL_CALLS_MAX + 1) else {
        shared.has_asked();
        return refuse("too much goes on at once");
    };
    let (its, of_turn) = (Arc::clone(worker), Arc::clone(shared));
    let asked = thread::Builder::new().name("ask".to_owned()).spawn(move || {
        asking(&its, &of_turn, id, purpose, messages);
        // If the worker has ended meanwhile, nobody is left to hear that its session could not be ended in order.
        let _ = its.let_go();
        drop(at_work);
    });
    if asked.is_err() {
        shared.has_asked();
        refuse("the system has no thread left");
    }
}

fn asking(worker: &Inner, shared: &Shared, id: u64, purpose: Purpose, messages: Vec<Message>) {
    let request = request(worker, purpose, messages);
    let mut on_piece = |piece: llm::Piece| {
        let stopped = shared.is_interrupted();
        let said = worker.link.say(&ToWorker::Piece { id, piece: piece.into() });
        if stopped || said.is_err() { Flow::Stop } else { Flow::Continue }
    };
    let outcome = metered(shared, &*worker.asks, &worker.who, request, &mut on_piece);
    // Before the answer is told: the next question may come at once.
    shared.has_asked();
    match outcome {
        Err(why) => no_answer(worker, id, ErrorKind::Invalid, &why.message),
        Ok(Ok(answer)) => {
            let mut turn = shared.of_turn();
            // A conversation that was too long was made shorter.
            turn.failed = None;
            if purpose == Purpose::Step {
                turn.answer = text(&answer);
            }
            drop(turn);
            let _ = worker.link.say(&ToWorker::Answer { id, answer });
        }
        Ok(Err(error)) => {
            let detail = agent::clean(&error.detail, super::ERROR_CHARS_MAX);
            shared.of_turn().failed = Some((error.kind, detail.clone()));
            no_answer(worker, id, error.kind, &detail);
        }
    }
}

/// INVARIANT (ParentAsks): all but the conversation is the parent's.
fn request(worker: &Inner, purpose: Purpose, messages: Vec<Message>) -> Request {
    match purpose {
        Purpose::Step => Request {
            model: worker.model.clone(),
            system: super::shared::held(&worker.instructions).text.clone(),
            messages,
            tools: worker.offer.tools.clone(),
            max_tokens: None,
            temperature: None,
            effort: worker.offer.effort(),
        },
        Purpose::Summary => Request {
            model: worker.fast.clone(),
            system: agent::prompt::SUMMARY.to_owned(),
            messages,
            tools: Vec::new(),
            max_tokens: None,
            temperature: None,
            effort: None,
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
