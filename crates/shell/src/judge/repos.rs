//! Places where code is kept, and settings of tools that fetch code.

use super::pushed::settings;
use super::sending::host;
use crate::{Call, Engine, Rule};

impl Engine {
    pub(super) fn judge_repos(&mut self, call: &Call<'_>) {
        if call.name == "git" && leads_elsewhere(call) {
            self.ask(Rule::RemoteCode, "what is fetched comes from another place then");
        }
    }
}

/// `git config url.A.insteadOf B`, where the two are on different machines.
fn leads_elsewhere(call: &Call<'_>) -> bool {
    settings(call.plain()).any(|(key, value)| {
        let lower = key.to_lowercase();
        let place = lower.strip_prefix("url.").and_then(|it| {
            it.strip_suffix(".insteadof").or_else(|| it.strip_suffix(".pushinsteadof"))
        });
        let host = |it: &str| host(it.split_once("://").map_or(it, |it| it.1));
        place.is_some_and(|it| host(it) != host(&value.to_lowercase()))
    })
}
