//! A connection that a command asks for while it runs. It is judged in the command's own session, with all labels that
//! the session has at that moment, as if the agent had fetched a page.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use aegx::Digest;
use model::{Call, Effect, Flow, RawCall, Reach, Role, ToolCall, Trust};
use scan::net::{Inner, Target};
use serde_json::Value;

use crate::deed::Deeds;
use crate::provenance::Act;
use crate::refusal::Refusal;
use crate::understood::Understood;

/// A connection that a command asks for.
#[derive(Clone, Debug)]
pub struct Connection<'a> {
    /// As a call, whose arguments `url` and `looks_like` are where it goes.
    pub call: RawCall<'a>,
    /// The record by which the command runs.
    pub command: Digest,
}

/// What a connection does: something is read that others wrote, and it may carry something off.
static FLOW: LazyLock<Arc<Flow>> = LazyLock::new(|| {
    let roles = [("url", Role::Destination), ("looks_like", Role::Destination)];
    let roles: BTreeMap<String, Role> =
        roles.into_iter().map(|(name, role)| (name.to_owned(), role)).collect();
    let output = Trust::Untrusted;
    Arc::new(Flow { reach: Reach::Read, output, egress: true, destructive: false, roles })
});

impl Connection<'_> {
    pub(crate) fn understand(&self) -> Result<Understood, Refusal> {
        let call = ToolCall { call: Call::parse(&self.call)?, flow: Arc::clone(&FLOW) };
        let effect = Effect::Tool(call.clone());
        let command = Some(self.command);
        let act = Act::default();
        Ok(Understood { effect, call, act, command, commands: Vec::new(), deeds: Deeds::OfTool })
    }
}

/// The machine that a connection goes to. What cannot be read is dialled by nobody.
pub(crate) fn host(asked: &Understood, inner: &Inner) -> Option<String> {
    let url = asked.call.call.args().get("url").and_then(Value::as_str)?;
    Target::within(url, inner).ok().map(|it| it.host().to_string())
}
