//! Commands behind a command that nobody here knows: `some-runner rm -rf /`.
//!
//! Whether it runs its arguments is not known. What would be refused on its own is refused behind it, too;
//! for less than that, words are too often only words.

use super::super::Decision;
use super::super::engine::Engine;
use super::super::names;
use super::super::simple::Call;
use super::super::state::State;

/// What is grave enough to be refused though it may be only words.
const GRAVE: [&str; 7] = [
    "shell-container-escape",
    "shell-erase-root",
    "shell-fork-bomb",
    "shell-format",
    "shell-raw-device",
    "shell-reverse-shell",
    "shell-system-file",
];
/// Words of one command that are tried.
const TRIES_MAX: usize = 2;

impl Engine<'_> {
    pub(super) fn judge_behind(&mut self, call: &Call<'_>, state: &State) {
        if super::SAYING.contains(&call.name.as_str()) {
            return;
        }
        let plain = call.plain().iter().enumerate();
        let begins = |(at, it): &(usize, &String)| at + 1 < call.args.len() && names::matters(it);
        let found: Vec<usize> = plain.filter(begins).map(|it| it.0).take(TRIES_MAX).collect();
        for at in found {
            if !self.may_probe() {
                return;
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
