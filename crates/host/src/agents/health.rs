//! How the providers of models are: each is asked something short, through the gate, in a session of the host's own.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Estimate, ProviderHealth, Purse};
use llm::{Block, Flow, Message, Request, Role};
use model::{AgentId, Caller, Kind, UserId};
use monitor::Opening;

use super::{Agents, new_session};
use crate::worker::Asks;

/// What is asked, so that the answer is short.
const QUESTION: &str = "Answer with the one word: ok";
/// The longest answer that is wanted, in tokens: providers take no fewer.
const ANSWER_TOKENS: u32 = 16;
/// The agent in whose name it is asked.
const AGENT: &str = "health";

/// Models that are being asked. One that does not answer is not asked again before it has.
pub(super) type UnderWay = Arc<Mutex<BTreeSet<String>>>;

impl Agents {
    /// Asks a model of each provider, side by side.
    pub(super) fn health(
        &self,
        user: &str,
        purse: &Arc<dyn Purse>,
        at_most: Duration,
    ) -> Vec<ProviderHealth> {
        let begun = Instant::now();
        let (tell, told) = mpsc::channel();
        let mut found: Vec<ProviderHealth> = Vec::new();
        let mut waiting: BTreeSet<String> = BTreeSet::new();
        for model in self.asks.one_of_each() {
            let Some(who) = self.nobody(user) else { continue };
            if !held(&self.probed).insert(model.clone()) {
                found.push(state(model, "slow", begun));
                continue;
            }
            waiting.insert(model.clone());
            let gate = Arc::clone(&self.gate);
            let (asks, purse) = (Arc::clone(&self.asks), Arc::clone(purse));
            let (tell, probed, asked) = (tell.clone(), Arc::clone(&self.probed), model.clone());
            let ask = move || {
                let opened = gate.monitor.open_session(Opening::of_one_person(who.clone()));
                let word = match opened {
                    Ok(()) => one(&*asks, &who, &asked, &purse),
                    Err(_) => "not_asked",
                };
                // The session has read nothing that matters.
                let _ = gate.monitor.end_session(&who);
                held(&probed).remove(&asked);
                // Whoever wanted to know may have gone.
                let _ = tell.send(state(asked, word, begun));
            };
            if thread::Builder::new().name("health".to_owned()).spawn(ask).is_err() {
                held(&self.probed).remove(&model);
                waiting.remove(&model);
                found.push(state(model, "not_asked", begun));
            }
        }
        drop(tell);
        while !waiting.is_empty() {
            match told.recv_timeout(at_most.saturating_sub(begun.elapsed())) {
                Ok(it) => {
                    waiting.remove(&it.model);
                    found.push(it);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        found.extend(waiting.into_iter().map(|it| state(it, "slow", begun)));
        found.sort_by(|one, other| one.model.cmp(&other.model));
        found
    }

    /// A session of nobody's.
    fn nobody(&self, user: &str) -> Option<Caller> {
        Some(Caller {
            session: new_session().ok()?,
            user: UserId::parse(user).ok()?,
            agent: AgentId::parse(AGENT).ok()?,
            door: Kind::of_static("health"),
        })
    }
}

/// Asks one model, and pays for it.
fn one(asks: &dyn Asks, who: &Caller, model: &str, purse: &Arc<dyn Purse>) -> &'static str {
    let said = vec![Block::Text { text: QUESTION.to_owned() }];
    let request = Request {
        model: model.to_owned(),
        system: String::new(),
        messages: vec![Message { role: Role::User, content: said }],
        tools: Vec::new(),
        max_tokens: Some(ANSWER_TOKENS),
        temperature: None,
        effort: None,
    };
    let most = Estimate {
        input_tokens: request.tokens_at_most(),
        output_tokens: ANSWER_TOKENS.into(),
        price: asks.price(model),
    };
    let Ok(aside) = purse.before(&most) else { return "not_asked" };
    let outcome = asks.ask_until(who, &request, &|| false, &mut |_| Flow::Continue);
    let (used, word) = match &outcome {
        Ok(answer) => (answer.usage, "ok"),
        Err(error) => (error.usage, error.kind.as_str()),
    };
    purse.after(aside, &used, asks.price(model));
    word
}

fn state(model: String, state: &'static str, begun: Instant) -> ProviderHealth {
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    ProviderHealth { model, state, ms }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
