//! Code of other languages inside a command: which commands, places and hosts it names.
//!
//! It is not parsed: literals are taken out, put together and read, and words say what is done with
//! them. What decodes and runs something that is not seen is a question.

use std::collections::BTreeSet;

use crate::judge::{Options, is_everything, is_of_this_machine};
use crate::limits::{LAYERS_MAX, LITERALS_MAX, TRIED_LITERALS_MAX};
use crate::simple::{known, pairs};
use crate::spelled::{decoded, literals};
use crate::words::{CONNECTS, DECODES, DELETES, PACKS, RUNS};
use crate::{
    Access, Call, Class, Decision, Engine, Finding, Input, NETWORK, Output, Rule, State,
    from_network, marks, names, paths, text, unknown,
};

/// Programs that serve what lies in a directory.
const SERVERS: [&str; 6] =
    ["http.server", "simplehttpserver", "pyftpdlib", "smtpd", "aiosmtpd", "webdav"];

impl Engine {
    /// An interpreter of another language; `None` if it is none.
    pub(super) fn interpret(&mut self, call: &Call<'_>, state: &State) -> Option<Output> {
        if matches!(call.name.as_str(), "awk" | "gawk" | "mawk" | "nawk") {
            return Some(self.awk(call, state));
        }
        names::interpreter(&call.name)?;
        self.classes.insert(Class::Execute);
        let args = call.plain();
        let takes_code = |it: &str| {
            let short = it.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
            matches!(it, "--eval" | "-eval" | "--print" | "--execute" | "eval")
                || (short.len() <= 4 && short.ends_with(['c', 'e', 'r', 'E', 'p']))
                || (call.name == "swipl" && it == "-g")
                || is_encoded(it, call)
        };
        let mut has_code = false;
        let mut output = Output::new();
        for (index, arg) in args.iter().enumerate() {
            let glued =
                ["--eval=", "--print=", "--execute="].iter().find_map(|it| arg.strip_prefix(it));
            let short = arg.strip_prefix("-e").or_else(|| arg.strip_prefix("-c"));
            let glued = glued.or_else(|| short.filter(|it| it.len() > 3));
            let next = if takes_code(arg) { args.get(index + 1) } else { None };
            let Some(code) = glued.or_else(|| next.map(String::as_str)) else { continue };
            if marks::has_hole(code) {
                self.ask(Rule::Dynamic, "it runs code that only a run would show");
            }
            self.code(code, state, 0);
            self.judge_read_in(code, call, state);
            if is_encoded(arg, call) {
                self.ask(Rule::Dynamic, "it runs code that is hidden in letters");
            }
            output.extend(printed(code, call.stdin));
            has_code = true;
        }
        let module = args.iter().position(|it| it == "-m").and_then(|it| args.get(it + 1));
        let serves = module.is_some_and(|it| SERVERS.contains(&it.to_lowercase().as_str()))
            || (call.name.starts_with("php") && call.short('S'))
            || (call.name.starts_with("ruby") && call.has(&["-run"]) && call.has(&["httpd"]));
        self.judge_module(call, state);
        if serves && !serves_itself(args) && !call.has(&["--help"]) {
            self.ask(Rule::Egress, "it serves files to others");
        }
        if let Some(module) = module {
            self.judge_run(module);
        }
        let file = call.operands().first();
        match file {
            _ if has_code || module.is_some() => {}
            Some(file) if file != "-" => self.script_file(file, state),
            Some(_) | None => self.code_on_stdin(call, state),
        }
        Some(if output.is_empty() { printed("", call.stdin) } else { output })
    }

    /// The program stands behind the options, or in a file.
    fn awk(&mut self, call: &Call<'_>, state: &State) -> Output {
        let args = call.plain();
        let names = ["assign", "field-separator", "file", "exec", "source"];
        let options = Options::of(args, "vFfEe", &names);
        let given = options.values("v", "assign").filter_map(|it| it.split_once('='));
        let given: Vec<(&str, &str)> = given.collect();
        let files = options.values("f", "file").chain(options.values("E", "exec"));
        let files: Vec<&str> = files.collect();
        files.iter().for_each(|it| self.script_file(it, state));
        options.values("e", "source").for_each(|it| self.code(it, state, 0));
        let program = options.words.first().filter(|_| files.is_empty()).copied();
        let program = program.unwrap_or_default().to_owned();
        if marks::has_hole(&program) {
            self.ask(Rule::Dynamic, "it runs code that only a run would show");
        }
        self.code(&program, state, 0);
        if super::awk::runs_unknown(&program, &given) {
            self.ask(Rule::Dynamic, "its code puts something together and runs it");
        }
        let runs = |name: &str| program.contains(&format!("system({name})"));
        for (_, text) in given.iter().filter(|it| runs(it.0) || program.contains("getline")) {
            self.run_quietly(text, state);
        }
        printed(&program, call.stdin)
    }

