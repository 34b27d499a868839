//! The examples in a rule hold.

use super::Alone;
use crate::error::LoadError;

pub(super) fn check(alone: &Alone<'_>) -> Vec<LoadError> {
    let mut flaws = Vec::new();
    for (at, sheet) in alone.rule.matches.iter().enumerate() {
        if !alone.matches(&sheet.facts()) {
            flaws.push(alone.flaw(format!("`@match` example {} does not match", at + 1)));
        }
    }
    for (at, sheet) in alone.rule.skips.iter().enumerate() {
        if alone.matches(&sheet.facts()) {
            flaws.push(alone.flaw(format!("`@skip` example {} matches", at + 1)));
        }
    }
    flaws
}
