//! One call, as the risk detectors see it.

use model::{Effect, EffectKind, ToolName};

use super::{Classes, classify};

/// One call, before or after it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What it does.
    pub kind: EffectKind,
    /// With which tool; none for the host's own actions.
    pub tool: Option<ToolName>,
    /// What it means for later calls.
    pub classes: Classes,
    /// What became of it.
    pub outcome: Outcome,
    /// Its output was seen to give orders.
    pub flag: Option<Flag>,
    /// An argument was taken from an output that was seen to give orders.
    pub from_flagged: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing yet.
    Proposed,
    /// It happened.
    Done,
    /// It was tried and failed. Its error text was an answer too.
    Failed,
    /// It was not let through, and somebody outside may have been behind it.
    Stopped,
    /// It was not let through, or waits for a person, and nobody outside had a hand in it: a mistake, a question.
    Declined,
    /// It was not let through, because the session has no such capability.
    OutOfScope,
}

/// An output that was seen to give orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag {
    /// How sure that is.
    pub suspicion: Suspicion,
    /// A fingerprint of the content, so that the same one counts once.
    pub content: u64,
}

/// How sure it is that an output gives orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suspicion {
    /// One weak sign.
    Low,
    /// It may well do so.
    Medium,
    /// It does.
    High,
}

impl Observation {
    /// A call that is proposed, classified by what its effect says.
    #[must_use]
    pub fn proposed(effect: &Effect) -> Self {
        let tool = match effect {
            Effect::Action(_) | Effect::Message(_) => None,
            Effect::Tool(tool) => Some(tool.call.tool().clone()),
            Effect::Host(deed) => Some(deed.call.call.tool().clone()),
        };
        Self {
            kind: effect.kind(),
            tool,
            classes: classify::classes(effect),
            outcome: Outcome::Proposed,
            flag: None,
            from_flagged: false,
        }
    }

    /// The same call, with what became of it.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = outcome;
        self
    }

    /// The same call, with what its output looked like.
    #[must_use]
    pub fn with_flag(mut self, flag: Option<Flag>) -> Self {
        self.flag = flag;
        self
    }

    /// What to call it in texts.
    #[must_use]
    pub fn name(&self) -> &str {
        self.tool.as_ref().map_or(self.kind.as_str(), ToolName::as_str)
    }
}

impl Outcome {
    /// Can the agent have learnt something from it?
    #[must_use]
    pub const fn may_have_answered(self) -> bool {
        match self {
            Self::Done | Self::Failed => true,
            Self::Proposed | Self::Stopped | Self::Declined | Self::OutOfScope => false,
        }
    }
}
