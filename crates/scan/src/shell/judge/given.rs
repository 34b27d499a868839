//! Programs of other tools that are given on the command line and run commands: recipes, escapes.

use super::super::engine::{Engine, text};
use super::super::marks;
use super::super::paths;
use super::super::simple::Call;
use super::super::state::State;

impl Engine<'_> {
    /// `make -f FILE`, where the file is known or comes from another command.
    pub(super) fn judge_recipes(&mut self, call: &Call<'_>, state: &State) {
        let plain = call.plain();
        for (index, arg) in plain.iter().enumerate() {
            if let Some(recipe) = arg.strip_prefix("--eval=") {
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
                self.ask("shell-dynamic", "it runs recipes that are given to it");
            }
            if let Some(content) = content {
                self.recipe(&content, state);
            }
        }
    }

    fn recipe(&mut self, content: &str, state: &State) {
        if marks::has_hole(content) {
            self.ask("shell-dynamic", "it runs recipes that only a run would show");
        }
        for line in content.lines() {
            let command = match line.strip_prefix('\t') {
                Some(command) => Some(command.trim_start_matches(['@', '-', '+'])),
                None => line.split_once(';').map(|it| it.1),
            };
            let shells = line.split("$(shell ").skip(1).map(|it| it.trim_end_matches(')'));
            let shells = shells.chain(line.split_once("!=").map(|it| it.1));
            for command in command.into_iter().chain(shells) {
                self.quiet += 1;
                self.run_text(&command.replace("$$", "$"), &mut state.clone(), None);
                self.quiet -= 1;
            }
        }
    }

    /// `\! command` and `.shell command` of programs for databases.
    pub(super) fn judge_escapes(&mut self, call: &Call<'_>, state: &State) {
        let input = call.stdin.map(text).unwrap_or_default();
        let told = call.plain().iter().flat_map(|it| it.lines()).chain(input.lines());
        let signs = ["\\! ", "\\!", ".shell ", ".system ", "system "];
        let commands: Vec<String> = told
            .filter_map(|it| signs.iter().find_map(|sign| it.trim_start().strip_prefix(sign)))
            .map(str::to_owned)
            .collect();
        for command in commands {
            self.run_text(&command, &mut state.clone(), None);
            self.ask("shell-spawn", format!("`{}` runs a command", call.name));
        }
    }
}
