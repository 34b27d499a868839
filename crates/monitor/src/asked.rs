//! What somebody asks for: bytes by one of the doors, and the effect that they stand for.

use std::sync::Arc;

use model::{
    Call, Effect, Flow, HostDeed, HostKind, RawCall, Reach, Role, Source, ToolCall, Trust, ipc,
};

use crate::actions;
use crate::command;
use crate::connection::Connection;
use crate::deed::{self, Deeds};
use crate::posture::Blocked;
use crate::provenance::Act;
use crate::refusal::Refusal;
use crate::tools::Tools;
use crate::understood::Understood;

/// What was asked for, as it arrived. Nothing in it has been believed yet.
#[derive(Clone, Debug)]
pub enum Asked<'a> {
    /// A tool by its name.
    Tool(RawCall<'a>),
    /// A message for one of the host's own actions.
    Message(&'a [u8]),
    /// A connection that a command of the session asks for, while it runs.
    Connection(Connection<'a>),
    /// Something that a door does, and no tool of the agent.
    Host(Doing<'a>),
}

/// What a door does.
#[derive(Clone, Debug)]
pub struct Doing<'a> {
    /// What it is.
    pub kind: HostKind,
    /// Who is behind it, as the door knows; nobody but the agent itself without one.
    pub by: Option<Source>,
    /// Its name and what is said in it, as of a call. What reads at a server is a tool of the session.
    pub call: RawCall<'a>,
}

impl Asked<'_> {
    /// The bytes that a record of a misunderstanding shows.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Tool(raw) => raw.args,
            Self::Message(bytes) => bytes,
            Self::Connection(it) => it.call.args,
            Self::Host(it) => it.call.args,
        }
    }

    /// The effect, or why there is none.
    pub(crate) fn understand(
        &self,
        tools: &Tools,
        reach_out: bool,
        blocked: &Blocked,
    ) -> Result<Understood, Refusal> {
        match self {
            Self::Tool(raw) => of_tool(raw, tools, blocked),
            Self::Message(bytes) => {
                let action = ipc::parse(bytes)?;
                let call = actions::as_call(&action)?;
                let act = actions::act(action.name());
                let commands = command::of_action(&action, &call, reach_out, blocked);
                let deeds = Deeds::of_action(action.name(), &call, &commands);
                let effect = Effect::Action(Box::new(action));
                Ok(Understood { effect, call, act, command: None, commands, deeds })
            }
            Self::Connection(it) => it.understand(),
            Self::Host(it) => it.understand(tools, blocked),
        }
    }
}

fn of_tool(raw: &RawCall<'_>, tools: &Tools, blocked: &Blocked) -> Result<Understood, Refusal> {
    let call = Call::parse(raw)?;
    let tool = tools
        .get(call.tool())
        .ok_or_else(|| Refusal::UnknownTool(call.tool().as_str().to_owned()))?;
    let mut call = ToolCall { call, flow: Arc::clone(&tool.flow) };
    let job = tools.job(tool);
    let commands = command::of_tool(&call, job, blocked);
    let deeds = Deeds::of_call(job, &call, &commands);
    call.flow = deeds.refine(&tool.flow, deed::shows_others(job, &call, &commands));
    let effect = Effect::Tool(call.clone());
    Ok(Understood { effect, call, act: tool.act.clone(), command: None, commands, deeds })
}

impl Doing<'_> {
    fn understand(&self, tools: &Tools, blocked: &Blocked) -> Result<Understood, Refusal> {
        let asked = match self.kind.is_read_of_server() {
            true => of_tool(&self.call, tools, blocked)?,
            false => self.without_tool()?,
        };
        let deed = HostDeed { kind: self.kind, by: self.by, call: asked.call.clone() };
        Ok(Understood { effect: Effect::Host(deed), ..asked })
    }

    /// It looks at nothing and sends nothing by itself; all that stands in it is said.
    fn without_tool(&self) -> Result<Understood, Refusal> {
        let call = Call::parse(&self.call)?;
        let (output, deeds) = match (self.kind, self.by) {
            (HostKind::Notification, Some(Source::User | Source::System)) => {
                (Trust::Trusted, Deeds::OfTool)
            }
            (HostKind::Notification, _) => (Trust::Untrusted, Deeds::OfTool),
            // What comes back is the client's own answer, or nothing.
            (_, _) => (Trust::Own, Deeds::Look),
        };
        let roles = call.args().keys().map(|it| (it.clone(), Role::Content)).collect();
        let flow = Flow { reach: Reach::Read, output, egress: false, destructive: false, roles };
        let call = ToolCall { call, flow: Arc::new(flow) };
        let (effect, act) = (Effect::Tool(call.clone()), Act::default());
        Ok(Understood { effect, call, act, command: None, commands: Vec::new(), deeds })
    }
}
