//! Commands behind a command that nobody here knows: `some-runner rm -rf /`.
//!
//! Whether it runs its arguments is not known. What would be refused on its own is refused behind it, too;
//! for less than that, words are too often only words.

use crate::limits::TRIES_MAX;
use crate::words::{CONNECTS, RUNS};
use crate::{Call, Decision, Engine, Rule, State, Words, names};

/// What is grave enough to be refused though it may be only words.
const GRAVE: [Rule; 7] = [
    Rule::ContainerEscape,
    Rule::EraseRoot,
    Rule::ForkBomb,
    Rule::Format,
    Rule::RawDevice,
    Rule::ReverseShell,
    Rule::SystemFile,
];
/// What stands behind `-e` is no code of theirs, or only a line of an editor.
const SEARCHING: [&str; 8] = ["ag", "egrep", "fgrep", "git", "grep", "gsed", "rg", "sed"];
/// Options with code behind them, as nearly all languages name them.
const CODED: [&str; 7] = ["-c", "-e", "-E", "-r", "--eval", "-eval", "--execute"];
/// Programs whose first word is one of their own: what `git rm` removes can be had back.
static WITH_VERBS: Words = Words::named("judge.behind.WITH_VERBS");

impl Engine {
    pub(super) fn judge_behind(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        if super::SAYING.contains(&name) {
            return;
        }
        if !SEARCHING.contains(&name) && call.plain().windows(2).any(is_reverse) {
            self.deny(Rule::ReverseShell, "its code gives a shell to another machine");
        }
        let verb = call.plain().iter().position(|it| !it.starts_with('-'));
        let verb = verb.filter(|_| WITH_VERBS.contains(&name));
        let plain = call.plain().iter().enumerate().filter(|(at, _)| Some(*at) != verb);
        let begins = |(at, it): &(usize, &String)| at + 1 < call.args.len() && names::matters(it);
        let found: Vec<usize> = plain.filter(begins).map(|it| it.0).take(TRIES_MAX + 1).collect();
        for (tries, at) in found.into_iter().enumerate() {
            if tries == TRIES_MAX || !self.may_probe() {
                return self.too_much();
            }
            let mut probe = self.probe();
            let words = call.args.get(at..).unwrap_or_default();
            probe.call(words.to_vec(), &mut state.clone(), None);
            self.probed(&probe);
            let grave = probe
                .findings
                .into_iter()
                .filter(|it| it.decision == Decision::Deny && GRAVE.contains(&it.rule));
            let grave: Vec<_> = grave.collect();
            if !grave.is_empty() {
                self.classes.extend(probe.classes);
                self.findings.extend(grave);
            }
        }
    }
}

/// Code of any language that connects to another machine and starts a shell.
fn is_reverse(pair: &[String]) -> bool {
    let [option, code] = pair else { return false };
    if !CODED.contains(&option.as_str()) || !code.contains('(') {
        return false;
    }
    let code = code.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|it| code.contains(it));
    has(&CONNECTS) && has(&RUNS) && has(&["\"sh\"", "'sh'", "/sh", "bash", "cmd.exe"])
}
