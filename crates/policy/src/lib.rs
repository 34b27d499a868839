//! Who may do what, as pure decisions: no I/O, no clock, and silence denies.
//!
//! Two questions, asked of every call. [`access`] asks whether the five layers (the host's
//! settings, the agent's manifest, the sandbox, the user, the operation) all let it pass. The
//! [`Policy`] asks the rules, written in Cedar: a `permit` grants, a `forbid` objects, and what no
//! rule permits is denied.
//!
//! **INVARIANT (GuardsOnlyObject):** a `forbid` cannot be lifted by a `permit`, whoever wrote it. A
//! step-up is lifted by the person whom it asks, for exactly that call, and by nothing else.
//!
//! **INVARIANT (FailClosed):** a policy that does not load is not used; a `forbid` that fails while
//! it is evaluated denies.

pub mod access;
mod attribute;
mod check;
mod difference;
mod error;
mod explain;
mod facts;
mod lines;
mod load;
mod memo;
mod outright;
mod pack;
mod policy;
mod request;
mod rule;
mod schema;
mod skill;
mod verdict;

pub use difference::RuleChange;
pub use error::{LoadError, LoadErrors};
pub use explain::{Explained, Matched};
pub use facts::{
    Confirmed, FactSheet, Facts, NAMED_BYTES_MAX, NAMED_MAX, Named, NamedHost, NamedPath, Op,
    RISK_MAX, SheetError, Sinks, Target, Targets, VIEWS_MAX,
};
pub use lines::{NESTING_MAX, OPERATORS_MAX};
pub use model::Group;
pub use pack::{PACK_BYTES_MAX, PackText, RULES_MAX};
pub use policy::{DEFAULT_DENY, Policy};
pub use rule::{RULE_ID_BYTES_MAX, Rule};
pub use schema::schema_text;
pub use skill::{SkillVerdict, skill_verdict};
pub use verdict::{Grant, Verdict};
