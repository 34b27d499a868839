//! Looking at the evidence, read only.

use crate::ipc::declare::object;
use crate::ipc::limits::{AUDIT_ACTION_UNITS_MAX, AUDIT_RESULTS_MAX};
use crate::ipc::number::Whole;
use crate::ipc::text::Text;
use crate::ipc::time::Time;

object! {
    /// Search the evidence.
    AuditQuery {
        /// For what; everything if absent.
        "filter" filter: Option<AuditFilter>,
    }
}

object! {
    /// What to search the evidence for.
    AuditFilter {
        /// The action.
        "action" action: Option<Text<AUDIT_ACTION_UNITS_MAX>>,
        /// Not before.
        "since" since: Option<Time>,
        /// Not after.
        "until" until: Option<Time>,
        /// How many at most.
        "limit" limit: Option<Whole<1, AUDIT_RESULTS_MAX>>,
    }
}
