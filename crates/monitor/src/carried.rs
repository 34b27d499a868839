//! Addresses in the texts of a call by which something would leave: images that load by themselves, links with data in them.
//!
//! Threat: outside content names a collector, and the agent puts what it knows into an address of it, in a message, a file or
//! an answer. Whoever shows the text tells the collector.

use model::{Flow, Reach};
use scan::exfiltration::{Carries, Finding, look};
use serde_json::Value;

use crate::understood::Understood;

/// Addresses of one call that are traced.
const ADDRESSES_MAX: usize = 32;
/// Texts inside of lists and objects are followed so deep.
const DEPTH_MAX: usize = 32;

/// The hosts to which the texts of a call would carry something, each once.
pub(crate) fn hosts(asked: &Understood) -> Vec<String> {
    let mut all = Vec::new();
    for value in asked.call.call.args().values() {
        gather(value, &asked.call.flow, DEPTH_MAX, &mut all);
    }
    all
}

fn gather(value: &Value, flow: &Flow, depth: usize, all: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let carried = look(text).into_iter().filter(|it| carries(it, flow));
            for host in carried.filter_map(|it| it.host()) {
                if all.len() < ADDRESSES_MAX && !all.contains(&host) {
                    all.push(host);
                }
            }
        }
        Value::Array(items) if depth > 0 => {
            items.iter().for_each(|it| gather(it, flow, depth - 1, all));
        }
        Value::Object(fields) if depth > 0 => {
            fields.values().for_each(|it| gather(it, flow, depth - 1, all));
        }
        Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Images with a query are ordinary in files (badges, charts). In what is sent to somebody, they tell who reads it.
fn carries(finding: &Finding, flow: &Flow) -> bool {
    match finding.carries {
        Carries::Nothing => false,
        Carries::Words => finding.kind.loads() && flow.reach == Reach::Send,
        Carries::Data => true,
    }
}
