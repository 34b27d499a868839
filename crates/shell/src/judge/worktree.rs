//! What `git` deletes of a work tree, and where that tree lies.

use super::files::is_everything;
use super::option;
use crate::{Access, Call, Class, Engine, Rule, State, marks, paths};

/// What `git` is told to do, and in which folder.
pub(super) struct Told<'a> {
    /// `push`, `clean`.
    pub(super) verb: &'a str,
    /// What stands behind it.
    pub(super) args: &'a [String],
    /// The folder that options name; nothing is the one where it runs.
    folder: String,
}

impl Told<'_> {
    /// A place as it is named from where the command was given.
    pub(super) fn at(&self, place: &str) -> String {
        let is_below = !self.folder.is_empty() && !place.starts_with('/');
        if is_below { format!("{}/{place}", self.folder) } else { place.to_owned() }
    }
}

/// The word of `git` behind its own options.
pub(super) fn told<'a>(call: &Call<'a>) -> Option<Told<'a>> {
    let valued = crate::told::valued("git");
    let mut folder = String::new();
    let mut at = 0;
    while let Some(arg) = call.args.get(at).filter(|it| it.starts_with('-')) {
        let next = call.args.get(at + 1).filter(|_| valued.contains(&arg.as_str()));
        at += 1 + usize::from(next.is_some());
        let place = match arg.as_str() {
            "-C" | "--work-tree" => next.map(String::as_str),
            _ => arg.strip_prefix("--work-tree="),
        };
        if let Some(place) = place {
            folder = if place.starts_with('/') || folder.is_empty() {
                place.to_owned()
            } else {
                format!("{folder}/{place}")
            };
        }
    }
    let (verb, args) = call.args.get(at..)?.split_first()?;
    Some(Told { verb, args, folder })
}

impl Engine {
    pub(super) fn judge_worktree(&mut self, call: &Call<'_>, state: &State) {
        if call.name != "git" {
            return;
        }
        let Some(told) = told(call) else { return };
        if let Some(target) = told.args.last().filter(|_| told.verb == "mv") {
            self.moved.insert(paths::resolved(&told.at(target), state));
        }
        let deletes = match told.verb {
            "clean" => option(call, Some('f'), "force") && !option(call, Some('n'), "dry-run"),
            "rm" => !option(call, Some('n'), "dry-run") && !call.has(&["--cached"]),
            _ => false,
        };
        if !deletes {
            return;
        }
        self.classes.insert(Class::Delete);
        let named = told.args.iter().map(String::as_str).filter(|it| !it.starts_with('-'));
        let named: Vec<&str> = named.collect();
        let named = if named.is_empty() { vec!["."] } else { named };
        for place in named {
            let place = told.at(place);
            let path = paths::resolved(&place, state);
            if is_everything(path.trim_end_matches('/')) {
                let shown = marks::shown(&paths::homely(&path));
                self.deny(Rule::EraseRoot, format!("it deletes what is in `{shown}`"));
            }
            self.touch(Access::Delete, &place, state);
        }
    }
}
