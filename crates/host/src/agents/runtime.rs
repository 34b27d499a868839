//! Agents as whoever brings the words of people has them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent::{
    AgentCard, Approval, Frame, ProviderHealth, Purse, Question, Reply, Runtime, Turn, TurnError,
    Watches, WorkerShown,
};
use evidence::{Clock, SystemClock};
use model::UserId;

use super::{Agents, cards};

impl Runtime for Agents {
    fn agents(&self) -> Vec<AgentCard> {
        cards::all(&self.home)
    }

    fn turn(
        &self,
        turn: &Turn,
        purse: &Arc<dyn Purse>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Reply, TurnError> {
        self.account_paid(turn, Some(Arc::clone(purse)), on_frame).map(|it| it.reply)
    }

    fn interrupt(&self, user: &str, agent: &str, session: &str) {
        if let Some(slot) = self.slots.find(user, Some(agent), session) {
            slot.stop();
        }
    }

    fn approve(&self, user: &str, approval: &Approval) -> bool {
        let Ok(by) = UserId::parse(user) else { return false };
        let found = self.slots.find(user, None, &approval.session);
        let worker = found.and_then(|it| it.worker());
        worker.is_some_and(|it| {
            it.answer(&self.gate.monitor, &approval.tool_id, approval.approved, by)
        })
    }

    fn questions(&self, user: &str, session: &str) -> Vec<Question> {
        let found = self.slots.find(user, None, session).and_then(|it| it.worker());
        let now = SystemClock.unix_seconds();
        found.map(|it| it.questions(&*self.gate.store, now)).unwrap_or_default()
    }

    fn reloaded(&self) -> Vec<String> {
        let remembers = self.remembers.read_again(&self.gate, &self.home);
        let models = self.asks.read_again(&self.gate, &self.home);
        self.generation.fetch_add(1, Ordering::AcqRel);
        let read = [("memory", remembers), ("models", models)];
        read.into_iter().filter_map(|(what, it)| Some(format!("{what}: {}", it.err()?))).collect()
    }

    fn bounded(&self, workers: usize, per_user: usize) {
        self.slots.bound(workers, per_user);
    }

    fn workers(&self) -> Vec<WorkerShown> {
        self.slots.all().iter().filter_map(|it| it.shown()).collect()
    }

    fn watched_by(&self, watcher: Arc<dyn Watches>) {
        self.watched.by(watcher);
    }

    fn providers(
        &self,
        user: &str,
        purse: &Arc<dyn Purse>,
        at_most: Duration,
    ) -> Vec<ProviderHealth> {
        self.health(user, purse, at_most)
    }

    fn close(&self, user: &str, agent: &str, session: &str) {
        if let Some(slot) = self.slots.find(user, Some(agent), session) {
            self.end_slot(&slot);
        }
    }
}
