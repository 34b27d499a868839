//! What uses the machine up: mining, and work without an end.

use super::super::engine::Engine;
use super::super::simple::Call;
use super::option;

/// How miners name the pool they work for.
const POOLS: [&str; 4] = ["stratum+", "stratum://", "stratum2+", "--donate-level"];

impl Engine<'_> {
    pub(super) fn judge_burden(&mut self, call: &Call<'_>) {
        let mines = call.plain().iter().any(|arg| POOLS.iter().any(|it| arg.contains(it)));
        if mines {
            self.ask("shell-offensive", format!("`{}` mines for somebody", call.name));
        }
        let endless = match call.name.as_str() {
            // What it says goes to nobody who would end it.
            "yes" => self.stages <= 1 && !call.has(&["--help", "--version"]),
            "stress" | "stress-ng" => !ends(call),
            _ => false,
        };
        if endless {
            self.ask("shell-endless", format!("`{}` works without an end", call.name));
        }
    }
}

/// Is it told when to stop, or asked to work at nothing?
fn ends(call: &Call<'_>) -> bool {
    let plain = call.plain();
    let none = |time: &str| time.trim_end_matches(|it: char| it.is_ascii_alphabetic()) == "0";
    let glued = |it: &String| {
        let time = it.strip_prefix("--timeout=").or_else(|| it.strip_prefix("-t"));
        time.is_some_and(none)
    };
    let never = plain.iter().any(glued)
        || plain.windows(2).any(
            |it| matches!(it, [flag, time] if (flag == "-t" || flag == "--timeout") && none(time)),
        );
    let told = option(call, Some('t'), "timeout") && !never;
    told || call.args.is_empty() || call.has(&["--help", "--version", "--class", "--stressors"])
}
