//! Simple commands: assignments, aliases, functions, and the way to what is really run.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::limits::CALLS_MAX;
use crate::syntax::{Assignment, Simple, Value};
use crate::{
    Access, Engine, HOLE, Input, Output, Rule, State, UNSET, Var, marks, names, text, unknown,
};

/// What a variable from outside would name for these matters though it is not known.
const ERASING: [&str; 8] = ["rm", "grm", "srm", "shred", "wipe", "unlink", "rmdir", "find"];

/// One command with its arguments, on its way to be judged.
pub(super) struct Call<'a> {
    /// The last part of the path, in lower case.
    pub(super) name: String,
    /// As it was written.
    pub(super) path: String,
    pub(super) args: &'a [String],
    pub(super) stdin: Option<&'a [u8]>,
    plain: Vec<String>,
    operands: Vec<String>,
    words: Vec<String>,
}

impl<'a> Call<'a> {
    pub(super) fn new(path: String, args: &'a [String], stdin: Option<&'a [u8]>) -> Self {
        let plain: Vec<String> = args.iter().map(|it| marks::plain(it)).collect();
        let mut all = false;
        let mut operands = Vec::new();
        for arg in &plain {
            if arg == "--" && !all {
                all = true;
            } else if all || !arg.starts_with('-') || arg == "-" {
                operands.push(arg.clone());
            }
        }
        let words = operands.iter().map(|it| it.to_lowercase()).collect();
        let is_this_shell = path.starts_with("/proc/") && path.ends_with("/exe");
        let name = if is_this_shell { "bash".to_owned() } else { names::base(&path) };
        Self { name, path, args, stdin, plain, operands, words }
    }

    /// Arguments as text, with patterns as letters.
    pub(super) fn plain(&self) -> &[String] {
        &self.plain
    }

    /// Each argument with the one behind it.
    pub(super) fn pairs(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        pairs(&self.plain)
    }

    /// Is one of these among the arguments?
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        self.plain.iter().any(|it| wanted.contains(&it.as_str()))
    }

    /// Arguments that are no options.
    pub(super) fn operands(&self) -> &[String] {
        &self.operands
    }

    /// The same in lower case.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Is a short option set, alone or together with others?
    pub(super) fn short(&self, letter: char) -> bool {
        let is_short = |it: &String| {
            let letters = it.strip_prefix('-').unwrap_or_default();
            !letters.starts_with('-') && letters.contains(letter)
        };
        self.plain().iter().take_while(|it| *it != "--").any(is_short)
    }
}

