//! Shells: text that is run because it is an argument, a file or on stdin.

use crate::{Call, Class, Engine, Output, Rule, State, marks, paths, unknown};

impl Engine {
    /// `sh -c TEXT`, `sh FILE`, `sh` with text on stdin.
    pub(super) fn shell(&mut self, call: &Call<'_>, state: &State) -> Output {
        self.classes.insert(Class::Execute);
        let mut inner = State { vars: state.vars.clone(), ..State::default() };
        inner.files.clone_from(&state.files);
        inner.cwd.clone_from(&state.cwd);
        inner.start.clone_from(&state.start);
        inner.functions.clone_from(&state.functions);
        let plain = call.plain();
        let takes_value = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];
        let mut at = 0;
        let mut is_text = false;
        let mut reads_stdin = false;
        while let Some(arg) = plain.get(at).filter(|it| it.starts_with(['-', '+'])) {
            at += 1;
            if arg == "--" || arg == "-" {
                break;
            }
            let letters = arg.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or("");
            is_text |= letters.contains('c') || arg == "--command";
            reads_stdin |= letters.contains('s');
            if takes_value.contains(&arg.as_str()) {
                if matches!(arg.as_str(), "--rcfile" | "--init-file")
                    && let Some(file) = plain.get(at)
                {
                    self.run_script_file(file, &mut inner);
                }
                at += 1;
            }
        }
        let rest = call.args.get(at..).unwrap_or_default();
        if is_text {
            let Some((text, args)) = rest.split_first() else { return Output::new() };
            inner.args = args.iter().skip(1).map(|it| marks::plain(it)).collect();
            if let Some(zero) = args.first() {
                inner.set_text("0", marks::plain(zero));
            }
            return self.run_text(text, &mut inner, call.stdin);
        }
        match (rest.first(), call.stdin) {
            (Some(file), _) if !reads_stdin && !paths::is_stdin(&marks::plain(file)) => {
                inner.args = rest.iter().skip(1).map(|it| marks::plain(it)).collect();
                let file = marks::plain(file);
                self.record_all(call);
                self.run_script_file(&file, &mut inner)
            }
            (_, Some(stdin)) => {
                inner.args = rest.iter().map(|it| marks::plain(it)).collect();
                let text = super::engine::text(stdin);
                self.run_text(&text, &mut inner, None)
            }
            (_, None) => {
                self.record_all(call);
                if !plain.iter().any(|it| matches!(it.as_str(), "--version" | "--help" | "-n")) {
                    self.ask(Rule::Spawn, "it starts a shell that takes commands from elsewhere");
                }
                if plain.iter().any(|it| it.starts_with('-') && it.contains('i')) && self.stages > 1
                {
                    self.deny(Rule::ReverseShell, "it gives a shell to another command");
                }
                unknown()
            }
        }
    }

    fn run_script_file(&mut self, file: &str, state: &mut State) -> Output {
        let path = paths::resolved(file, state);
        if let Some(text) = state.file(&path) {
            if !path.starts_with("/dev/fd/") {
                self.run_file(file, state);
            }
            return self.run_text(&text, state, None);
        }
        self.run_file(file, state);
        unknown()
    }
}
