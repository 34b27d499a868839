//! Requests by HTTP that were refused before they were read: in the journal, but not one record for each.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use ::mcp::Gate as _;
use ::mcp::http::server::Refusal;
use serde_json::{Map, Value, json};

use super::gate::DaemonGate;
use crate::failure::Failure;

/// How long refusals are counted before they are recorded together.
const GATHER: Duration = Duration::from_secs(2);
/// Refusals that wait to be counted. More than that in one moment is a flood, of which not each one counts.
const WAITING_MAX: usize = 256;

/// Returns what takes note of a refusal, and never waits.
pub(super) fn noted(home: PathBuf) -> Result<impl Fn(Refusal) + Send + Sync, Failure> {
    let (sender, refusals) = sync_channel(WAITING_MAX);
    let thread = thread::Builder::new().name("mcp-http-refusals".to_owned());
    thread.spawn(move || record(home, &refusals)).map_err(Failure::unable)?;
    Ok(move |refusal| {
        // What does not fit is not counted; that there were refusals is.
        let _full = sender.try_send(refusal);
    })
}

fn record(home: PathBuf, refusals: &Receiver<Refusal>) {
    while let Ok(first) = refusals.recv() {
        thread::sleep(GATHER);
        let mut counts: BTreeMap<Refusal, u64> = BTreeMap::new();
        for refusal in std::iter::once(first).chain(refusals.try_iter()) {
            *counts.entry(refusal).or_default() += 1;
        }
        let counts: Map<String, Value> = counts
            .into_iter()
            .map(|(why, count)| (why.as_str().to_owned(), json!(count)))
            .collect();
        // Without the daemon nothing else gets through either.
        if let Ok(gate) = DaemonGate::new(home.clone()) {
            gate.lifecycle("", "http_refused", &Value::Object(counts));
        }
    }
}
