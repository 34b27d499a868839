//! The examples in a rule hold.

use super::{Alone, Hit};
use crate::error::LoadError;

pub(super) fn check(alone: &Alone<'_>) -> Vec<LoadError> {
    let wanted = [("match", Hit::Yes, &alone.rule.matches), ("skip", Hit::No, &alone.rule.skips)];
    let mut flaws = Vec::new();
    for (key, wanted, sheets) in wanted {
        for (at, sheet) in sheets.iter().enumerate() {
            let said = match alone.ask(&sheet.facts()) {
                hit if hit == wanted => continue,
                Hit::Yes => "matches",
                Hit::No => "does not match",
                Hit::Failed => "makes the rule fail",
            };
            flaws.push(alone.flaw(format!("`@{key}` example {} {said}", at + 1)));
        }
    }
    flaws
}
