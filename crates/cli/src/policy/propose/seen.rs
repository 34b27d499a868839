//! What each agent has done, counted.

use std::collections::BTreeMap;

use model::EffectKind;
use policy::{FactSheet, Op};

use super::super::recorded::Found;

/// How often each text was seen.
pub(super) type Counts = BTreeMap<String, u64>;

/// What was done, by agent.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) agents: BTreeMap<String, Agent>,
    /// Calls that passed because somebody only watched.
    pub(super) observed: u64,
    /// Decisions that could not be read.
    unread: usize,
}

/// What one agent has done.
#[derive(Default)]
pub(super) struct Agent {
    pub(super) name: String,
    /// Calls that were let through.
    pub(super) calls: u64,
    /// Those of them that a person had said yes to, or that passed because somebody only watched.
    pub(super) lifted: u64,
    /// Tools, by what they did.
    pub(super) tools: BTreeMap<EffectKind, Counts>,
    pub(super) programs: Counts,
    pub(super) commands: Counts,
    pub(super) hosts: Counts,
    pub(super) recipients: Counts,
    /// Paths, in the order of [`Op::ALL`].
    pub(super) paths: [Counts; 4],
    /// Calls of which something could not be read.
    pub(super) unread: u64,
    /// Calls that name more than a policy is asked about.
    pub(super) cut: u64,
}

impl Seen {
    /// Counts the calls that were let through.
    pub(super) fn of(found: &Found) -> Self {
        let mut seen =
            Self { agents: BTreeMap::new(), observed: found.observed, unread: found.unread.len() };
        for it in found.decisions.iter().filter(|it| it.decision.happens()) {
            let agent = seen.agents.entry(it.agent.clone()).or_default();
            agent.name.clone_from(&it.agent);
            agent.lifted += u64::from(it.is_lifted());
            agent.take(&it.sheet);
        }
        seen
    }

    /// What whoever looks it over should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.unread > 0 {
            notes.push(format!("{} decisions of the journal could not be read", self.unread));
        }
        for agent in self.agents.values().filter(|it| it.cut > 0) {
            notes.push(format!(
                "{} calls of {} name more than a policy is asked about: rules that ask for names deny them",
                agent.cut, agent.name
            ));
        }
        for agent in self.agents.values().filter(|it| it.unread > 0) {
            notes.push(format!(
                "{} calls of {} could not be followed to their end, and such calls stay allowed: look at them first",
                agent.unread, agent.name
            ));
        }
        notes
    }
}

impl Agent {
    fn take(&mut self, sheet: &FactSheet) {
        let named = &sheet.named;
        self.calls += 1;
        self.cut += u64::from(named.cut);
        self.unread += u64::from(named.unread);
        let tools = self.tools.entry(sheet.effect).or_default();
        count(tools, [sheet.tool.as_str()]);
        count(&mut self.programs, named.programs.iter().map(String::as_str));
        count(&mut self.commands, named.commands.iter().map(String::as_str));
        count(&mut self.hosts, named.hosts.iter().map(|it| it.host.as_str()));
        count(&mut self.recipients, named.recipients.iter().map(String::as_str));
        for (op, counts) in Op::ALL.iter().zip(&mut self.paths) {
            let paths = named.paths.iter().filter(|it| it.op == *op);
            count(counts, paths.map(|it| it.path.as_str()));
        }
    }
}

fn count<'a>(counts: &mut Counts, texts: impl IntoIterator<Item = &'a str>) {
    for text in texts {
        *counts.entry(text.to_owned()).or_default() += 1;
    }
}
