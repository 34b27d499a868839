//! For those who mean no harm: a cage is as if it were not there.
use crate::Test;
pub(crate) fn all() -> Vec<Test> { Vec::new() }
