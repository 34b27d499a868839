//! Places where code is kept, and settings of tools that fetch code.

use super::super::Class;
use super::super::engine::Engine;
use super::super::simple::Call;
use super::option;
use super::options::Options;
use super::pushed::settings;
use crate::Rule;
use crate::tables::Words;

/// Parts of addresses of a forge that say who may do what.
static RIGHTS: Words = Words::named("judge.repos.RIGHTS");
/// Tools with settings that say where packages come from.
const MANAGERS: [&str; 9] =
    ["npm", "pnpm", "yarn", "pip", "pip3", "gem", "bundle", "composer", "poetry"];

impl Engine<'_> {
    pub(super) fn judge_repos(&mut self, call: &Call<'_>) {
        match call.name.as_str() {
            "gh" | "glab" => self.judge_forge(call),
            // Of every work, not of this one.
            "git"
                if call.has(&["--global", "--system"])
                    && call.words().iter().any(|it| it == "core.hookspath")
                    && call.words().len() > 2 =>
            {
                self.classes.insert(Class::Persistence);
                self.ask(Rule::Persistence, "every `git` runs then what lies there");
            }
            "git" if leads_elsewhere(call) => {
                self.ask(Rule::RemoteCode, "what is fetched comes from another place then");
            }
            name if MANAGERS.contains(&name) => self.judge_manager(call),
            _ => {}
        }
    }

    fn judge_forge(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let second = words.get(1).map(String::as_str).unwrap_or_default();
        let plain = call.plain();
        let options = Options::of(plain, "XfFHqt", &[]);
        let method = options.values("X", "method").last().unwrap_or_default().to_uppercase();
        let gives = ["-f", "-F", "--field", "--raw-field", "--input"];
        let changes = !matches!(method.as_str(), "" | "GET" | "HEAD")
            || (method.is_empty() && call.has(&gives));
        // Behind a method or a field, the address is any of the words.
        let touches_rights = words.iter().any(|it| RIGHTS.iter().any(|part| it.contains(part)))
            || plain.iter().any(|it| it.starts_with("visibility=") || it.starts_with("private="));
        let opens = match first {
            "api" => changes && touches_rights,
            "repo" => {
                (second == "edit" && option(call, None, "visibility"))
                    || (second == "deploy-key" && words.iter().any(|it| it == "add"))
            }
            "workflow" => second == "disable",
            _ => false,
        };
        if opens {
            self.classes.insert(Class::Privilege);
            self.ask(Rule::Accounts, "it changes who may read or change code");
        }
        let deletes =
            (first == "repo" && second == "delete") || (first == "api" && method == "DELETE");
        if deletes {
            self.classes.insert(Class::Delete);
            self.ask(Rule::Erase, "it deletes what others can have");
        }
    }

    /// Settings that say where code comes from, or what runs it.
    fn judge_manager(&mut self, call: &Call<'_>) {
        let words = call.words();
        let sets =
            words.iter().take(2).any(|it| matches!(it.as_str(), "set" | "config" | "sources"));
        let in_the_clear = call.plain().iter().any(|it| {
            let value = it.split_once('=').map_or(it.as_str(), |it| it.1);
            value.starts_with("http://")
                && !value.starts_with("http://localhost")
                && !value.starts_with("http://127.")
        });
        let hooks = ["preinstall", "postinstall", "prepublish", "postprepare"];
        let is_hook = |it: &String| {
            let name = it.split('=').next().unwrap_or_default();
            hooks.contains(&name.strip_prefix("scripts.").unwrap_or_default())
        };
        let plants = match words {
            [verb, name, ..] if verb == "set-script" => hooks.contains(&name.as_str()),
            [kind, verb, rest @ ..] if kind == "pkg" && verb == "set" => rest.iter().any(is_hook),
            _ => false,
        };
        if plants {
            self.classes.insert(Class::Persistence);
            self.ask(Rule::Persistence, "whoever installs the package runs it");
        }
        let runs = words.iter().any(|it| it.starts_with("script-shell"));
        if sets && (in_the_clear || (runs && words.len() > 2)) {
            self.ask(Rule::RemoteCode, "anybody can say then what is installed");
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
