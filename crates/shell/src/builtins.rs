//! Builtins that change what the shell knows, or run text.

use crate::simple::known;
use crate::syntax::{Part, Simple, Word, literal};
use crate::{Call, Engine, HOLE, Output, Rule, State, Var, Words, marks, names, paths, unknown};

/// They read arguments as names or expressions, and expand the subscripts in them.
static EVALUATING: Words = Words::named("builtins.EVALUATING");

impl Engine {
    /// `None`: it is no builtin of this kind.
    pub(super) fn builtin(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        // A builtin has no path.
        if call.path.contains('/') {
            return None;
        }
        if let Some(output) = self.running(call, state) {
            return Some(output);
        }
        if EVALUATING.contains(&call.path.as_str()) {
            for arg in call.plain() {
                self.subscripts(arg, state);
            }
        }
        if let Some(output) = self.unsure(call, state) {
            return Some(output);
        }
        match call.path.as_str() {
            "set" => {
                self.step(call);
                self.set(call, state);
            }
            "shift" => {
                let count = call.plain().first().and_then(|it| it.parse().ok()).unwrap_or(1);
                let count = state.args.len().min(count);
                state.args.drain(..count);
            }
            "unset" => {
                for name in call.operands() {
                    if name.starts_with("HIST") || name == "SAVEHIST" {
                        self.history(name);
                    }
                    state.functions.remove(name);
                    state.remove(name);
                }
            }
            "enable" if call.short('f') => {
                self.record_all(call);
                self.ask(Rule::Loader, "it loads code into the shell");
            }
            "hash" if call.short('p') => {
                self.record_all(call);
                self.ask(Rule::Masquerade, "a command gets the name of another");
            }
            "let" => {
                for text in call.plain() {
                    super::arithmetic::evaluate(text, state);
                }
            }
            "shopt" if call.short('u') && call.short('o') && call.has(&["history"]) => {
                self.record_all(call);
                self.history("shopt -uo history");
            }
            "shopt" | "true" | ":" | "wait" | "hash" | "umask" | "ulimit" | "times" | "enable"
            | "compopt" => {
                self.record_all(call);
            }
            name if names::DECLARING.contains(&name) => {
                self.declare(call, state);
                if call.short('p') || call.args.is_empty() {
                    return Some(shown(call, state));
                }
            }
            _ => return None,
        }
        self.status = Some(true);
        // Without arguments they say what there is.
        let tells = matches!(call.path.as_str(), "set" | "hash" | "shopt" | "umask" | "ulimit")
            && call.operands().is_empty();
        Some(if tells { unknown() } else { Output::new() })
    }

    /// Builtins that may fail, or after which nothing may run.
    fn unsure(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        match call.path.as_str() {
            "cd" | "pushd" => {
                self.record_all(call);
                let target = call.operands().first().cloned();
                let target = target.unwrap_or_else(|| super::state::HOME.to_owned());
                // Where else it looks for what is not here.
                let from = state.get("CDPATH").map(|it| it.first()).unwrap_or_default();
                let from = from.split(':').next().filter(|it| !it.is_empty());
                let target = match from.filter(|_| !target.starts_with(['/', '.'])) {
                    Some(from) => format!("{from}/{target}"),
                    None => target,
                };
                state.cwd = Some(paths::resolved(&target, state));
            }
            "getopts" => {
                for name in ["OPTARG", "OPTIND"]
                    .into_iter()
                    .chain(call.operands().get(1).map(String::as_str))
                {
                    state.set_text(name, HOLE.to_string());
                }
            }
            "break" | "continue" | "return" | "exit" | "logout" => {
                self.record_all(call);
                match call.path.as_str() {
                    "break" | "continue" => self.left.turns += 1,
                    "return" => self.left.functions += 1,
                    _ => self.left.shells += 1,
                }
            }
            "false" => {
                self.record_all(call);
                self.status = Some(false);
                return Some(Output::new());
            }
            "test" | "[" => {
                let closes = usize::from(call.path == "[");
                let count = call.args.len().saturating_sub(closes);
                let words = call.args.get(..count).unwrap_or_default();
                self.status = super::conditions::holds(words, false, state);
                return Some(Output::new());
            }
            "read" | "mapfile" | "readarray" => {
                self.read(call, state);
            }
            _ => return None,
        }
        self.status = None;
        Some(Output::new())
    }

