//! What a call does, whatever its tool is called. Only what lasts or goes out is an act that somebody must have asked
//! for; to look, to write ordinary files and to run what stays where the agent works is no question to anybody.

mod asked;
mod changes;
mod edits;
mod job;
mod job_words;
mod lines;
mod removal;

use std::sync::Arc;

use model::ipc::ActionName;
use model::{Flow, Reach, ToolCall, Trust};
use shell::Act;

pub(crate) use asked::{AskedActs, chooses, is_answer, is_denied, is_yes, opens};
pub(crate) use job::Job;
pub(crate) use lines::print_others;

use crate::command::Command;
use crate::target::kind_of_obeyed;

/// Kinds of acts that are known by themselves, and not by the tool that does them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Of a command, and of an edit that does the same.
    Command(Act),
    /// Data of this machine goes to another.
    Send,
    /// A file changes that programs or agents obey later.
    Obeyed(Obeyed),
    /// Such a file holds less than before.
    Removal,
}

impl Kind {
    /// What it means, for people: the end of a sentence that begins with the deed.
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Send => "sends data to another machine",
            Self::Removal => "leaves out what was checked or decided there",
            Self::Command(Act::Publish) => "makes something public or changes what runs elsewhere",
            Self::Command(Act::Push) => "sends commits to another remote",
            Self::Command(Act::Merge) => "lets a change in, or approves it",
            Self::Command(Act::Message) => "writes to others",
            Self::Command(Act::Depend) => "brings in code of others",
            Self::Command(Act::Source) => "changes where code or packages come from",
            Self::Command(Act::Extend) => "makes programs run something more from now on",
            Self::Command(Act::Weaken) => "switches off a check",
            Self::Command(Act::Erase) => "loses work that nothing brings back",
            Self::Command(Act::Grant) => "gives out rights or secrets",
            Self::Obeyed(Obeyed::Ci) => "decides what build servers do",
            Self::Obeyed(Obeyed::Hook) => "decides what runs with each commit",
            Self::Obeyed(Obeyed::Startup) => "decides what runs when the machine or a shell starts",
            Self::Obeyed(Obeyed::Instructions) => "decides what agents do later",
            Self::Obeyed(Obeyed::Settings) => "decides what editors, agents or tools run",
        }
    }
}

/// Who obeys a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Obeyed {
    /// A server that builds and tests.
    Ci,
    /// Programs that keep versions of files, before or after they do something.
    Hook,
    /// A shell, a system, a session, when it starts.
    Startup,
    /// Agents, as instructions.
    Instructions,
    /// Editors, agents and tools, as settings.
    Settings,
}

impl Kind {
    /// Does something go to others by it, or get into their hands?
    const fn gives(self) -> bool {
        match self {
            Self::Send => true,
            Self::Command(act) => lines::sends(act) || matches!(act, Act::Grant),
            Self::Obeyed(_) | Self::Removal => false,
        }
    }
}

/// An act, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) kind: Kind,
    /// For people: the command, or the file.
    pub(crate) what: String,
    /// What it is done to, by which the user may have named it.
    pub(crate) object: String,
}

/// What a call does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Deeds {
    /// Only its tool says it.
    #[default]
    OfTool,
    /// It looks, keeps a note for the agent itself, or asks the person.
    Look,
    /// It writes ordinary files, or runs what stays where the agent works.
    Work,
    /// These, and maybe work.
    Acts(Vec<Deed>),
}

impl Deeds {
    /// Those of an action of ours.
    pub(crate) fn of_action(name: ActionName, call: &ToolCall, commands: &[Command]) -> Self {
        // What is said is looked at as a message; nothing is done by it where the agent works.
        let looks = [
            ActionName::FileRead,
            ActionName::FileList,
            ActionName::FileSearch,
            ActionName::MessageOut,
        ];
        let writes = [ActionName::FileWrite, ActionName::FileEdit];
        if name == ActionName::ShellExec {
            lines::of(commands)
        } else if writes.contains(&name) {
            edits::of(call)
        } else if looks.contains(&name) {
            Self::Look
        } else {
            Self::OfTool
        }
    }

    /// Those of a call of somebody's tool that does this `job` for an agent that works in a folder.
    pub(crate) fn of_call(job: Job, call: &ToolCall, commands: &[Command]) -> Self {
        match job {
            Job::Other => Self::OfTool,
            Job::Look | Job::Fetch | Job::Note => Self::Look,
            Job::Run => lines::of(commands),
            Job::Write => edits::of(call),
        }
    }

    /// Is it known what it does, without its tool?
    pub(crate) fn are_known(&self) -> bool {
        !matches!(self, Self::OfTool)
    }

    pub(crate) fn acts(&self) -> &[Deed] {
        match self {
            Self::Acts(acts) => acts,
            Self::OfTool | Self::Look | Self::Work => &[],
        }
    }

    /// The flow of the call, which is that of the tool as far as it does what is known: what a tool could do is no matter
    /// where it is known what this call does.
    pub(crate) fn refine(&self, flow: &Arc<Flow>, is_outside: bool) -> Arc<Flow> {
        let reach = match self {
            Self::OfTool => return Arc::clone(flow),
            Self::Look => Reach::Read,
            Self::Work => Reach::Write,
            Self::Acts(acts) if acts.iter().any(|it| it.kind.gives()) => Reach::Send,
            Self::Acts(_) => Reach::Write,
        };
        let output = if is_outside { Trust::Untrusted } else { Trust::Own };
        let egress = is_outside && flow.egress && reach == Reach::Send;
        Arc::new(Flow { reach, output, egress, destructive: false, roles: flow.roles.clone() })
    }
}

/// The deed of writing a file that is obeyed, if it is.
pub(crate) fn of_file(path: &str) -> Option<Deed> {
    let kind = Kind::Obeyed(kind_of_obeyed(path)?);
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path);
    Some(Deed { kind, what: format!("writing `{path}`"), object: name.to_owned() })
}

/// Does what comes back show what others wrote?
pub(crate) fn shows_others(job: Job, call: &ToolCall, commands: &[Command]) -> bool {
    match job {
        Job::Run => lines::print_others(commands),
        Job::Look => edits::looks_at_others(call),
        Job::Fetch => true,
        Job::Write | Job::Note | Job::Other => false,
    }
}
