//! Recipes of `make` and its like: files of them, text of them, and variables that say what is run.

use crate::{Call, Engine, Rule, State, marks, names, paths, text};

/// Folders in which the shells of a system lie.
const SHELL_FOLDERS: [&str; 6] = [
    "",
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
    "/run/current-system/sw/bin/",
];

impl Engine<'_> {
    /// `make -f FILE`, where the file is known or comes from another command.
    pub(super) fn judge_recipes(&mut self, call: &Call<'_>, state: &State) {
        let plain = call.plain();
        for (index, arg) in plain.iter().enumerate() {
            let next = plain.get(index + 1).filter(|_| arg == "--eval" || arg == "-E");
            if let Some(recipe) = arg.strip_prefix("--eval=").or(next.map(String::as_str)) {
                self.recipe(recipe, state);
            }
            let long = arg.strip_prefix("--file=").or_else(|| arg.strip_prefix("--makefile="));
            let short = arg.strip_prefix("-f").filter(|it| !it.is_empty());
            let next = if matches!(arg.as_str(), "-f" | "--file" | "--makefile") {
                plain.get(index + 1).map(String::as_str)
            } else {
                None
            };
            let Some(file) = long.or(short).or(next) else { continue };
            let given = matches!(file, "-" | "/dev/stdin") || file.starts_with("/dev/fd/");
            let content = if matches!(file, "-" | "/dev/stdin") {
                call.stdin.map(text)
            } else {
                state.file(&paths::resolved(file, state))
            };
            if given {
                self.ask(Rule::Dynamic, "it runs recipes that are given to it");
            }
            if let Some(content) = content {
                self.recipe(&content, state);
            }
        }
    }

    fn recipe(&mut self, content: &str, state: &State) {
        if marks::has_hole(content) {
            self.ask(Rule::Dynamic, "it runs recipes that only a run would show");
        }
        for line in content.lines() {
            let command = match line.strip_prefix('\t') {
                Some(command) => Some(command.trim_start_matches(['@', '-', '+'])),
                None => {
                    line.split_once(';').map(|it| it.1.trim_start_matches(['@', '-', '+', ' ']))
                }
            };
            let shells = line.split("$(shell ").skip(1).map(|it| it.trim_end_matches(')'));
            let shells = shells.chain(line.split_once("!=").map(|it| it.1));
            for command in command.into_iter().chain(shells) {
                self.run_quietly(&command.replace("$$", "$"), state);
            }
        }
    }

    /// `make SHELL=./x`, `make CFLAGS='$(shell x)'`: variables that say what is run, or that a shell reads.
    pub(super) fn judge_make_variables(&mut self, call: &Call<'_>, state: &State) {
        for (name, value) in call.plain().iter().filter_map(|it| it.split_once('=')) {
            // `A:=b`, `A+=b`, `A::=b`.
            let name = name.trim_end_matches([':', '+', '?', '!']);
            if name.starts_with('-') {
                continue;
            }
            let is_odd = match name {
                "SHELL" => !is_shell_of_system(value),
                ".SHELLFLAGS" => !are_shell_flags(value),
                "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => runs_more(value),
                "MAKEFILES" => !value.is_empty(),
                _ => false,
            };
            // Calls of make itself, and what the shell of a recipe takes for more than letters.
            let signs =
                ["$(shell", "${shell", "$(eval", "${eval", "$(file", "$$(", "`", ";", "|", "&"];
            if is_odd || signs.iter().any(|it| value.contains(it)) {
                self.ask(Rule::Carried, format!("`{name}` says what `{}` runs", call.name));
                self.recipe(value, state);
            }
        }
        let plain = call.plain();
        for (at, arg) in plain.iter().enumerate() {
            let next = plain
                .get(at + 1)
                .filter(|_| matches!(arg.as_str(), "-C" | "-f" | "-I" | "--directory" | "--file"));
            let glued = ["--directory=", "--file=", "--makefile=", "-C", "-f"]
                .iter()
                .find_map(|it| arg.strip_prefix(it));
            let place = next.map(String::as_str).or(glued).unwrap_or_default();
            let resolved = paths::resolved(place, state);
            if paths::is_shared(&resolved) && !state.files.contains_key(&resolved) {
                self.ask(Rule::TempRun, "it runs recipes that anybody can have put there");
            }
        }
    }

    /// Variables for every `make` that is started.
    pub(in super::super) fn judge_make_variable(&mut self, name: &str, value: &str) {
        let is_odd = match name {
            "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => runs_more(value),
            "MAKEFILES" => !value.is_empty(),
            _ => false,
        };
        if is_odd {
            self.ask(Rule::Carried, format!("`{name}` says what `make` runs"));
        }
    }
}

/// A shell by its name, or in a folder of the system.
fn is_shell_of_system(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let first = words.next().unwrap_or_default();
    let (shell, more) = match first.strip_suffix("env") {
        Some("" | "/bin/" | "/usr/bin/") => (words.next().unwrap_or_default(), words.next()),
        Some(_) | None => (first, words.next()),
    };
    let name = names::base(shell);
    let folder = shell.strip_suffix(name.as_str()).unwrap_or(shell);
    more.is_none() && names::is_shell(&name) && SHELL_FOLDERS.contains(&folder)
}

/// `-c`, `-euo pipefail -c`.
fn are_shell_flags(value: &str) -> bool {
    let is_flag = |it: &str| {
        it == "pipefail"
            || it.strip_prefix('-').is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphabetic()))
    };
    value.split_whitespace().all(is_flag) && value.ends_with('c')
}

/// More than how many at once and how much is told?
fn runs_more(value: &str) -> bool {
    ["--eval", "-E", "-f", "--file", "--makefile", "SHELL", "-I", "--include"]
        .iter()
        .any(|it| value.split_whitespace().any(|word| word.starts_with(it)))
}
