//! What is known of a call when the policy judges it. The host fills this in; no message can.

mod named;
mod sheet;
mod target;
mod words;

pub(crate) use named::{Apart, View};
pub use named::{NAMED_BYTES_MAX, NAMED_MAX, Named, NamedHost, NamedPath, Op, VIEWS_MAX};
pub use sheet::{FactSheet, SheetError};
pub use target::{Target, Targets};

use aegx::Principal;
use model::{AgentId, EffectKind, Profile, Taint, UserId};

/// The highest level of risk.
pub const RISK_MAX: u8 = 3;

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// The person for whom the agent works.
    pub user: &'a UserId,
    /// The agent.
    pub agent: &'a AgentId,
    /// The door by which the call came: `mcp`, `hook`, `ipc`, `replay`.
    pub door: &'a str,
    /// Who caused the call.
    pub principal: Principal,
    /// What it would do.
    pub effect: EffectKind,
    /// The tool, or the name of the host's own action.
    pub tool: &'a str,
    /// How careful the session is.
    pub profile: Profile,
    /// Where everything that the call can depend on has been.
    pub taint: Taint,
    /// The share of the session's content that came from outside, in thousandths.
    pub taint_permille: u16,
    /// The share above which sensitive actions need a person, in thousandths.
    pub taint_permille_max: u16,
    /// Is the session over its taint budget? Said by the budget, which counts finer than
    /// thousandths.
    pub over_budget: bool,
    /// Do the user's own words ask for it, and did nobody else choose anything in it?
    pub asked_for: bool,
    /// How risky the call looks, 0 to [`RISK_MAX`]; more counts as that.
    pub risk: u8,
    /// What the arguments were made of.
    pub sinks: Sinks,
    /// What the call touches.
    pub targets: Targets,
    /// What the call names.
    pub named: &'a Named,
    /// What a person has agreed to.
    pub confirmed: Confirmed,
}

/// What the arguments of a call were made of, looked up one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sinks {
    /// Untrusted content alone chose who gets something.
    pub untrusted_destination: bool,
    /// Untrusted content alone chose what is acted on.
    pub untrusted_target: bool,
    /// What is said came from untrusted content.
    pub untrusted_content: bool,
    /// A secret goes where it does not belong.
    pub foreign_secret: bool,
}

/// What a person has agreed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confirmed {
    /// Nothing.
    #[default]
    Nothing,
    /// Actions of this kind in this session: lifts the taint budget and nothing else.
    Kind,
    /// Exactly this call: lifts every step-up.
    Exactly,
}

impl Facts<'_> {
    /// Is the cause somebody whom nobody vouches for?
    #[must_use]
    pub fn is_outsider(&self) -> bool {
        match self.principal {
            Principal::User | Principal::Sys | Principal::Tool => false,
            Principal::Web | Principal::Skill | Principal::Channel | Principal::External => true,
        }
    }
}

impl Sinks {
    /// The names in policies, in the order of [`Sinks::bits`].
    pub(crate) const NAMES: [&'static str; 4] =
        ["untrusted_destination", "untrusted_target", "untrusted_content", "foreign_secret"];

    pub(crate) fn bits(self) -> usize {
        usize::from(self.untrusted_destination)
            | usize::from(self.untrusted_target) << 1
            | usize::from(self.untrusted_content) << 2
            | usize::from(self.foreign_secret) << 3
    }

    pub(crate) fn from_bits(bits: usize) -> Self {
        Self {
            untrusted_destination: bits & 1 != 0,
            untrusted_target: bits & 2 != 0,
            untrusted_content: bits & 4 != 0,
            foreign_secret: bits & 8 != 0,
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|it| *it == name)?;
        Some(Self::from_bits(1 << at))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self::from_bits(self.bits() | other.bits())
    }
}

impl Confirmed {
    /// All of them, the least first.
    pub const ALL: &[Self] = &[Self::Nothing, Self::Kind, Self::Exactly];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Kind => "kind",
            Self::Exactly => "exactly",
        }
    }
}
