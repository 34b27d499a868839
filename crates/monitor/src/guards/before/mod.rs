//! Guards that look at a call before it happens.

pub(super) mod credential_scope;
pub(super) mod denied_read;
pub(super) mod layered_access;
pub(super) mod obeyed_file;
pub(super) mod poisoned_memory;
pub(super) mod risk_across_calls;
pub(super) mod sandboxed_server;
pub(super) mod secret_elsewhere;
pub(super) mod shell_command;
pub(super) mod sink_provenance;
pub(super) mod taint_budget;