impl Engine {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        if !self.count() {
            return unknown();
        }
        self.unset_names.clear();
        if super::builtins::ends_itself(simple) {
            self.history("kill -9 $$");
        }
        let fields = self.arguments(&simple.words, state);
        self.put_away = simple.words.iter().any(|it| super::revealed::holds_variable(it, state));
        let declares = fields.first().is_some_and(|it| names::DECLARING.contains(&it.as_str()));
        if fields.is_empty() || declares {
            self.status = Some(true);
            if declares {
                state.set_text("_", HOLE.to_string());
                super::variables::own(&fields, simple, state);
                super::variables::declared(&fields, simple, state);
            }
            for assignment in &simple.assignments {
                self.assign(assignment, state);
            }
            if fields.is_empty() {
                return Output::new();
            }
            // A number: what it shows is not what was written.
            let changes = |it: &String| it.starts_with('-') && it.contains('i');
            if fields.iter().any(changes) {
                for assignment in &simple.assignments {
                    state.set_text(&assignment.name, HOLE.to_string());
                }
            }
            return self.call(fields, state, stdin);
        }
        // The last word of a command stays; what runs others leaves theirs.
        let name = fields.first().map(String::as_str).unwrap_or_default();
        let is_own = !state.functions.contains_key(name)
            && !state.aliases.contains_key(name)
            && !matches!(name, "eval" | "source" | "." | "command" | "builtin");
        let last = fields.last().filter(|_| is_own && !marks::has_pattern(name)).cloned();
        let last = last.unwrap_or_else(|| HOLE.to_string());
        if simple.assignments.is_empty() {
            let output = self.call(fields, state, stdin);
            state.set_text("_", last);
            return output;
        }
        // `eval` and functions keep what they set; the assignments before them are theirs alone.
        let names = simple.assignments.iter().map(|it| it.name.clone());
        let before: Vec<_> = names.map(|it| (state.vars.get(&it).cloned(), it)).collect();
        for assignment in &simple.assignments {
            self.assign(assignment, state);
        }
        let output = self.call(fields, state, stdin);
        for (var, name) in before {
            state.restore(&name, var);
        }
        state.set_text("_", last);
        output
    }

    fn assign(&mut self, assignment: &Assignment, state: &mut State) {
        let name = assignment.name.as_str();
        let var = match &assignment.value {
            Value::Scalar(word) => {
                let mut value = self.text(word, state).replace(UNSET, "");
                // Not a pattern until it is used.
                value = keep_network(&value);
                if let Some(index) = &assignment.index {
                    let index = marks::plain(&self.text(index, state));
                    return self.put_element(name, &index, value, assignment.append, state);
                }
                if assignment.append {
                    let before = state.get(name).map(|it| it.first()).unwrap_or_default();
                    Var::Text(before + &value)
                } else {
                    Var::Text(value)
                }
            }
            Value::Array(elements) => {
                let mut items = match state.get(name) {
                    Some(Var::List(items)) if assignment.append => items,
                    Some(_) | None => Vec::new(),
                };
                for (key, word) in elements {
                    match key {
                        Some(key) => {
                            let key = marks::plain(&self.text(key, state));
                            let key = state.key(name, &key);
                            let value = keep_network(&self.text(word, state));
                            self.named_by_shell(name, &key, &value, state);
                            items.push((key, value));
                        }
                        None => {
                            let words = self.arguments(std::slice::from_ref(word), state);
                            for it in words.into_iter().filter(|it| it != marks::GONE) {
                                items.push((items.len().to_string(), keep_network(&it)));
                            }
                        }
                    }
                }
                self.list(items)
            }
        };
        self.judge_variable(name, &var.first(), state);
        state.set(name, var);
    }

    /// Runs a list of arguments.
    pub(super) fn call(
        &mut self,
        mut fields: Vec<String>,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        if !self.count() || !self.handle(fields.len()) {
            return unknown();
        }
        // `$nothing command`: the first word is gone, or it is anybody's.
        let is_unset =
            |it: &&String| it.as_str() == marks::GONE || it.as_str() == UNSET.to_string();
        let gone = fields.iter().take_while(is_unset).count();
        if gone > 0 {
            self.ask(Rule::UnknownCommand, "a variable that is not set here names a command");
            fields.drain(..gone);
        }
        let is_erasing =
            fields.first().is_some_and(|it| ERASING.contains(&names::base(it).as_str()));
        if !is_erasing {
            fields.retain(|it| it != marks::GONE);
        }
        let Some(first) = fields.first().cloned() else { return Output::new() };
        self.status = None;
        let path = self.named(&first);
        let is_said = matches!(path.as_str(), "echo" | "printf" | "[" | "test");
        if !is_said && fields.iter().any(|it| it.contains(marks::CODED)) {
            self.ask(Rule::Dynamic, "it is given what cannot be followed");
        }
        if self.is_revealed(&path) {
            self.ask(Rule::UnknownCommand, "the name of the command was hidden before");
        }
        if let Some(alias) = state.aliases.get(&path).cloned() {
            state.aliases.remove(&path);
            let rest: Vec<String> =
                fields.get(1..).unwrap_or_default().iter().map(|it| marks::quoted(it)).collect();
            let output = self.run_text(&format!("{alias} {}", rest.join(" ")), state, stdin);
            state.aliases.insert(path, alias);
            return output;
        }
        if let Some(body) = state.functions.get(&path).cloned() {
            return self.function(&body, &path, fields, state, stdin);
        }
        let args = fields.get(1..).unwrap_or_default().to_vec();
        let call = self.tell(Call::new(path, &args, stdin));
        if let Some(output) = self.builtin(&call, state) {
            return output;
        }
        if let Some(output) = self.unwrap(&call, state) {
            return output;
        }
        let mut shown = fields.clone();
        if let Some(it) = shown.first_mut() {
            it.clone_from(&call.path);
        }
        self.record(&shown);
        self.judge(&call, state);
        if let Some(output) = self.interpret(&call, state) {
            return output;
        }
        if call.name == "tee" {
            for path in call.operands() {
                let content = stdin.map_or_else(unknown, <[u8]>::to_vec);
                self.judge_planted(&text(&content));
                state.files.insert(super::paths::resolved(path, state), content);
            }
        }
        self.printed(&call, state)
    }

    /// The name of the command, in letters that can be compared.
    fn named(&mut self, first: &str) -> String {
        if marks::has_hole(first) {
            self.ask(Rule::UnknownCommand, "only a run would show which command it is");
            return marks::plain(first);
        }
        if marks::has_pattern(first) && marks::plain(first) != "[" {
            if let Some(found) = names::matching(first) {
                return found;
            }
            self.ask(Rule::UnknownCommand, "a pattern names the command");
        }
        let plain = marks::plain(first);
        if plain.contains(['*', '?']) && !marks::has_pattern(first) {
            self.ask(Rule::UnknownCommand, "the name of the command is a pattern");
        }
        match names::skeleton(&plain) {
            Some(folded) => {
                self.ask(Rule::LookAlike, "letters of the command only look like others");
                folded
            }
            None => plain,
        }
    }

    fn function(
        &mut self,
        body: &Rc<super::syntax::Command>,
        name: &str,
        fields: Vec<String>,
        state: &mut State,
        stdin: Input<'_>,
    ) -> Output {
        if state.calls >= CALLS_MAX {
            if self.stages > 1 {
                self.deny(Rule::ForkBomb, format!("`{name}` starts itself again and again"));
            } else {
                self.ask(Rule::Dynamic, format!("`{name}` calls itself"));
            }
            return unknown();
        }
        let args = fields.into_iter().skip(1).map(|it| marks::plain(&it)).collect();
        let before = std::mem::replace(&mut state.args, args);
        let left = self.left;
        state.calls += 1;
        state.locals.push(BTreeMap::new());
        let output = self.command(body, state, stdin);
        for (name, var) in state.locals.pop().unwrap_or_default() {
            state.restore(&name, var);
        }
        state.calls -= 1;
        state.args = before;
        self.left.functions = left.functions;
        output
    }

    /// A file that is opened by a redirection.
    pub(super) fn opened(&mut self, target: &str, access: Access, state: &State) {
        let rest = target.strip_prefix("/dev/tcp/").or_else(|| target.strip_prefix("/dev/udp/"));
        if let Some(rest) = rest {
            self.reach(rest.split('/').next().unwrap_or_default());
            self.deny(Rule::ReverseShell, "it talks to a network socket as if it were a file");
            return;
        }
        let quiet = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/stdin"];
        if !quiet.contains(&target) && !target.starts_with("/dev/fd/") {
            self.touch(access, target, state);
        }
    }
}

/// Each of them with the one behind it.
pub(super) fn pairs(args: &[String]) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    let behind = args.get(1..).unwrap_or_default();
    args.iter().zip(behind).map(|it| (it.0.as_str(), it.1.as_str()))
}

/// Patterns become letters; where a value came from is kept.
fn keep_network(value: &str) -> String {
    let kept = [marks::NETWORK, marks::CODED].into_iter().filter(|it| value.contains(*it));
    kept.collect::<String>() + &marks::plain(value)
}

/// The known text of a stream, nothing if it is inherited.
pub(super) fn known(stdin: Input<'_>) -> String {
    stdin.map_or_else(|| HOLE.to_string(), text)
}
