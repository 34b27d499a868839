//! What only Apple's machines have.

use crate::{Access, Call, Engine, Rule, State, marks};

/// Kinds of files that are run when they are opened.
const RUN: [&str; 7] = [".app", ".command", ".pkg", ".scpt", ".terminal", ".tool", ".workflow"];

impl Engine {
    pub(super) fn judge_apple(&mut self, call: &Call<'_>, state: &State) {
        match call.name.as_str() {
            "osascript" if only_tells(call) => {}
            "osascript" => self.ask(Rule::Spawn, "it runs a script that can control everything"),
            // What it opens is run.
            "open" => {
                let runs =
                    |it: &&String| RUN.iter().any(|end| it.trim_end_matches('/').ends_with(end));
                for path in call.operands().iter().filter(runs) {
                    self.touch(Access::Execute, path, state);
                }
            }
            _ => {}
        }
    }
}

/// AppleScript that shows a note, or makes a sound.
fn only_tells(call: &Call<'_>) -> bool {
    const TELLING: [&str; 4] = ["display notification ", "say ", "beep", "set volume "];
    let plain = call.plain();
    let is_telling = |it: &[String]| match it {
        [flag, code] => {
            let code = code.trim().to_lowercase();
            // What is put together can be anything.
            let more = ["&", "(", "\n", "\r", "script", "saving", "tell"];
            let is_plain = !more.iter().any(|it| code.contains(it)) && !marks::has_hole(&code);
            flag == "-e" && is_plain && TELLING.iter().any(|it| code.starts_with(it))
        }
        _ => false,
    };
    !plain.is_empty() && call.stdin.is_none() && plain.chunks(2).all(is_telling)
}
