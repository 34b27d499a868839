//! What somebody asks for: bytes by one of two doors, and the effect that they stand for.

use std::sync::Arc;

use model::{Call, Effect, RawCall, ToolCall, ipc};

use crate::actions;
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
}

impl Asked<'_> {
    /// The bytes that a record of a misunderstanding shows.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Tool(raw) => raw.args,
            Self::Message(bytes) => bytes,
        }
    }

    /// The effect, or why there is none.
    pub(crate) fn understand(&self, tools: &Tools) -> Result<Understood, Refusal> {
        match self {
            Self::Tool(raw) => {
                let call = Call::parse(raw)?;
                let tool = tools
                    .get(call.tool())
                    .ok_or_else(|| Refusal::UnknownTool(call.tool().as_str().to_owned()))?;
                let call = ToolCall { call, flow: Arc::clone(&tool.flow) };
                Ok(Understood { effect: Effect::Tool(call.clone()), call, act: tool.act.clone() })
            }
            Self::Message(bytes) => {
                let action = ipc::parse(bytes)?;
                let call = actions::as_call(&action)?;
                let act = actions::act(action.name());
                Ok(Understood { effect: Effect::Action(Box::new(action)), call, act })
            }
        }
    }
}
