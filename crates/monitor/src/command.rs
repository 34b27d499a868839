//! The commands that a call would run, read as the shell will read them.

use std::net::IpAddr;

use model::ipc::Action;
use model::{EffectKind, ToolCall};
use policy::{Named, NamedHost, NamedPath, Op, Target, Targets};
use scan::net;
use shell::{Blocklist, Reading, Rule, read_from};

use crate::deed::Job;
use crate::lines::{self, Lines};
use crate::posture::Blocked;
use crate::target::{class_of_host, class_of_path};

/// What nobody can understand beforehand, a person has to look at.
pub(crate) const NOT_UNDERSTOOD: &[Rule] = &[
    Rule::Unreadable,
    Rule::Disagree,
    Rule::Hidden,
    Rule::LookAlike,
    Rule::TooLarge,
    Rule::Dynamic,
    Rule::UnknownCommand,
];

/// A command of a call.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) reading: Reading,
    /// It is a command for certain, and not only a text that may be one.
    pub(crate) is_certain: bool,
    /// It is not told to somebody else who may ask: it runs here.
    pub(crate) runs_here: bool,
    /// What it calls this machine is its own: that of a cage, or of the person whose agent runs it by itself.
    is_at_home: bool,
}

impl Command {
    /// Tells what it names.
    pub(crate) fn name_to(&self, named: &mut Named) {
        let Reading { told, classes, places, hosts, findings, .. } = &self.reading;
        named.programs.extend(told.programs.iter().cloned());
        named.commands.extend(told.commands.iter().cloned());
        named.classes.extend(classes.iter().map(|it| it.as_str().to_owned()));
        named.paths.extend(places.iter().map(|it| {
            let op = match it.access {
                shell::Access::Read => Op::Read,
                shell::Access::Write => Op::Write,
                shell::Access::Delete => Op::Delete,
                shell::Access::Execute => Op::Run,
            };
            NamedPath { op, path: it.path.clone() }
        }));
        named.hosts.extend(hosts.iter().map(|it| machine(it)));
        named.unread |= told.unsure || findings.iter().any(|it| NOT_UNDERSTOOD.contains(&it.rule));
    }
}

/// A machine in the spelling in which rules know it.
fn machine(text: &str) -> NamedHost {
    let NamedHost { host, port, scheme } = NamedHost::parse(text).unwrap_or_else(|| NamedHost {
        host: text.to_owned(),
        port: 0,
        scheme: String::new(),
    });
    // As whoever dials it reads it: without encodings, in ASCII.
    let read = net::seen_host(&format!("https://{host}/")).unwrap_or(host);
    let host = read.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    NamedHost { host, port, scheme }
}

/// Every command of an action of ours.
///
/// What is only blocked because it would go around our way out is not, where that is the only one: in a cage of ours
/// whose commands `reach_out`.
pub(crate) fn of_action(
    action: &Action,
    call: &ToolCall,
    reach_out: bool,
    blocked: &Blocked,
) -> Vec<Command> {
    // A model is told of commands: of those that it called itself, and of those that were refused. Nobody runs them.
    if matches!(action.name().kind(), EffectKind::LlmCall | EffectKind::ModelQuery) {
        return Vec::new();
    }
    let in_a_cage = action.name().kind() == EffectKind::ShellExec && reach_out;
    let blocklist = if in_a_cage { &blocked.in_a_cage } else { &blocked.on_the_machine };
    of(call, blocklist, folder(action), (true, true))
}

/// Every command of a call of somebody's tool that does this `job`. Where an agent runs its commands by itself, there is no
/// way out of ours that they could go around.
pub(crate) fn of_tool(call: &ToolCall, job: Job, blocked: &Blocked) -> Vec<Command> {
    let blocklist = match job {
        Job::Run => &blocked.in_a_cage,
        Job::Write | Job::Look | Job::Fetch | Job::Note | Job::Other => &blocked.on_the_machine,
    };
    of(call, blocklist, "", (false, job == Job::Run))
}

fn of(
    call: &ToolCall,
    blocklist: &Blocklist,
    folder: &str,
    (runs_here, is_at_home): (bool, bool),
) -> Vec<Command> {
    let Lines { lines, too_many } = lines::of(call);
    // Commands beyond those that are read are none that were understood.
    let rest =
        too_many.then(|| lines::Line { text: "(".to_owned(), is_certain: true, is_known: true });
    let command = |it: lines::Line| {
        let reading = read_from(&it.text, blocklist, folder);
        Command { reading, is_certain: it.is_certain, runs_here, is_at_home }
    };
    lines.into_iter().chain(rest).map(command).collect()
}

/// Where commands of our own action start, below the workspace. What is no such path is refused before anything runs.
fn folder(action: &Action) -> &str {
    let Action::ShellExec(it) = action else { return "" };
    it.dir.as_ref().map_or("", |it| it.as_str())
}

/// What the commands touch that rules single out, however it is written.
pub(crate) fn targets(commands: &[Command]) -> Targets {
    commands.iter().fold(Targets::NONE, |sum, it| {
        let paths = it.reading.places.iter().map(|place| {
            let found = class_of_path(&place.path);
            // To read what is obeyed changes nothing.
            let looks = matches!(place.access, shell::Access::Read | shell::Access::Execute);
            if looks {
                found.without(Target::ControlPlane).without(Target::DurableMemory)
            } else {
                found
            }
        });
        let is_own = |host: &str| it.is_at_home && is_loopback(host);
        let hosts =
            it.reading.hosts.iter().filter(|host| !is_own(host)).map(|it| class_of_host(it));
        paths.chain(hosts).fold(sum, Targets::union)
    })
}

/// Is it surely the machine itself, in the plainest spelling?
fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|it| it.is_loopback())
}

/// The machines that the commands would speak to.
pub(crate) fn hosts(commands: &[Command]) -> impl Iterator<Item = &str> {
    let speaks = |it: &&Command| it.reading.classes.contains(&shell::Class::Network);
    commands.iter().filter(speaks).flat_map(|it| it.reading.hosts.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_spelling() {
        for text in [
            "evil.example",
            "EVIL.example",
            "evil.example.",
            "e%76il.example",
            "\u{ff45}\u{ff56}\u{ff49}\u{ff4c}.example",
        ] {
            assert_eq!(machine(text).host, "evil.example", "{text}");
        }
        assert_eq!(machine("127.0.0.1:8080").host, "127.0.0.1");
    }
}
