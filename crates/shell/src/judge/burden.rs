//! What uses the machine up: mining, and work without an end.

use crate::{Call, Engine, Rule, Words};

/// How miners name the pool they work for.
static POOLS: Words = Words::named("judge.burden.POOLS");

/// A file that is larger fills disks.
const GIGABYTES_MAX: u64 = 50;

impl Engine {
    pub(super) fn judge_burden(&mut self, call: &Call<'_>) {
        // What was begun is ended.
        if matches!(call.name.as_str(), "kill" | "pkill" | "killall") {
            self.unended = false;
        }
        let mines = call.plain().iter().any(|arg| POOLS.iter().any(|it| arg.contains(it)));
        if mines {
            self.ask(Rule::Offensive, format!("`{}` mines for somebody", call.name));
        }
        let endless = match call.name.as_str() {
            // What it says goes to nobody who would end it.
            "yes" => self.stages <= 1 && !call.has(&["--help", "--version"]),
            "cat" | "cp" | "tee" | "shuf" => {
                let without_end = ["/dev/zero", "/dev/urandom", "/dev/random"];
                let reads = self
                    .steps
                    .iter()
                    .rev()
                    .take(2)
                    .any(|it| it.reads.iter().any(|it| without_end.contains(&it.as_str())));
                self.stages <= 1 && (call.has(&without_end) || (call.stdin.is_some() && reads))
            }
            "fallocate" => call.plain().iter().any(|it| fills_a_disk(it)),
            _ => false,
        };
        if endless {
            self.ask(Rule::Endless, format!("`{}` works without an end", call.name));
        }
    }
}

/// `100G`, `--length=2T`.
fn fills_a_disk(size: &str) -> bool {
    let size = size.rsplit('=').next().unwrap_or(size).trim_start_matches("-l").to_uppercase();
    let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
    let unit = size.chars().nth(digits.len()).unwrap_or(' ');
    let count = digits.parse::<u64>().unwrap_or_default();
    (unit == 'G' && count >= GIGABYTES_MAX) || (matches!(unit, 'T' | 'P' | 'E') && count > 0)
}
