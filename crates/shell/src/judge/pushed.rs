//! Where `git` pushes to: addresses of its own, and names that were given another address before.

use super::options::Options;
use super::sending::{addressed, host};
use super::worktree::told;
use crate::simple::pairs;
use crate::{Call, Engine, Rule, Words};

/// Options of `push`, `fetch` and their like that take the next word.
static VALUED: Words = Words::named("judge.pushed.VALUED");
/// Before the names of remotes whose address was changed, among what was made before.
const CHANGED: &str = "remote:";

impl Engine {
    pub(super) fn judge_pushed(&mut self, call: &Call<'_>) {
        if call.name != "git" {
            return;
        }
        for (key, value) in settings(call.plain()) {
            if let Some(name) = renamed(&key.to_lowercase(), value) {
                self.fresh.insert(format!("{CHANGED}{name}"));
            }
        }
        let Some(told) = told(call) else { return };
        let words = words(told.args);
        match (told.verb, words.as_slice()) {
            ("remote", [verb, name, _, ..]) if matches!(*verb, "add" | "set-url") => {
                self.fresh.insert(format!("{CHANGED}{name}"));
            }
            // The address may stand behind options of theirs.
            ("push" | "subtree", _) if told.args.iter().any(|it| it.contains("://")) => {
                self.ask(Rule::Egress, "it pushes to a place of its own");
            }
            ("push", words) => {
                let option = told.args.iter().find_map(|it| it.strip_prefix("--repo="));
                let target = words.first().copied().or(option);
                let is_changed = match target {
                    Some(name) => {
                        self.fresh.contains(&format!("{CHANGED}{name}"))
                            || self.fresh.contains(CHANGED)
                    }
                    None => self.fresh.iter().any(|it| it.starts_with(CHANGED)),
                };
                if target.is_some_and(is_address)
                    || words.iter().any(|it| is_login(it))
                    || is_changed
                {
                    self.ask(Rule::Egress, "it pushes to a place of its own");
                }
            }
            _ => {}
        }
    }
}

/// The machines that `git` is told to talk to. `HEAD:file` and `stash@{0}` are none.
pub(super) fn remotes(call: &Call<'_>) -> Vec<String> {
    let set = settings(call.plain()).filter(|it| renamed(&it.0.to_lowercase(), it.1).is_some());
    let mut places: Vec<&str> = set.map(|it| it.1).collect();
    if let Some(told) = told(call) {
        let words = words(told.args);
        let count = match told.verb {
            "clone" | "ls-remote" | "remote" | "submodule" | "subtree" => words.len(),
            // What stands behind it are branches.
            "fetch" | "pull" | "push" => 1,
            _ => 0,
        };
        let words = words.into_iter().enumerate();
        let words = words.filter(|(at, it)| *at < count || (count > 0 && is_login(it)));
        places.extend(words.map(|it| it.1));
        let options = ["--repo=", "--remote="];
        places.extend(
            told.args
                .iter()
                .filter_map(|it| options.iter().find_map(|option| it.strip_prefix(option))),
        );
    }
    let named = places.into_iter().filter(|it| is_address(it) && !it.contains("://"));
    let named = named.map(|it| host(it.split(':').next().unwrap_or(it)));
    let addresses = call.plain().iter().filter(|it| it.contains("://"));
    addresses.flat_map(|it| addressed(call, it)).chain(named).collect()
}

/// What is no option, and no value of one.
fn words(args: &[String]) -> Vec<&str> {
    Options::with(args, &VALUED).words
}

/// `config KEY VALUE`, `-c KEY=VALUE`.
pub(super) fn settings(plain: &[String]) -> impl Iterator<Item = (&str, &str)> {
    pairs(plain).chain(plain.iter().filter_map(|it| it.split_once('=')))
}

/// The remote whose address a setting changes; nothing stands for any of them.
fn renamed<'a>(key: &'a str, value: &str) -> Option<&'a str> {
    let is_default = key == "remote.pushdefault"
        || (key.starts_with("branch.")
            && (key.ends_with(".remote") || key.ends_with(".pushremote")));
    if is_default {
        return is_address(value).then_some("");
    }
    let name = key.strip_prefix("remote.")?;
    name.strip_suffix(".url").or_else(|| name.strip_suffix(".pushurl"))
}

/// `https://host/…`, `user@host:path`, `host:path`, and no name of a remote.
pub(super) fn is_address(place: &str) -> bool {
    let host = place.split_once(':').map(|it| it.0);
    place.contains("://") || host.is_some_and(|it| !it.is_empty() && !it.contains('/'))
}

/// `user@host:path`.
fn is_login(place: &str) -> bool {
    let login = place.split_once(':').and_then(|it| it.0.split_once('@'));
    login.is_some_and(|(user, host)| !user.contains('/') && !host.contains(['/', '{']))
}
