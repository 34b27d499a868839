//! What sees or hears people: their network, their screen, their keys, their clipboard.

use super::options::Options;
use crate::{Call, Engine, Rule, Words, names};

impl Engine {
    /// What others type, show, send or keep in memory.
    pub(super) fn judge_watching(&mut self, call: &Call<'_>) {
        let watches = match call.name.as_str() {
            "tcpdump" => !reads_saved(call, "r", "BcCEFGijmMQsTVwWyzZ"),
            "tshark" => !reads_saved(call, "r", "abBcCdDeEfFHijJKNoOQRsSTuUwWXyYz"),
            "ngrep" => !reads_saved(call, "I", "AcdFnOPsSW"),
            _ => false,
        };
        if watches && !call.has(&["-D", "--list-interfaces"]) {
            self.ask(Rule::Watching, format!("`{}` sees what is not meant for it", call.name));
        }
    }
}

/// Is a file of packets read, and not a network? All letters here take what stands behind them.
fn reads_saved(call: &Call<'_>, wanted: &str, valued: &str) -> bool {
    Options::of(call.plain(), &format!("{wanted}{valued}"), &["read-file"]).has(wanted, "read-file")
}

/// Does a tracer look into a process that runs already?
pub(in super::super) fn attaches(call: &Call<'_>) -> bool {
    call.plain().iter().any(|it| it.starts_with("-p") || it.starts_with("--attach"))
}

/// Processes that hold passwords and keys.
fn keeps_secrets(name: &str) -> bool {
    static KEEPERS: Words = Words::named("judge.watching.KEEPERS");
    KEEPERS.iter().any(|it| name.contains(it)) || name == "su"
}

impl Engine {
    /// `exec -a`: under which name a command runs.
    pub(in super::super) fn judge_prefix(&mut self, call: &Call<'_>) {
        let is_odd = |it: &str| it.starts_with('[') || names::matters(it) || keeps_secrets(it);
        let renamed = call.pairs().find(|it| it.0 == "-a").filter(|_| call.name == "exec");
        if renamed.is_some_and(|it| is_odd(it.1)) {
            self.ask(Rule::Masquerade, "a program gets the name of another");
        }
    }
}
