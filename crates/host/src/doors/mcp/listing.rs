//! May the agent see a server's list of tools? Judged once for each list: clients ask for the same one again and again.

use model::{Caller, Effect, HostKind, RawCall};
use monitor::{Asked, Doing, Executor, Monitor, Output, Permit, Refusal, Words};
use serde_json::Value;
use serde_json::json;

use super::definitions::Listed;
use super::key_beside;
use super::request::listed;

/// Who lists shows the list: nothing of it is in what comes back.
struct Shown;

impl Executor for Shown {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        drop(permit.spend());
        Output { words: Words::Ours, ..Output::text("{}") }
    }
}

/// Judges a list that this client has not been shown yet.
pub(crate) fn may_list(
    monitor: &Monitor,
    who: &Caller,
    known: &mut Listed,
    server: &str,
    tools: &[Value],
) -> Result<bool, String> {
    let digest = listed(tools);
    if known.was_judged(server, digest) {
        return Ok(true);
    }
    let name = key_beside(server, "tools_list");
    let args = json!({ "server": server, "sha256": digest.to_string(), "tools": tools.len() });
    let args = args.to_string();
    let call = RawCall { tool: &name, args: args.as_bytes() };
    let asked = Asked::Host(Doing { kind: HostKind::ToolsList, by: None, call });
    match monitor.run(who, &asked, &Shown) {
        Ok(_) => {
            known.judged(server, digest);
            Ok(true)
        }
        Err(Refusal::Stopped(_)) => Ok(false),
        Err(error) => Err(error.to_string()),
    }
}
