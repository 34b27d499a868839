//! The proof that an effect was judged, recorded and allowed.
//!
//! What cannot be done with a permit is shown in `tests/permit/`: each file there must not compile.

use std::borrow::Cow;

use aegx::Digest;
use evidence::Receipt;
use model::ipc::{self, Action};
use model::{Caller, Effect, HostDeed, Message, TaintTag, ToolCall};

use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::ruling::Ruling;
use crate::scrubber::Scrubs;

/// Holds the effect itself, so that what runs is what was judged. Not `Clone`: one permit, one run.
///
/// INVARIANT (OneGate): made only by the pipeline, after a durable record, and spent once.
#[must_use]
#[derive(Debug)]
pub struct Permit<E> {
    effect: E,
    who: Caller,
    tag: Option<TaintTag>,
    lifted: Vec<Cow<'static, str>>,
    record: Digest,
    scrubs: Scrubs,
}

impl<E> Permit<E> {
    /// The effect that was permitted; the permit is gone.
    pub fn spend(self) -> E {
        self.effect
    }

    /// The effect, to look at.
    #[must_use]
    pub fn effect(&self) -> &E {
        &self.effect
    }

    /// For whom it happens, as the connection said.
    #[must_use]
    pub fn who(&self) -> &Caller {
        &self.who
    }

    /// What everything carries that this session writes; none if the session is clean.
    #[must_use]
    pub fn tag(&self) -> Option<&TaintTag> {
        self.tag.as_ref()
    }

    /// Has a person lifted what this rule had against exactly this effect?
    #[must_use]
    pub fn was_lifted(&self, rule: Rule) -> bool {
        self.lifted.iter().any(|it| it == rule.as_str())
    }

    /// Takes secrets out of what the effect gives back, before it is cut. What is whole is scrubbed anyway.
    #[must_use]
    pub fn scrubs(&self) -> Scrubs {
        self.scrubs.clone()
    }

    /// Id of the record of the decision.
    #[must_use]
    pub fn record(&self) -> Digest {
        self.record
    }
}

impl Permit<Effect> {
    /// Only a ruling that allows, with the receipt of its durable record, gives a permit.
    pub(crate) fn mint(proposed: Proposed, ruling: &Ruling, receipt: &Receipt) -> Option<Self> {
        match ruling {
            Ruling::Allow(_) => {
                let (effect, who, tag, lifted) = proposed.into_parts();
                let (record, scrubs) = (receipt.id(), Scrubs::default());
                Some(Self { effect, who, tag, lifted, record, scrubs })
            }
            // An unanswered question is a refusal.
            Ruling::Hold(..) | Ruling::Deny(_) => None,
        }
    }

    /// With who takes secrets out of what is cut.
    pub(crate) fn scrubbing(self, scrubs: Scrubs) -> Self {
        Self { scrubs, ..self }
    }

    /// Narrows to the one kind of effect, for the crate that runs it.
    pub fn by_kind(self) -> Granted {
        let Self { effect, who, tag, lifted, record, scrubs } = self;
        match effect {
            Effect::Tool(effect) => {
                Granted::Tool(Permit { effect, who, tag, lifted, record, scrubs })
            }
            Effect::Message(effect) => {
                Granted::Message(Permit { effect, who, tag, lifted, record, scrubs })
            }
            Effect::Host(effect) => {
                Granted::Host(Permit { effect, who, tag, lifted, record, scrubs })
            }
            Effect::Action(action) => {
                Permit { effect: *action, who, tag, lifted, record, scrubs }.by_action()
            }
        }
    }
}

macro_rules! granted {
    ($($action:ident),+ $(,)?) => {
        /// A permit, by what it permits.
        #[derive(Debug)]
        pub enum Granted {
            /// A tool of somebody else.
            Tool(Permit<ToolCall>),
            /// A message to the agent.
            Message(Permit<Message>),
            /// Something that a door does.
            Host(Permit<HostDeed>),
            $(
                #[doc = concat!("The action `", stringify!($action), "`.")]
                $action(Permit<ipc::$action>),
            )+
        }

        impl Permit<Action> {
            fn by_action(self) -> Granted {
                let Self { effect, who, tag, lifted, record, scrubs } = self;
                match effect {
                    $(Action::$action(effect) => {
                        Granted::$action(Permit { effect, who, tag, lifted, record, scrubs })
                    })+
                }
            }
        }
    };
}

model::each_action!(granted);
