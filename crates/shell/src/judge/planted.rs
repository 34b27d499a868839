//! What is written into a file and does harm where somebody else runs it: web servers, builds.

use crate::{Engine, Rule, Words};

/// What a server's script was asked for, by whoever asked.
static ASKED: Words = Words::named("judge.planted.ASKED");
/// They run what stands behind them.
static RUNNING: Words = Words::named("judge.planted.RUNNING");
/// Letters between what runs and what was asked for.
const NEAR_MAX: usize = 80;

impl Engine {
    /// A text that goes into a file.
    pub(in super::super) fn judge_planted(&mut self, text: &str) {
        // Nearly every text has none of them.
        if !text.contains(['$', '(', ' ']) {
            return;
        }
        let lower = text.to_lowercase();
        if ASKED.iter().any(|it| lower.contains(it)) && answers_with_a_shell(&lower) {
            self.ask(Rule::Persistence, "whoever asks the server can run commands then");
        }
        if lower.lines().any(|it| it.starts_with("gitdir:")) {
            self.ask(Rule::Persistence, "it leads `git` to settings that say what to run");
        }
        let handles = lower.contains("addtype") || lower.contains("addhandler");
        if handles && lower.contains("php") {
            self.ask(Rule::Persistence, "the server runs files of another kind then");
        }
        if lower.contains("tojson(secrets)") {
            self.ask(Rule::Credentials, "a build hands out all of its secrets then");
        }
    }
}

/// `system($_GET[0])`: what was asked for is run in the same breath.
fn answers_with_a_shell(lower: &str) -> bool {
    RUNNING.iter().any(|running| {
        lower.match_indices(running).any(|(at, _)| {
            let after = lower.get(at + running.len()..).unwrap_or_default();
            let end = after.char_indices().nth(NEAR_MAX).map_or(after.len(), |it| it.0);
            let near = after.get(..end).unwrap_or_default();
            let near = near.split([';', '\n', ')']).next().unwrap_or_default();
            ASKED.iter().any(|it| near.contains(it))
        })
    })
}
