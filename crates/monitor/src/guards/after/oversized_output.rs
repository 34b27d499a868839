//! Objects to an output that is too long to be looked at whole.
//!
//! Threat: something is hidden behind the part that was scanned, or memory is filled.

use model::{Decision, Objection};

use crate::guards::Guard;
use crate::inspected::Inspected;
use crate::output::OUTPUT_BYTES_MAX;
use crate::rule::Rule;

pub(crate) struct OversizedOutput;

impl Guard<Inspected> for OversizedOutput {
    fn id(&self) -> Rule {
        Rule::OversizedOutput
    }

    fn check(&self, inspected: &Inspected) -> Vec<Objection> {
        let bytes = inspected.output.body.len();
        if bytes <= OUTPUT_BYTES_MAX {
            return Vec::new();
        }
        let why = format!("the output has {bytes} bytes, at most {OUTPUT_BYTES_MAX} are passed on");
        vec![
            Objection::new(self.id(), Decision::Deny, "output_too_long", why)
                .with_remedy("ask for less of it at a time"),
        ]
    }
}
