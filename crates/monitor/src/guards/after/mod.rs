//! Guards that look at an output before the agent does.

pub(super) mod oversized_output;
