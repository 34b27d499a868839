//! Variables that matter by their names, and those that belong to a function.

use crate::judge::is_of_this_machine;
use crate::syntax::Simple;
use crate::{Engine, Rule, State, Var, Words, marks, paths};

/// Variables whose value is run as a command by somebody.
static RUN_BY_SOMEBODY: Words = Words::named("variables.RUN_BY_SOMEBODY");

/// Variables that say where programs, or what they load, are looked for.
const SEARCHED: [&str; 7] =
    ["PATH", "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH", "GOFLAGS"];

/// Variables that lead what programs send over another machine.
const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy"];

impl Engine {
    /// Elements of lists that the shell keeps: aliases, and where commands lie.
    pub(super) fn named_by_shell(&mut self, name: &str, key: &str, value: &str, state: &mut State) {
        if name == "BASH_ALIASES" {
            self.run_quietly(value, state);
            state.aliases.insert(key.to_owned(), value.to_owned());
        }
        if name == "BASH_CMDS" {
            self.ask(Rule::Masquerade, "a command gets the name of another");
        }
    }

    /// A value for a name that may have an index: `x`, `x[3]`.
    pub(super) fn put(&mut self, place: &str, value: String, state: &mut State) {
        match place.strip_suffix(']').and_then(|it| it.split_once('[')) {
            Some((name, index)) => self.put_element(name, index, value, false, state),
            None => {
                self.judge_variable(place, &value, state);
                state.set_text(place, value);
            }
        }
    }

    /// A value for one element of a list, in its place or behind what is there.
    pub(super) fn put_element(
        &mut self,
        name: &str,
        index: &str,
        value: String,
        appends: bool,
        state: &mut State,
    ) {
        let key = state.key(name, index);
        self.named_by_shell(name, &key, &value, state);
        self.judge_number(&value, state);
        let mut items = match state.get(name) {
            Some(Var::List(items)) => items,
            Some(Var::Text(text)) => vec![("0".to_owned(), text)],
            None => Vec::new(),
        };
        match items.iter_mut().find(|it| it.0 == key) {
            Some(item) if appends => item.1.push_str(&value),
            Some(item) => item.1 = value,
            None => items.push((key, value)),
        }
        let var = self.list(items);
        self.judge_variable(name, &var.first(), state);
        state.set(name, var);
    }

    /// Where a number is expected, the name stands for an expression, and that is run.
    fn judge_number(&mut self, value: &str, state: &State) {
        let begins = value.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        if begins && value.contains('[') {
            self.subscripts(value, &mut state.clone());
        }
    }

    pub(super) fn judge_variable(&mut self, name: &str, value: &str, state: &State) {
        self.judge_number(value, state);
        self.judge_git_variable(name, value, state);
        super::acts::of_variable(name, value).into_iter().for_each(|it| self.add_act(it));
        let is_shared = |it: &str| paths::is_shared(&format!("{}/", it.trim_end_matches('/')));
        let searches = (SEARCHED.contains(&name) && value.split(':').any(is_shared))
            || (name == "PATH" && searches_here(value, state));
        if searches {
            self.ask(Rule::Loader, format!("`{name}` makes programs load what it names"));
        }
        if RUN_BY_SOMEBODY.contains(&name) && !value.is_empty() && !super::judge::is_ssh(value) {
            self.run_quietly(value, state);
            if name == "PROMPT_COMMAND" {
                self.ask(Rule::Persistence, "`PROMPT_COMMAND` runs with every prompt");
            }
        }
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS4") && value.contains(['$', '`']) {
            self.quietly(|it| it.prompt(value, &mut state.clone()));
        }
        let is_proxy = PROXIES.contains(&name.to_ascii_lowercase().as_str());
        if is_proxy && !value.is_empty() && !is_of_this_machine(value) {
            self.ask(Rule::Egress, format!("`{name}` leads everything over another machine"));
        }
        if super::judge::leads_to_containers(name, value) {
            self.ask(Rule::Egress, format!("`{name}` leads to containers of another machine"));
        }
        self.judge_named(name, value);
    }
}

/// Folders of tools that a work installs for itself, and that people name without their place.
const OF_TOOLS: [&str; 6] =
    ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", ".bin", "env/bin"];

/// Are programs looked for first in the folder where one happens to be, or in one below it?
fn searches_here(path: &str, state: &State) -> bool {
    let is_of_system = |it: &&str| it.starts_with("/usr/") || matches!(*it, "/bin" | "/sbin");
    let mut first = path.split(':').take_while(|it| !is_of_system(it));
    first.any(|it| {
        // What is not set here is nothing, and leaves nothing between two signs.
        let is_named = !it.is_empty() && !marks::has_hole(it);
        let is_relative =
            !it.starts_with(['/', '~']) && !OF_TOOLS.iter().any(|tool| it.ends_with(tool));
        let is_here = paths::resolved(it, state) == "." || it == super::state::HERE;
        is_named && (is_relative || is_here)
    })
}

/// What `declare` says of variables: letters of one kind, a map, another name.
pub(super) fn declared(fields: &[String], simple: &Simple, state: &mut State) {
    let flags: String = fields.iter().filter_map(|it| it.strip_prefix('-')).collect();
    let Some(kind) = flags.chars().find(|it| "luAn".contains(*it)) else { return };
    for name in named(fields, simple) {
        // A name for another one is set before it stands for it.
        state.kinds.remove(&name);
        if kind == 'n' {
            state.vars.remove(&name);
        }
        state.kinds.insert(name, kind);
    }
}

/// Variables that a function declares are its own: they are what they were when it ends.
pub(super) fn own(fields: &[String], simple: &Simple, state: &mut State) {
    let is_local =
        fields.first().is_some_and(|it| matches!(it.as_str(), "local" | "declare" | "typeset"));
    let is_global = fields.iter().any(|it| it.starts_with('-') && it.contains('g'));
    if !is_local || is_global || state.locals.is_empty() {
        return;
    }
    for name in named(fields, simple) {
        let before = state.vars.get(&name).cloned();
        if let Some(locals) = state.locals.last_mut() {
            locals.entry(name).or_insert(before);
        }
    }
}

/// The names that a declaration is about.
fn named(fields: &[String], simple: &Simple) -> Vec<String> {
    let assigned = simple.assignments.iter().map(|it| it.name.clone());
    let named = fields.iter().skip(1).filter(|it| !it.starts_with(['-', '+']));
    let named = named.map(|it| marks::plain(it.split('=').next().unwrap_or_default()));
    assigned.chain(named).collect()
}
