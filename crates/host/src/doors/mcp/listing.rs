//! May the agent see a server's list of tools? Judged once for each list: clients ask for the same one again and again.

use model::{Effect, HostKind, RawCall};
use monitor::{Asked, Doing, Executor, Output, Permit, Refusal, Words};
use serde_json::Value;
use serde_json::json;

use super::request::listed;
use super::{Client, Doors, key_of};

/// Who lists shows the list: nothing of it is in what comes back.
struct Shown;

impl Executor for Shown {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        drop(permit.spend());
        Output { words: Words::Ours, ..Output::text("{}") }
    }
}

impl Doors<'_> {
    /// Judges a list that this client has not been shown yet.
    pub(super) fn mcp_may_list(
        &self,
        client: &mut Client,
        server: &str,
        tools: &[Value],
    ) -> Result<bool, String> {
        let digest = listed(tools);
        if client.listed.was_judged(server, digest) {
            return Ok(true);
        }
        let name = key_of(server, "tools_list");
        let args = json!({ "server": server, "sha256": digest.to_string(), "tools": tools.len() });
        let args = args.to_string();
        let call = RawCall { tool: &name, args: args.as_bytes() };
        let asked = Asked::Host(Doing { kind: HostKind::ToolsList, by: None, call });
        match self.gate.monitor.run(&client.who, &asked, &Shown) {
            Ok(_) => {
                client.listed.judged(server, digest);
                Ok(true)
            }
            Err(Refusal::Stopped(_)) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }
}
