//! What must never run. Nobody can lift it: no trust, no policy, no confirmation.

use std::collections::BTreeSet;

use super::here::{self, Here};
use super::option;
use super::options::Options;
use crate::acts::Done;
use crate::finding::{self, Deed, Which};
use crate::paths::{is_disk, is_root};
use crate::{
    Access, Act, Call, Class, Decision, Engine, Rule, State, history, listed, marks, paths, text,
};

/// Which commands are blocked besides those that are always: names, and words that a command begins
/// with.
///
/// The commands that fetch from the network are blocked by default, because the way out has its own
/// tool; an operator can open them. What erases, formats, switches off or raises privileges cannot be
/// opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocklist {
    blocked: BTreeSet<String>,
    opened: BTreeSet<String>,
    where_it_runs: WhereItRuns,
}

/// What stands between a command and the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WhereItRuns {
    #[default]
    OnTheMachine,
    /// It can fill no other places than its own.
    InACage,
}

/// The network by name. Anything else that talks is a question, or a matter of the sandbox.
const NETWORK: [&str; 5] = ["curl", "wget", "nc", "ncat", "netcat"];
/// They write over what they delete.
const DESTROYING: [&str; 3] = ["shred", "srm", "wipe"];

impl Blocklist {
    /// The default and `blocked`, without those of `opened`. What is in both is blocked.
    #[must_use]
    pub fn new<S: AsRef<str>>(blocked: &[S], opened: &[S]) -> Self {
        let lower = |it: &S| it.as_ref().trim().to_lowercase();
        Self {
            blocked: blocked.iter().map(lower).filter(|it| !it.is_empty()).collect(),
            opened: opened.iter().map(lower).collect(),
            where_it_runs: WhereItRuns::OnTheMachine,
        }
    }

    /// The default for a command in a cage of ours: there what speaks to the network has no way out but our own, and
    /// cannot go around it; and `dd` that writes a plain file has no other place to write to.
    #[must_use]
    pub fn in_a_cage() -> Self {
        Self { where_it_runs: WhereItRuns::InACage, ..Self::new(&[], &NETWORK) }
    }

    /// The same and `blocked`.
    #[must_use]
    pub fn and<S: AsRef<str>>(mut self, blocked: &[S]) -> Self {
        self.blocked.extend(Self::new(blocked, &[]).blocked);
        self
    }

    /// The patterns that were added, each once.
    pub fn added(&self) -> impl Iterator<Item = &str> {
        self.blocked.iter().map(String::as_str)
    }

    /// Does an added pattern match a command and its arguments?
    fn names(&self, name: &str, args: &[String]) -> Option<&str> {
        let found = self.blocked.iter().find(|pattern| {
            let mut words = pattern.split_whitespace();
            let first = words.next().unwrap_or_default();
            let same =
                name == first || name.strip_prefix(first).is_some_and(|it| it.starts_with('.'));
            same && words
                .zip(args.iter().map(Some).chain(std::iter::repeat(None)))
                .all(|(word, arg)| arg.is_some_and(|it| it.to_lowercase().starts_with(word)))
        });
        found.map(String::as_str)
    }

    fn blocks_network(&self, name: &str) -> bool {
        NETWORK.contains(&name) && !self.opened.contains(name)
    }
}

impl Engine {
    pub(super) fn judge_blocklist(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        if let Some(pattern) = self.blocklist.names(name, call.plain()).map(str::to_owned) {
            self.deny(Rule::Blocked, format!("`{pattern}` is blocked here"));
        }
        self.judge_table(call, Decision::Deny);
        // `nc.traditional` is `nc`; `curl.py` is somebody's own.
        let kind = match name.split_once('.') {
            Some((kind, "traditional" | "openbsd")) => kind,
            Some(_) | None => name,
        };
        if NETWORK.contains(&kind) {
            self.classes.insert(Class::Network);
            if self.blocklist.blocks_network(kind) && here::spoken_to(call, state) == Here::No {
                self.deny(Rule::NetworkTool, format!("`{name}` goes around the guarded way out"));
            }
        }
        self.judge_dd(call, state);
        self.judge_erasing(call, state);
    }

    fn judge_dd(&mut self, call: &Call<'_>, state: &State) {
        if !matches!(call.name.as_str(), "dd" | "dcfldd" | "dc3dd") {
            return;
        }
        let is_harmless = match self.blocklist.where_it_runs {
            WhereItRuns::OnTheMachine => false,
            WhereItRuns::InACage => writes_plainly(call, state),
        };
        for arg in call.args {
            if let Some(path) = arg.strip_prefix("of=") {
                self.touch(Access::Write, path, state);
                if is_disk(path) {
                    self.deny(Rule::RawDevice, "`dd` writes over a disk");
                }
            } else if let Some(path) = arg.strip_prefix("if=") {
                self.touch(Access::Read, path, state);
                if !is_harmless {
                    self.deny(Rule::RawDevice, "`dd` copies raw data");
                }
            }
        }
    }