    /// Builtins that run text, or keep it to be run.
    fn running(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        match call.path.as_str() {
            "eval" => {
                let text = call.args.join(" ");
                return Some(self.run_text(&text, state, call.stdin));
            }
            "source" | "." => return Some(self.source(call, state)),
            "trap" if call.short('p') || call.args.is_empty() => return Some(unknown()),
            "trap" => {
                let operands = call.operands();
                if let Some(text) = operands.first().filter(|_| operands.len() > 1) {
                    self.run_text(text, &mut state.clone(), None);
                    if call.has(&["DEBUG"]) {
                        self.ask(Rule::Persistence, "a trap sees every command");
                    }
                }
            }
            "compgen" | "complete" | "bind" => {
                for (_, text) in call.pairs().filter(|it| matches!(it.0, "-C" | "-x")) {
                    let text = text.rsplit("\":").next().unwrap_or(text);
                    self.run_text(text, &mut state.clone(), None);
                }
                self.record_all(call);
            }
            "printf" if call.has(&["-v"]) => {
                for arg in call.plain().iter().skip(1).take(1) {
                    self.subscripts(arg, state);
                }
                let rest = call.args.get(2..).unwrap_or_default();
                let text = self.known_or_not(super::printing::printf(rest));
                let name = call.plain().get(1).cloned().unwrap_or_default();
                self.put(&name, super::engine::text(&text), state);
            }
            "alias" => {
                for (name, value) in
                    call.plain().iter().filter_map(|it| it.split_once('=').map(owned))
                {
                    self.run_quietly(&value, state);
                    state.aliases.insert(name, value);
                }
                if !call.plain().iter().any(|it| it.contains('=')) {
                    return Some(unknown());
                }
            }
            "unalias" => {}
            "fc" if !call.short('l') => {
                self.record_all(call);
                self.ask(Rule::Dynamic, "it runs a command of the history");
            }
            _ => return None,
        }
        self.status = Some(true);
        Some(Output::new())
    }

    pub(super) fn record_all(&mut self, call: &Call<'_>) {
        let mut fields = vec![call.path.clone()];
        fields.extend(call.args.iter().cloned());
        self.record(&fields);
    }

    fn source(&mut self, call: &Call<'_>, state: &mut State) -> Output {
        let operands = call.operands();
        let Some(path) = operands.first() else { return Output::new() };
        if paths::is_stdin(path) {
            return self.run_text(&known(call.stdin), state, None);
        }
        if let Some(text) = state.file(&paths::resolved(path, state)) {
            return self.run_text(&text, state, call.stdin);
        }
        self.record_all(call);
        self.run_file(path, state);
        // What cannot be run is shown in what the shell says of it.
        self.touch(super::Access::Read, path, state);
        unknown()
    }

    /// A program or script that is read from a file.
    pub(super) fn run_file(&mut self, path: &str, state: &State) {
        self.touch(super::Access::Execute, path, state);
        self.judge_run(path);
        let resolved = paths::resolved(path, state);
        if resolved.starts_with("/dev/fd") && !state.files.contains_key(&resolved) {
            self.ask(Rule::Dynamic, "it runs what a descriptor holds");
        }
        let mut folders = resolved.match_indices('/').filter_map(|it| resolved.get(..it.0));
        if folders.any(|it| self.fresh.contains(&format!("clone:{it}"))) {
            self.ask(Rule::FreshRun, "it runs what it fetched from somebody else before");
        }
        let is_of_unnamed = self.fresh.contains(super::judge::UNNAMED);
        if self.fresh.contains(&resolved) || (is_of_unnamed && !resolved.starts_with('/')) {
            self.ask(Rule::FreshRun, "it runs a file that it wrote or fetched before");
        }
    }

    fn set(&mut self, call: &Call<'_>, state: &mut State) {
        let args = call.plain();
        if call.pairs().any(|it| it == ("+o", "history")) {
            self.history("set +o history");
        }
        let operands = args.iter().position(|it| it == "--").map(|it| it + 1);
        let first = operands.or_else(|| {
            let first = args.first()?;
            (!first.starts_with(['-', '+'])).then_some(0)
        });
        if let Some(first) = first {
            state.args = args.get(first..).unwrap_or_default().to_vec();
        }
    }

    pub(super) fn history(&mut self, what: &str) {
        self.ask(Rule::History, format!("`{what}` keeps commands out of the history"));
    }

    /// `export name`, `declare name=value` whose words only came out of an expansion.
    fn declare(&mut self, call: &Call<'_>, state: &mut State) {
        for arg in call.operands() {
            if let Some((name, value)) = arg.split_once('=') {
                self.judge_variable(name, value, state);
                state.set_text(name, value);
            }
        }
    }
}

/// `kill -9 $$`: a shell that is ended so leaves no history.
pub(super) fn ends_itself(simple: &Simple) -> bool {
    let is_own = |it: &Word| {
        let parts = match it.parts.as_slice() {
            [Part::Double(parts)] => parts.as_slice(),
            parts => parts,
        };
        matches!(parts, [Part::Parameter(it)] if matches!(it.name.as_str(), "$" | "BASHPID"))
    };
    let is = |all: &[&str], it: &Word| literal(it).is_some_and(|it| all.contains(&it.as_str()));
    let signal = ["-9", "-KILL", "-SIGKILL", "KILL", "9"];
    simple.words.first().is_some_and(|it| is(&["kill", "/bin/kill"], it))
        && simple.words.iter().any(|it| is(&signal, it))
        && simple.words.iter().any(is_own)
}

/// `declare -p NAME`.
fn shown(call: &Call<'_>, state: &State) -> Output {
    let [name] = call.operands() else { return unknown() };
    match state.get(name) {
        Some(Var::Text(text))
            if !text.contains(['"', '$', '`', '\\', '\n'])
                && !marks::has_hole(&text)
                && !state.kinds.contains_key(name) =>
        {
            format!("declare -- {name}=\"{text}\"\n").into_bytes()
        }
        Some(_) | None => unknown(),
    }
}

fn owned((a, b): (&str, &str)) -> (String, String) {
    (a.to_owned(), b.to_owned())
}
