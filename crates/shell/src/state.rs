//! What a shell knows while it runs: variables, functions, files that it wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::limits::{REFERENCES_MAX, VALUE_BYTES_MAX};
use crate::tables::lines;
use crate::{HOLE, Words, syntax};

/// Stands for the home directory: it begins with a slash, as every one does.
pub(super) const HOME: &str = "/home/~";
/// Stands for the working directory, and is one.
pub(super) const HERE: &str = "/proc/self/cwd";

/// What every shell has and only a run would show.
static CHANGING: Words = Words::named("state.CHANGING");

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Var {
    Text(String),
    /// Keys and values, in order.
    List(Vec<(String, String)>),
}

impl Var {
    /// Lists are read by their numbers, however they were written.
    pub(super) fn list(mut items: Vec<(String, String)>) -> Self {
        if items.iter().all(|it| it.0.parse::<u64>().is_ok()) {
            items.sort_by_key(|it| it.0.parse::<u64>().unwrap_or_default());
        }
        Self::List(items)
    }

    /// As `$name` shows it.
    pub(super) fn first(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(items) => items.first().map(|it| it.1.clone()).unwrap_or_default(),
        }
    }

    pub(super) fn all(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::List(items) => items.iter().map(|it| it.1.clone()).collect(),
        }
    }
}

/// A shell or a subshell.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) vars: BTreeMap<String, Var>,
    pub(super) unset: BTreeSet<String>,
    /// `$1` and on.
    pub(super) args: Vec<String>,
    pub(super) functions: BTreeMap<String, Rc<syntax::Command>>,
    pub(super) aliases: BTreeMap<String, String>,
    /// Files whose content is known because it was written here.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Where it starts, below the workspace; empty at its top.
    pub(super) start: String,
    /// Where `cd` went.
    pub(super) cwd: Option<String>,
    /// What `declare` said of variables: `l`, `u`, `A`, `n`.
    pub(super) kinds: BTreeMap<String, char>,
    pub(super) calls: usize,
    /// What variables were before functions made them their own, innermost last.
    pub(super) locals: Vec<BTreeMap<String, Option<Var>>>,
}

/// What is remembered of a file: of a long one only that it is there. In a loop it would grow with every turn.
pub(super) fn remembered(content: Vec<u8>) -> Vec<u8> {
    if content.len() > VALUE_BYTES_MAX { super::engine::forgotten(&content) } else { content }
}

impl State {
    /// `None`: not set by this text.
    pub(super) fn get(&self, name: &str) -> Option<Var> {
        if let Some(target) = self.target(name) {
            return self.get(&target);
        }
        if let Some(var) = self.vars.get(name) {
            return Some(var.clone());
        }
        if self.unset.contains(name) {
            return None;
        }
        if let Ok(number) = name.parse::<usize>() {
            return match number.checked_sub(1) {
                None => Some(Var::Text("bash".to_owned())),
                Some(_) if self.args == [HOLE.to_string()] => Some(Var::Text(HOLE.to_string())),
                Some(index) => self.args.get(index).cloned().map(Var::Text),
            };
        }
        let text = match name {
            "#" if self.args == [HOLE.to_string()] => HOLE.to_string(),
            "#" => self.args.len().to_string(),
            "?" => "0".to_owned(),
            "-" => "hB".to_owned(),
            _ if CHANGING.contains(&name) => HOLE.to_string(),
            "IFS" => " \t\n".to_owned(),
            // What nearly every shell has. Letters of these are used to spell words with.
            _ => {
                let mut known = lines("state.KNOWN").filter_map(|it| it.split_once(' '));
                known.find(|it| it.0 == name)?.1.replace("\\s", " ")
            }
        };
        Some(Var::Text(text))
    }

    /// What is in a file that was written here.
    pub(super) fn file(&self, path: &str) -> Option<String> {
        self.files.get(path).map(|it| super::engine::text(it))
    }

    pub(super) fn set(&mut self, name: &str, var: Var) {
        if let Some(target) = self.target(name) {
            return self.set(&target, var);
        }
        let var = match (self.kinds.get(name), var) {
            (Some('l'), Var::Text(text)) => Var::Text(text.to_lowercase()),
            (Some('u'), Var::Text(text)) => Var::Text(text.to_uppercase()),
            (_, var) => var,
        };
        self.unset.remove(name);
        self.vars.insert(name.to_owned(), var);
    }

    /// What a variable was before.
    pub(super) fn restore(&mut self, name: &str, before: Option<Var>) {
        match before {
            Some(var) => self.set(name, var),
            None => drop(self.vars.remove(name)),
        }
    }

    /// The variable that another one stands for (`declare -n`).
    fn target(&self, name: &str) -> Option<String> {
        if self.kinds.get(name) != Some(&'n') {
            return None;
        }
        let mut target = self.vars.get(name)?.first();
        for _ in 0..REFERENCES_MAX {
            if self.kinds.get(&target) != Some(&'n') {
                break;
            }
            target = self.vars.get(&target)?.first();
        }
        Some(target)
    }

    /// The key of an element: what is no key of a map is an expression.
    pub(super) fn key(&mut self, name: &str, index: &str) -> String {
        if self.kinds.get(name) == Some(&'A') || name.starts_with("BASH_") {
            return index.to_owned();
        }
        let number = super::arithmetic::evaluate(index, self);
        number.map_or_else(|| index.to_owned(), |it| it.to_string())
    }

    pub(super) fn set_text(&mut self, name: &str, text: impl Into<String>) {
        self.set(name, Var::Text(text.into()));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.vars.remove(name);
        self.unset.insert(name.to_owned());
    }

    pub(super) fn ifs(&self) -> String {
        self.get("IFS").map_or_else(|| " \t\n".to_owned(), |it| it.first())
    }

    /// What holds after a part that may not have run: what it changed is not known any more.
    pub(super) fn join(&mut self, other: Self) {
        for (name, var) in &other.vars {
            if self.vars.get(name) != Some(var) {
                self.vars.insert(name.clone(), Var::Text(HOLE.to_string()));
            }
        }
        for name in
            self.vars.keys().filter(|it| !other.vars.contains_key(*it)).cloned().collect::<Vec<_>>()
        {
            self.vars.insert(name, Var::Text(HOLE.to_string()));
        }
        for name in &other.unset {
            if self.vars.contains_key(name) {
                self.vars.insert(name.clone(), Var::Text(HOLE.to_string()));
            }
        }
        self.functions.extend(other.functions);
        self.aliases.extend(other.aliases);
        for (path, content) in other.files {
            match self.files.get(&path) {
                Some(known) if *known != content => {
                    let both = [known.as_slice(), b"\n", &content].concat();
                    self.files.insert(path, remembered(both));
                }
                Some(_) => {}
                None => {
                    self.files.insert(path, content);
                }
            }
        }
        if self.args != other.args {
            self.args = vec![HOLE.to_string()];
        }
        if self.cwd != other.cwd {
            self.cwd = Some(HOLE.to_string());
        }
    }
}