    /// `rm` and its like on something that must stay.
    fn judge_erasing(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let finds = matches!(name, "find" | "gfind") && call.has(&["-delete"]);
        if !erases(name) && !finds {
            return;
        }
        self.classes.insert(Class::Delete);
        let lower: Vec<String> = call.plain().iter().map(|it| it.to_lowercase()).collect();
        let letters = |wanted: &[char]| {
            lower
                .iter()
                .any(|it| it.starts_with('-') && !it.starts_with("--") && it.contains(wanted))
        };
        let unknown = call.args.iter().any(|it| it.starts_with(marks::HOLE));
        let options = Options::of(call.plain(), "", &[]);
        let recursive = letters(&['r']) || options.has("", "recursive") || finds;
        let force = letters(&['f']) || options.has("", "force") || finds;
        let operands = call.args.iter().map(String::as_str).filter(|it| !it.starts_with('-'));
        let operands = if finds { listed::roots(call) } else { operands.collect() };
        let given = operands.is_empty().then(|| call.stdin.map(text)).flatten();
        let given = given.filter(|_| name == "remove-item").and_then(|it| listed::items(&it));
        let given = given.unwrap_or_default();
        let destroys = DESTROYING.contains(&name) && !operands.is_empty();
        let taken = finds.then(|| finding::taken(call, Deed::Deletes));
        if let Some(history) = taken.as_ref().and_then(|it| it.history) {
            self.add_act(Done::new(Act::Erase, name, history));
        }
        let which = taken.map_or(Which::Named, |it| it.which);
        for path in operands.into_iter().chain(given.iter().map(String::as_str)) {
            let resolved = paths::resolved(path, state);
            self.touch(Access::Delete, path, state);
            if is_disk(&resolved) {
                self.deny(Rule::RawDevice, "it writes over a disk");
            }
            if history::is_history(&resolved) {
                self.add_act(Done::new(Act::Erase, name, path));
            }
            if let Some(root) = listed::root_of(&resolved).filter(|it| listed::is_everybodys(it)) {
                self.deny_found(root);
            } else if self.swept && self.stages > 1 && marks::has_hole(path) {
                self.ask(Rule::Erase, "it deletes what was found everywhere");
            }
            // Judged before: what deletes less than that.
            let is_remade = match &self.found {
                Some((place, is_only)) if path.contains(place) => *is_only && path == place,
                Some(_) | None if finds => self.finds_only_remade(call, state),
                Some(_) | None => path == listed::REMADE_LINE || self.is_remade(path, state),
            };
            if is_remade {
                continue;
            }
            if recursive || (unknown && is_root(&resolved)) {
                self.judge_recursive(path, &resolved, force, which);
            } else if resolved.starts_with('/') || marks::has_pattern(path) {
                self.ask(Rule::Erase, "it deletes files outside of the work, or many at once");
            }
        }
        if destroys {
            self.ask(Rule::Erase, "what it writes over cannot be had back");
        }
        if recursive && option(call, None, "no-preserve-root") {
            self.deny(Rule::EraseRoot, "it is told to delete even the root");
        }
    }

    /// What is found below a place is all of it.
    pub(in super::super) fn deny_found(&mut self, root: &str) {
        let shown = marks::shown(&paths::homely(root));
        self.deny(Rule::EraseRoot, format!("it deletes what it finds in `{shown}`"));
    }

    fn judge_recursive(&mut self, path: &str, resolved: &str, force: bool, which: Which) {
        let shown = marks::shown(&paths::homely(resolved));
        let here = matches!(marks::plain(resolved).as_str(), "." | ".." | "*");
        let absolute = resolved.starts_with('/')
            && !paths::is_shared(resolved)
            && !resolved.starts_with("/dev/fd");
        let open = marks::has_hole(path) || path.starts_with(marks::UNSET);
        let is_around = here || resolved.starts_with("..");
        if is_root(resolved) || (is_around && which != Which::Some) {
            self.deny(Rule::EraseRoot, format!("it deletes all of `{shown}`"));
        } else if force && resolved.ends_with(".git/worktrees") {
            self.deny(Rule::EraseRoot, "other work trees are in there");
        } else if absolute && force && which == Which::Named && !open {
            self.deny(Rule::EraseRoot, format!("`{shown}` is outside of the work"));
        } else {
            self.ask(Rule::Erase, format!("it deletes `{shown}` and all below"));
        }
    }
}

/// Does `dd` read no disk, and write to a file that is neither a device nor one of the system?
fn writes_plainly(call: &Call<'_>, state: &State) -> bool {
    let mut outputs = call.args.iter().filter_map(|it| it.strip_prefix("of=")).peekable();
    let mut inputs = call.args.iter().filter_map(|it| it.strip_prefix("if="));
    let is_plain = |it: &str| {
        let path = paths::resolved(it, state);
        let is_known = !marks::has_hole(&path)
            && !marks::has_pattern(&path)
            && !it.is_empty()
            && !it.contains(marks::UNSET);
        let is_special = ["/dev", "/proc", "/sys"]
            .iter()
            .any(|it| path.strip_prefix(it).is_some_and(|it| it.is_empty() || it.starts_with('/')));
        is_known && !is_special && !path.starts_with("..") && !paths::is_system(&path)
    };
    let is_disk = |it: &str| is_disk(&paths::resolved(it, state));
    outputs.peek().is_some() && outputs.all(is_plain) && !inputs.any(is_disk)
}

/// Does a command delete what it is given?
pub(in super::super) fn erases(name: &str) -> bool {
    DESTROYING.contains(&name)
        || matches!(name, "rm" | "unlink" | "rmdir" | "grm" | "remove-item" | "del" | "erase")
}
