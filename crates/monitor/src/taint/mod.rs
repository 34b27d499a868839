//! What a session has taken in from outside, how much of it, and what that stops.
//!
//! Pure values: no clock, no store. INVARIANT (HostDecidesTaint): everything here is told by the
//! host; there is no way to take taint away, and only text of the user or the operator is credit.

mod budget;
mod delta;
mod fingerprint;
mod label;
mod rules;
mod session;
pub mod tokens;
mod tracker;
mod turns;

pub use budget::{Blocked, Budget};
pub use delta::TaintDelta;
pub use fingerprint::{Fingerprint, normal};
pub use label::{ORIGIN_BYTES_MAX, OUTSIDE, is_outside, label, worse};
pub use rules::{
    ACTION_BYTES_MAX, ACTIONS_MAX, ALWAYS_SENSITIVE, Rules, RulesError, Threshold, is_known_action,
    sensitive_actions,
};
pub use session::SessionTaint;
pub use tracker::Tracker;
pub use turns::{FACT_TURNS_MAX, Turn, inherited_by_fact};