    pub(super) fn run_source(&mut self, file: &str, state: &State) {
        self.script_file(file, state);
    }

    fn script_file(&mut self, file: &str, state: &State) {
        self.run_file(file, state);
        if let Some(code) = state.file(&paths::resolved(file, state)) {
            self.code_of(&code, state);
        }
    }

    pub(super) fn code_on_stdin(&mut self, call: &Call<'_>, state: &State) {
        if let Some(stdin) = call.stdin {
            self.code_of(&text(stdin), state);
        }
    }

    pub(super) fn code_of(&mut self, code: &str, state: &State) {
        if code.contains(NETWORK) {
            self.deny(Rule::RemoteCode, "it runs what somebody else's machine sends");
        } else if marks::has_hole(code) {
            self.ask(Rule::Dynamic, "it runs code that only a run would show");
        }
        self.code(&marks::plain(code), state, 0);
        if self.is_revealed(code) {
            self.ask(Rule::Dynamic, "it runs text that was hidden or put away before");
        }
    }

    /// Judges code by what it names.
    pub(super) fn code(&mut self, code: &str, state: &State, layer: usize) {
        let mut literals = literals(code);
        let bracketed = super::spelled::bracketed(code);
        let has_more = literals.len().max(bracketed.len()) >= TRIED_LITERALS_MAX;
        let tried: Vec<String> =
            literals.iter().take(TRIED_LITERALS_MAX).chain(&bracketed).cloned().collect();
        if literals.len() >= LITERALS_MAX {
            // What is named behind those may be what matters.
            self.too_much();
        }
        literals.extend(bracketed);
        let lower = format!("{code}\n{}", literals.join("\n")).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| lower.contains(it));
        // Perl's `open F, "|sh"`.
        let pipes = |it: &String| it.len() > 1 && (it.starts_with('|') || it.ends_with('|'));
        let runs = has(&RUNS) || (lower.contains("open") && literals.iter().any(pipes));
        let connects = has(&CONNECTS);
        let is_shell = |it: &String| {
            let first = it.split([' ', '<', '>']).next().unwrap_or_default();
            names::is_shell(&names::base(first))
                || matches!(names::base(first).as_str(), "cmd" | "powershell")
        };
        let shells = literals.iter().any(is_shell)
            || lower.contains("/bin/sh")
            || lower.contains("/bin/bash");
        if runs && connects && (shells || lower.contains("dup2") || lower.contains("popen")) {
            self.deny(Rule::ReverseShell, "its code gives a shell to another machine");
        } else if runs && shells {
            self.ask(Rule::Spawn, "its code starts a shell");
        }
        self.intents(&lower, &literals);
        if connects {
            self.hosts_of(&literals);
            self.ask(Rule::Egress, "its code talks to other machines");
        }
        let forks = lower.matches("fork").count();
        if forks > 1 || (forks == 1 && (lower.contains("while") || lower.contains("loop"))) {
            self.deny(Rule::ForkBomb, "its code starts itself again and again");
        }
        if has(&DELETES) {
            self.ask(Rule::Erase, "its code deletes files");
        }
        let writes = ["'w", "\"w", "write", "> \"", ">\""].iter().any(|it| lower.contains(it));
        self.paths_of(&literals, writes, state);
        if runs {
            // What stands behind those that were taken out may be what is run.
            if has_more {
                self.too_much();
            }
            self.commands_of(&tried, state);
        }
        // Code that is text of the code.
        if has(&["eval", "exec(", "exec ", "compile("]) {
            for inner in literals.iter().filter(|it| it.contains(['(', '"', '`', '%'])) {
                self.inner_code(inner, state, layer);
            }
        }
        let executes = ["exec", "eval", "system", "popen", "subprocess", "`"];
        if has(&DECODES) && (runs || executes.iter().any(|it| lower.contains(it))) {
            self.ask(Rule::Dynamic, "its code puts something together and runs it");
            let (texts, are_all) = decoded(code, &literals);
            if !are_all {
                self.too_much();
            }
            self.commands_of(&texts, state);
            texts.iter().for_each(|it| self.inner_code(it, state, layer));
        }
    }

    /// Code that was a text of code.
    fn inner_code(&mut self, code: &str, state: &State, layer: usize) {
        match layer < LAYERS_MAX && self.may_probe() {
            true => self.code(code, state, layer + 1),
            false => self.too_much(),
        }
    }

    /// What code does besides running, connecting and deleting.
    fn intents(&mut self, lower: &str, literals: &[String]) {
        self.judge_named("CODE", lower);
        let everything =
            |it: &String| it.len() > 1 && is_everything(it.trim_end_matches(['/', '*']));
        if PACKS.iter().any(|it| lower.contains(it)) && literals.iter().any(everything) {
            self.ask(Rule::Collection, "its code packs everything of a person or the system");
        }
        // A mode of four digits that begins with 2, 4 or 6.
        let special = |(at, _): (usize, &str)| {
            let after = lower.get(at..).unwrap_or_default();
            let call = after.split(')').next().unwrap_or_default();
            ["0o4", "0o2", "0o6", " 04", ",04", "(04", " 06", ",06", "s_isuid"].iter().any(|it| {
                call.split_once(it).is_some_and(|rest| {
                    *it == "s_isuid" || rest.1.chars().take_while(char::is_ascii_digit).count() == 3
                })
            })
        };
        if lower.match_indices("chmod").any(special) {
            self.ask(Rule::Permissions, "its code makes a program run as its owner");
        }
    }

    /// Texts that name a file: it is read, and written if the code writes.
    fn paths_of(&mut self, literals: &[String], writes: bool, state: &State) {
        for literal in literals {
            let writes = writes || literal.starts_with('>');
            let literal = literal.trim_start_matches(['>', '<', '+', ' ']);
            if !is_path(literal) {
                continue;
            }
            self.touch(Access::Read, literal, state);
            if writes && !paths::is_secret(literal) {
                self.touch(Access::Write, literal, state);
            }
        }
    }

    fn hosts_of(&mut self, literals: &[String]) {
        for literal in literals {
            let rest = literal.split_once("://").map_or(literal.as_str(), |it| it.1);
            let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
            if host.contains('.') && !host.contains(' ') && !literal.starts_with('/') {
                self.reach(host);
            }
        }
    }

    /// Literals are tried as commands: alone, and all together for lists of arguments.
    fn commands_of(&mut self, literals: &[String], state: &State) {
        let all = literals.join(" ");
        for text in literals.iter().chain([&all]).filter(|it| it.len() > 1) {
            if !self.may_probe() {
                self.too_much();
                return;
            }
            let mut probe = self.probe();
            probe.run_text(text, &mut state.clone(), None);
            self.probed(&probe);
            let is_telling = |it: &Finding| it.decision == Decision::Deny || super::is_telling(it);
            // A word that is no command is only tried: what was found of it counts where it tells something.
            if !probe.findings.iter().any(is_telling) {
                (probe.classes, probe.hosts) = (BTreeSet::new(), Vec::new());
                probe.places.clear();
            }
            self.absorb(probe, is_telling);
        }
    }

    /// Code that a command gets on stdin and that is none of a shell.
    pub(super) fn mentions(&mut self, call: &Call<'_>, state: &State) {
        let input = known(call.stdin);
        for word in input.split([' ', '\n', '\t', ',', '"', '\'']).filter(|it| it.starts_with('/'))
        {
            if paths::is_secret(&paths::resolved(word, state)) {
                self.touch(Access::Read, word, state);
            }
        }
    }
}

