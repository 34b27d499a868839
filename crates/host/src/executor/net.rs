//! The network of one command: its way out, which ends with it, and what is known of what went through.

use std::cell::RefCell;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use aegx::Digest;
use egress::Rules;
use gateway::proxy::{Budget, Command, Outside, Serving, Turned};
use model::{Caller, Source, TaintTag};
use monitor::taint;
use sandbox::cage::Network;
use serde_json::{Value, json};

use crate::passage::Passage;

/// Refused hosts that an agent is told.
const REFUSED_TOLD_MAX: usize = 16;

/// The way out of one command.
pub(super) struct Out<'a> {
    outside: &'a Outside,
    rules: &'a Rules,
    network: Network,
    command: Arc<Command>,
    /// Taken when there is a listener to answer at.
    passage: RefCell<Option<Passage>>,
    serving: RefCell<Option<Serving>>,
}

/// What a command had of the network.
#[derive(Default)]
pub(super) struct Net {
    /// Was there a way to it at all?
    pub(super) was_there: bool,
    /// The hosts that it had a connection with.
    reached: Vec<String>,
    /// The hosts that it was not let to, and why.
    refused: Vec<Turned>,
}

impl<'a> Out<'a> {
    /// A way out for the command that `who` runs by `record`.
    pub(super) fn open(
        (outside, rules): &'a (Outside, Rules),
        who: &Caller,
        record: Digest,
    ) -> io::Result<Self> {
        let passage = Passage::of(who.clone())?;
        Ok(Self {
            outside,
            rules,
            network: passage.network(),
            command: Command::new(record, Budget::default()),
            passage: RefCell::new(Some(passage)),
            serving: RefCell::default(),
        })
    }

    /// What the cage is told of it.
    pub(super) fn network(&self) -> Network {
        self.network.clone()
    }

    /// Answers at the cage's listener from now on.
    pub(super) fn answer(&self, listener: TcpListener) -> Result<(), String> {
        let Some(passage) = self.passage.take() else {
            return Err("it is answered already".to_owned());
        };
        let command = Some(Arc::clone(&self.command));
        let serving = passage.serve(self.outside.clone(), self.rules.clone(), command, listener);
        let serving = serving.map_err(|error| format!("no way to the network: {error}"))?;
        self.serving.replace(Some(serving));
        Ok(())
    }

    /// Ends it, and every connection with it.
    pub(super) fn end(self) -> Net {
        drop(self.serving.take());
        Net { was_there: true, reached: self.command.reached(), refused: self.command.refused() }
    }
}

impl Net {
    /// The label of whatever the command, which is called `what`, made, if it had something from the network.
    pub(super) fn label(&self, what: &str, now: i64) -> Option<TaintTag> {
        let first = self.reached.first()?;
        let more = match self.reached.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        Some(taint::label(Source::Web, &format!("{what} from {first}{more}"), now))
    }

    /// For the record.
    pub(super) fn to_json(&self) -> Value {
        json!({ "reached": self.reached, "refused": self.refused_values() })
    }

    /// For the agent: what it was not let to, a line each. The command chose these names.
    pub(super) fn refused_text(&self) -> Option<String> {
        let line = |it: &Turned| {
            let host = it.host.as_deref().unwrap_or("(no host)");
            format!("{host}: {}", it.rule)
        };
        let mut lines: Vec<String> = self.refused.iter().take(REFUSED_TOLD_MAX).map(line).collect();
        if let Some(more) = self.refused.len().checked_sub(REFUSED_TOLD_MAX).filter(|it| *it > 0) {
            lines.push(format!("and {more} more"));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn refused_values(&self) -> Value {
        self.refused.iter().map(|it| json!({ "host": it.host, "rule": it.rule })).collect()
    }
}
