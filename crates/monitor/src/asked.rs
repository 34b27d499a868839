//! What somebody asks for: bytes by one of the doors, and the effect that they stand for.

use std::sync::Arc;

use model::{Call, Effect, RawCall, ToolCall, ipc};

use crate::actions;
use crate::command;
use crate::connection::Connection;
use crate::deed::{self, Deeds};
use crate::posture::Blocked;
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
}

impl Asked<'_> {
    /// The bytes that a record of a misunderstanding shows.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Tool(raw) => raw.args,
            Self::Message(bytes) => bytes,
            Self::Connection(it) => it.call.args,
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
            Self::Tool(raw) => {
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
                Ok(Understood {
                    effect,
                    call,
                    act: tool.act.clone(),
                    command: None,
                    commands,
                    deeds,
                })
            }
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
        }
    }
}