/// `--bind 127.0.0.1`, `-S localhost:8000`: only this machine can ask. The last one counts.
fn serves_itself(args: &[String]) -> bool {
    let place = pairs(args).rfind(|it| matches!(it.0, "-b" | "--bind" | "-S"));
    place.is_some_and(|it| is_of_this_machine(it.1) && !it.1.starts_with("0."))
        && !args.iter().any(|it| it.starts_with("--bind="))
}

/// `-e`, `-enc`, `-EncodedCommand`: any beginning of it.
fn is_encoded(option: &str, call: &Call<'_>) -> bool {
    let lower = option.to_lowercase();
    matches!(call.name.as_str(), "powershell" | "pwsh")
        && lower.len() > 1
        && "-encodedcommand".starts_with(&lower)
}

/// What code prints: texts that it decodes, and whatever else.
fn printed(code: &str, stdin: Input<'_>) -> Output {
    let input = stdin.map(text).unwrap_or_default();
    if input.contains(NETWORK) {
        return from_network();
    }
    let mut literals = literals(code);
    literals.push(input);
    let texts = decoded(code, &literals).0.into_iter().map(|it| it + "\n");
    texts.collect::<String>().into_bytes().into_iter().chain(unknown()).collect()
}

fn is_path(text: &str) -> bool {
    (text.starts_with('/') || text.starts_with("~/")) && !text.contains([' ', '\n', '<', '*'])
}
