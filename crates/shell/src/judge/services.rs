//! Services that are stopped or made to start by themselves, and those that watch over a machine.

use super::{has_unknown, rules};
use crate::{Call, Class, Engine, Rule, Words};

/// Services that keep a record: their names are parts of many others.
const RECORDERS: [&str; 3] = ["log", "audit", "journal"];
/// Programs and services that watch or protect, by a part of their names.
static WATCHERS: Words = Words::named("judge.services.WATCHERS");
/// Words that end or take away.
static ENDING: Words = Words::named("judge.services.ENDING");

impl Engine {
    pub(super) fn judge_services(&mut self, call: &Call<'_>) {
        let words = call.words();
        let first = words.first().map(String::as_str).unwrap_or_default();
        let is_script = is_script_of_a_service(&call.path);
        // Only those that stop something need to know: there are many names to compare.
        let is_watcher = || {
            words.iter().any(|it| watches(it) || records(it))
                || (is_script && (watches(&call.name) || records(&call.name)))
                || (call.name == "kill" && has_unknown(call) && self.looked_up(watches))
        };
        let stops = match call.name.as_str() {
            "pkill" | "killall" | "kill" => is_watcher(),
            // They ask the manager of services and accounts without its own command.
            "busctl" | "dbus-send" | "gdbus" => {
                let managers =
                    ["freedesktop.systemd1", "freedesktop.accounts", "freedesktop.login1"];
                let calls = call.name == "dbus-send" || first == "call";
                let manager =
                    |it: &String| managers.iter().any(|name| it.to_lowercase().contains(name));
                calls && call.plain().iter().any(manager)
            }
            _ if is_script => is_stop(first),
            _ if rules::holds("uninstalls", call) => is_watcher(),
            _ => rules::holds("stops", call),
        };
        let enables = call.name == "systemctl" && matches!(first, "enable" | "reenable");
        let starts = rules::holds("starts", call) || (enables && !enables_named(call));
        let watched = (stops && is_watcher()) || ends_a_watcher(call);
        if watched {
            self.classes.insert(Class::LogTampering);
            self.ask(Rule::SecurityOff, "it stops what watches or protects the machine");
        } else if stops {
            self.ask(Rule::Service, "it stops a service");
        }
        if starts {
            self.ask(Rule::Persistence, "it makes something start by itself");
        }
    }

    /// Was a process looked for before, by a name like this?
    pub(super) fn looked_up(&self, wanted: fn(&str) -> bool) -> bool {
        let looks = |it: &str| matches!(it, "pidof" | "pgrep" | "ps" | "grep" | "awk");
        let mut steps = self.steps.iter().filter(|it| looks(&it.program));
        steps.any(|it| it.reads.iter().any(|it| wanted(&it.to_lowercase())))
    }
}

/// A unit that is there already, by its name: what it runs, whoever brought it has said. Not those that let
/// others in, and not those of a person, which anybody who runs as that person can have brought.
fn enables_named(call: &Call<'_>) -> bool {
    const ADMITTING: [&str; 8] =
        ["ssh", "telnet", "vnc", "rdp", "rsh", "rlogin", "cockpit", "shellinabox"];
    let names = call.words().get(1..).unwrap_or_default();
    let is_plain =
        |it: &String| !it.contains('/') && !ADMITTING.iter().any(|part| it.contains(part));
    let is_of_a_person = call.has(&["--user", "--global"]);
    !is_of_a_person && !names.is_empty() && names.iter().all(is_plain) && !has_unknown(call)
}

fn watches(name: &str) -> bool {
    WATCHERS.iter().any(|it| name.contains(it))
}

fn records(name: &str) -> bool {
    RECORDERS.iter().any(|it| name.contains(it))
}

fn is_stop(verb: &str) -> bool {
    matches!(verb, "stop" | "onestop" | "forcestop" | "faststop")
}

/// `/etc/init.d/NAME`, `/usr/local/etc/rc.d/NAME`.
fn is_script_of_a_service(path: &str) -> bool {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    matches!(folder, "/etc/init.d" | "/etc/rc.d" | "/etc/rc.d/init.d" | "/usr/local/etc/rc.d")
}

/// A program of theirs that is told to end: `fail2ban-client stop`, `/opt/sophos/uninstall.sh`.
fn ends_a_watcher(call: &Call<'_>) -> bool {
    let ends = |it: &str| {
        let bare = it.trim_start_matches('-');
        ENDING.iter().any(|it| it.eq_ignore_ascii_case(bare))
    };
    if !call.plain().iter().any(|it| ends(it)) && !call.name.contains("uninstall") {
        return false;
    }
    // Of the work's own folders only the last name counts.
    let path = call.path.to_lowercase();
    watches(if path.starts_with('/') { &path } else { &call.name })
}
