//! What a command line reads, sends and gains, as the shell would run it.

use shell::{Rule, Step, read};

use super::Classes;
use super::paths;

/// What hides so deep may send.
const NOT_SEEN: [Rule; 2] = [Rule::TooLarge, Rule::Unreadable];

/// The classes of a command line. Order counts: what is read after the sending is not sent.
pub(super) fn classes(line: &str) -> Classes {
    let reading = read(line);
    let mut seen = Classes::NONE;
    reading.steps.iter().for_each(|it| step(it, &mut seen));
    if reading.findings.iter().any(|it| NOT_SEEN.contains(&it.rule)) {
        seen |= Classes::EGRESS;
    }
    seen
}

fn step(step: &Step, seen: &mut Classes) {
    let mut found = Classes::NONE;
    step.reads.iter().for_each(|it| found |= paths::reading(it));
    if step.reveals {
        found |= Classes::CREDENTIAL_READ;
    }
    if step.gains {
        found |= Classes::SCOPE_CHANGE;
    }
    if step.sends {
        found |= Classes::EGRESS;
        if seen.union(found).intersects(Classes::READS) {
            found |= Classes::SENDS_ITS_READ;
        }
    }
    *seen |= found;
}
