//! How people come in: groups that give rights, and the services by which a machine is reached.

use super::{has_unknown, option};
use crate::{Call, Engine, Rule, Words};

/// Services without which nobody comes in any more.
static SERVICES: Words = Words::named("judge.doors.SERVICES");
/// Words of another program that is called `sg`, too.
const SEARCHING: [&str; 8] = ["run", "scan", "test", "new", "lsp", "completions", "docs", "help"];

impl Engine {
    pub(super) fn judge_doors(&mut self, call: &Call<'_>) {
        if changes_group(call) {
            self.ask(Rule::Privilege, format!("`{}` takes the rights of a group", call.name));
        }
        let closes = match call.name.as_str() {
            "pkill" | "killall" | "skill" => closes_door(call),
            "kill" => has_unknown(call) && self.looked_up(is_service),
            _ => false,
        };
        if closes {
            self.ask(Rule::Service, "it stops a service by which people come in");
        }
    }
}

/// Not by the program that searches code and has the same name.
pub(in super::super) fn changes_group(call: &Call<'_>) -> bool {
    let first = call.plain().iter().find(|it| *it != "-");
    match call.name.as_str() {
        "newgrp" => first.is_some_and(|it| !it.starts_with('-')),
        "sg" => first.is_some_and(|it| !it.starts_with('-') && !SEARCHING.contains(&it.as_str())),
        _ => false,
    }
}

fn is_service(name: &str) -> bool {
    // `[s]shd` finds the service, and not the search for it.
    let bare = name.replace(['^', '$', ':', '[', ']'], "");
    let last = bare.rsplit('/').next().unwrap_or(&bare);
    SERVICES.contains(&last)
}

fn closes_door(call: &Call<'_>) -> bool {
    // A part of a name is enough for it, unless it is told otherwise.
    let by_part = call.name == "pkill" && !option(call, Some('x'), "exact") && !call.short('f');
    call.words().iter().any(|it| {
        let first = it.split(' ').next().unwrap_or_default();
        is_service(first) || (by_part && it == "ssh")
    })
}
