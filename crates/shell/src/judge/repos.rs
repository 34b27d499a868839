//! Places where code is kept, and settings of tools that fetch code.

use super::pushed::settings;
use crate::{Call, Engine, Rule};

impl Engine<'_> {
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
        place.is_some_and(|it| host(it) != host(&value.to_lowercase()))
    })
}

/// `https://user@host/`, `git@host:`, `host:`.
fn host(place: &str) -> String {
    let rest = place.split_once("://").map_or(place, |it| it.1);
    let authority = rest.split('/').next().unwrap_or(rest);
    let authority = authority.rsplit_once('@').map_or(authority, |it| it.1);
    authority.split(':').next().unwrap_or(authority).to_owned()
}
