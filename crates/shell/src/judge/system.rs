//! Commands that change the machine: accounts, services, the kernel, logs, what protects it.

use crate::{Call, Decision, Engine, Rule, State};

impl Engine {
    pub(super) fn judge_system(&mut self, call: &Call<'_>, state: &mut State) {
        let tells = call.has(&["--help", "--version", "-h", "help"])
            && call.args.len() == 1
            && call.stdin.is_none();
        if tells {
            return;
        }
        self.judge_table(call, Decision::StepUp);
        self.judge_services(call);
        self.judge_starting(call, state);
        self.judge_watching(call);
        self.judge_apple(call, state);
    }

    /// `systemd-run COMMAND`, and a clock that is set by nothing but a number.
    fn judge_starting(&mut self, call: &Call<'_>, state: &State) {
        let is_time =
            |it: &String| it.len() >= 8 && it.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if call.name == "date" && call.plain().first().is_some_and(is_time) {
            self.ask(Rule::LogTampering, "`date` changes the record of what happened");
        }
        if call.name == "systemd-run" {
            let args: Vec<String> = call
                .args
                .iter()
                .skip_while(|it| it.starts_with('-') || it.contains(':') || it.contains('*'))
                .cloned()
                .collect();
            self.quietly(|it| it.call(args, &mut state.clone(), None));
        }
    }
}
