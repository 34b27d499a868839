//! Values that are known only where they are used: properties of the page's own, and what a condition chooses.

use super::condition::chosen;
use super::css::{Part, component, inside, split, tokens, trim};
use super::declare::{Declaration, Wide, raw};
use super::fit::Sure;
use super::own::Own;
use super::style::Style;
use super::value;

impl Style {
    /// What a value says once it is known, with whether it may say something else.
    pub(super) fn late(
        &self,
        name: &str,
        raw: &str,
        important: bool,
        old: bool,
    ) -> Vec<(Declaration, bool)> {
        let mut found = Vec::new();
        let Some(text) = self.own.replace(raw) else {
            let say = |said| found.push((Declaration { said, important }, false));
            value::everywhere(name, Wide::Unset, say);
            return found;
        };
        for (text, unsure) in choices(text, &self.own) {
            let before = found.len();
            let mut say = |said| found.push((Declaration { said, important }, unsure));
            let parts = tokens(&text);
            if !value::is_late(&parts) {
                value::read(name, &parts, old, &mut say);
            } else if value::may_hide(name) {
                // It depends on an attribute, on the place or on a function of the page's own.
                value::hides(name, &mut say);
            }
            if found.len() == before {
                let say = |said| found.push((Declaration { said, important }, unsure));
                value::everywhere(name, Wide::Unset, say);
            }
        }
        found
    }
}

/// What a value with `if(…)` in it may be, what is sure first. Without one it is itself.
fn choices(text: String, own: &Own) -> Vec<(String, bool)> {
    let mut done: Vec<(String, bool)> = Vec::new();
    let mut left = vec![(text, false)];
    for _ in 0..CHOICES_MAX {
        let Some((text, unsure)) = left.pop() else { break };
        match branches(&text, own) {
            None => done.push((text, unsure)),
            Some(found) => left.extend(found.into_iter().map(|it| (it.0, it.1 || unsure))),
        }
    }
    done.sort_by_key(|it| it.1);
    done
}

/// The same with the first `if(…)` replaced by what it comes to, or may come to; nothing if there is none.
fn branches(text: &str, own: &Own) -> Option<Vec<(String, bool)>> {
    let parts = tokens(text);
    let is_if = |it: &Part<'_>| it.call().is_some_and(|it| it.eq_ignore_ascii_case("if"));
    let at = parts.iter().position(is_if)?;
    let (call, _) = component(parts.get(at..)?)?;
    let (before, after) = (text.get(..call.first()?.at)?, text.get(call.last()?.end..)?);
    let mut found = Vec::new();
    for branch in split(inside(call), ';') {
        let colon = branch.iter().position(|it| it.is(':') && !stands_inside(branch, it));
        let Some((condition, value)) = colon.and_then(|it| branch.split_at_checked(it)) else {
            continue;
        };
        let value = raw(trim(value.get(1..).unwrap_or_default()), text);
        let sure = chosen(trim(condition), own);
        if sure > Sure::No {
            found.push((format!("{before} {value} {after}"), sure == Sure::Maybe));
        }
        if sure == Sure::Yes {
            return Some(found);
        }
    }
    // None of them holds: a value that browsers do not know.
    found.push((String::new(), false));
    Some(found)
}

/// Is the sign in a bracket?
fn stands_inside(parts: &[Part<'_>], sign: &Part<'_>) -> bool {
    let mut rest = parts;
    while let Some((one, after)) = component(rest) {
        if one.first().is_some_and(|it| it.at == sign.at) {
            return false;
        }
        rest = after;
    }
    true
}

/// Conditions in one value that are weighed.
const CHOICES_MAX: usize = 32;
