//! What commands do that lasts or goes out.

use shell::{Access, Act, Class, Rule};

use super::{Deed, Deeds, Kind, of_file, removal};
use crate::command::Command;
use crate::target::is_ours;

/// What a finding about a command amounts to, where it is an act: a person is asked, unless the user asked for it.
fn act_of(rule: Rule) -> Option<Kind> {
    ACTS.iter().find(|(rules, _)| rules.contains(&rule)).map(|(_, kind)| *kind)
}

const ACTS: &[(&[Rule], Kind)] = &[
    (&[Rule::Egress, Rule::Carried, Rule::CloudCopy, Rule::Collection], Kind::Send),
    (&[Rule::Agent, Rule::Persistence, Rule::Service], Kind::Command(Act::Extend)),
    (&[Rule::CloudIdentity, Rule::Accounts, Rule::Privilege], Kind::Command(Act::Grant)),
    (&[Rule::SecurityOff, Rule::History, Rule::LogTampering], Kind::Command(Act::Weaken)),
    (&[Rule::ForcePush, Rule::Encrypt], Kind::Command(Act::Erase)),
    (&[Rule::RemoteCode], Kind::Command(Act::Depend)),
];

/// What the commands do.
pub(super) fn of(commands: &[Command]) -> Deeds {
    let mut acts: Vec<Deed> = Vec::new();
    let mut works = false;
    for command in commands {
        let reading = &command.reading;
        for done in &reading.acts {
            let what = format!("`{}`", done.command);
            acts.push(Deed { kind: Kind::Command(done.act), what, object: done.named.clone() });
        }
        for finding in &reading.findings {
            let Some(kind) = act_of(finding.rule) else { continue };
            // What goes out by an act that has a name is that act; what is installed or lost sends nothing.
            if kind != Kind::Send || !reading.acts.iter().any(|it| sends(it.act)) {
                let what = format!("the command ({})", finding.reason);
                acts.push(Deed { kind, what, object: String::new() });
            }
        }
        for place in &reading.places {
            match place.access {
                Access::Write => acts.extend(of_file(&place.path)),
                Access::Delete => acts.extend(deleted(&place.path)),
                Access::Read | Access::Execute => {}
            }
        }
        // To look at a secret is to look: what becomes of it then is judged when it goes anywhere.
        let looks = |it: &Class| {
            matches!(it, Class::Read)
                || (matches!(it, Class::Credentials) && reading.classes.contains(&Class::Read))
        };
        // What could not be told apart is not only looking.
        works |= reading.told.unsure || !reading.classes.iter().all(looks);
    }
    acts.sort_by_key(|it| it.kind);
    acts.dedup_by(|a, b| a.kind == b.kind && a.object == b.object);
    match (acts.is_empty(), works) {
        (false, _) => Deeds::Acts(acts),
        (true, true) => Deeds::Work,
        (true, false) => Deeds::Look,
    }
}

/// The deed of deleting a file, if it is one.
fn deleted(path: &str) -> Option<Deed> {
    if is_ours(path) {
        return of_file(path);
    }
    let erased = || Deed {
        kind: Kind::Command(Act::Erase),
        what: format!("deleting `{path}`"),
        object: path.rsplit('/').next().unwrap_or_default().to_owned(),
    };
    removal::of_deleted(path).or_else(|| is_elsewhere(path).then(erased))
}

/// Does an act of this kind give something to others by itself?
pub(super) const fn sends(act: Act) -> bool {
    matches!(act, Act::Publish | Act::Push | Act::Merge | Act::Message)
}

/// Is it beyond what work leaves behind: not where the agent works, and not where everybody keeps what is thrown away?
fn is_elsewhere(path: &str) -> bool {
    let thrown_away = ["/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/"];
    let parts = path.split('/').filter(|it| !it.is_empty()).count();
    let is_deep = path.starts_with("/home/") && parts > 3 || path.starts_with("~/") && parts > 2;
    path.starts_with(['/', '~']) && !is_deep && !thrown_away.iter().any(|it| path.starts_with(it))
}

/// Did what they print come from elsewhere?
pub(crate) fn print_others(commands: &[Command]) -> bool {
    commands.iter().any(|it| {
        let reading = &it.reading;
        let told = &reading.told;
        !reading.hosts.is_empty()
            || told.programs.iter().any(|it| ASKING.contains(&it.as_str()))
            || told.commands.iter().any(|it| FETCHING.contains(&it.as_str()))
            || reading.places.iter().any(|it| super::edits::is_of_others(&it.path))
    })
}

/// Programs that show what others wrote on a server.
const ASKING: &[&str] =
    &["gh", "glab", "hub", "jira", "curl", "wget", "http", "lynx", "w3m", "acli", "sentry-cli"];
/// Commands that bring what others wrote.
const FETCHING: &[&str] = &[
    "git clone",
    "git fetch",
    "git pull",
    "git ls-remote",
    "git submodule",
    "npm view",
    "npm info",
    "npm search",
    "cargo search",
    "cargo info",
    "pip search",
    "pip show",
    "docker pull",
    "docker search",
    "go list",
];
