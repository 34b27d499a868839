//! A call that was understood: the effect, and the same as a call of a tool, whatever door it came by.

use std::borrow::Cow;

use aegx::{Digest, SortedObject};
use model::{Caller, Effect, EffectKind, Reach, Shows, ToolCall, Trust};

use crate::command::Command;
use crate::deed::Deeds;
use crate::provenance::Act;
use crate::risk::Observation;

/// A call that was understood.
#[derive(Clone, Debug)]
pub(crate) struct Understood {
    pub(crate) effect: Effect,
    /// The effect as a call of a tool.
    pub(crate) call: ToolCall,
    pub(crate) act: Act,
    /// The commands that it would run.
    pub(crate) commands: Vec<Command>,
    /// What it does, as far as that is known without its tool.
    pub(crate) deeds: Deeds,
    /// The record of the command that asks for it, if it is a connection of one.
    pub(crate) command: Option<Digest>,
}

impl Understood {
    pub(crate) fn kind(&self) -> EffectKind {
        self.effect.kind()
    }

    pub(crate) fn tool(&self) -> &str {
        self.call.call.tool().as_str()
    }

    /// Does it have a lasting or outward effect? Work where the agent works is none.
    pub(crate) fn acts(&self) -> bool {
        match self.deeds.are_known() {
            true => !self.deeds.acts().is_empty(),
            false => self.call.flow.reach != Reach::Read,
        }
    }

    /// How the risk detectors see it: a connection of a command is nobody else's tool, but a page that is fetched.
    pub(crate) fn observation(&self) -> Observation {
        let mut seen = Observation::proposed(&self.effect);
        if self.command.is_some() {
            seen.kind = EffectKind::WebFetch;
        }
        seen
    }

    /// What it does, if what comes back is believed so far: one of our own actions gives back what is in the form that
    /// we gave it, unless others wrote it.
    pub(crate) fn act_giving(&self, trust: Trust) -> Cow<'_, Act> {
        match (&self.effect, trust) {
            (Effect::Action(_), Trust::Trusted | Trust::Own) => {
                Cow::Owned(self.act.clone().showing(Shows::Rows))
            }
            (Effect::Action(_), Trust::Untrusted)
            | (Effect::Tool(_) | Effect::Message(_) | Effect::Host(_), _) => {
                Cow::Borrowed(&self.act)
            }
        }
    }

    /// The arguments in one spelling, whatever order they came in.
    pub(crate) fn args_text(&self) -> String {
        SortedObject(self.call.call.args()).to_string()
    }

    /// The hash of exactly this action in exactly this session.
    pub(crate) fn digest(&self, who: &Caller, args: &str) -> Digest {
        let parts =
            [who.session.as_str(), who.user.as_str(), who.agent.as_str(), self.tool(), args];
        let mut hasher = aegx::Hasher::new();
        for part in parts {
            // Lengths first, so that no part can end in another.
            hasher.update(&part.len().to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finish()
    }
}
