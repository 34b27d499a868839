//! Addresses in the texts of a call by which something would leave: images that load by themselves, links with data in them.
//!
//! Threat: outside content names a collector, and the agent puts what it knows into an address of it, in a message, a file or
//! an answer. Whoever shows the text tells the collector.

use model::ipc::ActionName;
use model::{Effect, Reach};
use scan::exfiltration::{Carries, Finding, look};
use serde_json::Value;

use crate::understood::Understood;

/// Hosts of one call that are traced, each by itself.
const HOSTS_MAX: usize = 32;
/// Stands for those behind them. Nobody has named such a host.
const MORE_HOSTS: &str = "more hosts than are told apart";
/// Texts inside of lists and objects are followed so deep.
const DEPTH_MAX: usize = 32;

/// The hosts to which the texts of a call would carry something, each once.
pub(crate) fn hosts(asked: &Understood) -> Vec<String> {
    let is_shown = asked.call.flow.reach == Reach::Send || is_answer(asked);
    let mut all = Vec::new();
    for value in asked.call.call.args().values() {
        gather(value, is_shown, DEPTH_MAX, &mut all);
    }
    all
}

/// Is it what the agent says to its user?
pub(crate) fn is_answer(asked: &Understood) -> bool {
    matches!(&asked.effect, Effect::Action(it) if it.name() == ActionName::MessageOut)
}

fn gather(value: &Value, is_shown: bool, depth: usize, all: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let carried = look(text).into_iter().filter(|it| carries(it, is_shown));
            for host in carried.filter_map(|it| it.host()) {
                if all.len() > HOSTS_MAX || all.contains(&host) {
                    continue;
                }
                // INVARIANT (FailClosed): padding does not push the one that matters over the edge.
                all.push(if all.len() < HOSTS_MAX { host } else { MORE_HOSTS.to_owned() });
            }
        }
        Value::Array(items) if depth > 0 => {
            items.iter().for_each(|it| gather(it, is_shown, depth - 1, all));
        }
        Value::Object(fields) if depth > 0 => {
            fields.values().for_each(|it| gather(it, is_shown, depth - 1, all));
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Images with a query are ordinary in files (badges, charts). In what is sent or shown to somebody, they tell who reads it.
fn carries(finding: &Finding, is_shown: bool) -> bool {
    match finding.carries {
        Carries::Nothing => false,
        Carries::Words => finding.kind.loads() && is_shown,
        Carries::Data => true,
    }
}
