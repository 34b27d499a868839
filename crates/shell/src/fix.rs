//! Safer ways, for the model that asked. Advice only: nothing follows from it.

use super::Finding;
use crate::Rule;

/// A proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is wrong with the command.
    pub reason: &'static str,
    /// What could be done instead.
    pub alternative: &'static str,
}

/// By rule, from what says most to what says least.
const FIXES: [(Rule, Fix); 22] = [
    (
        Rule::RemoteCode,
        fix(
            "nobody has seen what would run",
            "download the file with the `fetch` tool, read it, and run it as a file of the workspace",
        ),
    ),
    (
        Rule::ReverseShell,
        fix(
            "it gives a shell to another machine",
            "run the command here and report what it prints",
        ),
    ),
    (
        Rule::EraseRoot,
        fix(
            "it deletes more than the task can need",
            "name the specific files or directories below the workspace, and use `rm -rI path`",
        ),
    ),
    (
        Rule::RawDevice,
        fix(
            "raw copies can destroy a disk",
            "use `cp`, `truncate -s SIZE file` or `head -c SIZE /dev/urandom > file` on files of the workspace",
        ),
    ),
    (
        Rule::Format,
        fix(
            "it would erase a file system",
            "make an image as a file of the workspace and ask a person for the rest",
        ),
    ),
    (Rule::Power, fix("it switches the machine off", "ask a person to restart the machine")),
    (
        Rule::NetworkTool,
        fix(
            "this command goes around the guarded way out",
            "use the `fetch` tool, with https where the host has it",
        ),
    ),
    (
        Rule::Privilege,
        fix(
            "commands run without other privileges here",
            "run it without the prefix; if it needs more, say so and ask a person",
        ),
    ),
    (
        Rule::SystemFile,
        fix(
            "this file decides who owns the machine",
            "write the wanted content to a file of the workspace and ask a person to install it",
        ),
    ),
    (
        Rule::SystemWrite,
        fix(
            "this place belongs to the system",
            "write to a file of the workspace and ask a person to install it",
        ),
    ),
    (
        Rule::Permissions,
        fix(
            "it lets others do more than they need",
            "use `chmod 755` for directories and programs, `chmod 644` for files, `u+x` for a script",
        ),
    ),
    (
        Rule::ContainerEscape,
        fix(
            "the container would reach the machine itself",
            "mount only the workspace, without `--privileged`: `-v \"$PWD\":/work`",
        ),
    ),
    (
        Rule::ForcePush,
        fix(
            "it overwrites what others pushed",
            "use `git push --force-with-lease`, or push to a branch of your own",
        ),
    ),
    (
        Rule::Dynamic,
        fix(
            "only a run would show what it runs",
            "write the commands out, or print the text first and run it when it is known",
        ),
    ),
    (
        Rule::UnknownCommand,
        fix("only a run would show which command it is", "write the name of the command out"),
    ),
    (
        Rule::Unreadable,
        fix("it cannot be read as a command", "write it as plain commands, one per line"),
    ),
    (
        Rule::Disagree,
        fix(
            "parsers read it in different ways",
            "write it more plainly: quote arguments, one command per line",
        ),
    ),
    (Rule::Hidden, fix("it has characters that nobody sees", "type it again with plain letters")),
    (
        Rule::Egress,
        fix(
            "it carries data to another machine",
            "use the tools for web, mail or version control, which know where data may go",
        ),
    ),
    (
        Rule::Credentials,
        fix(
            "secrets are not read by commands",
            "name the credential that the task needs; it is put where it is used",
        ),
    ),
    (
        Rule::FreshRun,
        fix(
            "it runs a file that it has just made",
            "write the file first, show it, and run it with a second command",
        ),
    ),
    (
        Rule::Persistence,
        fix(
            "it would run later without being asked",
            "use the `schedule` tool, or ask a person to set it up",
        ),
    ),
];

const fn fix(reason: &'static str, alternative: &'static str) -> Fix {
    Fix { reason, alternative }
}

/// The proposal that says most about the findings.
pub(super) fn propose(findings: &[Finding]) -> Option<Fix> {
    let found = FIXES.iter().find(|it| findings.iter().any(|finding| finding.rule == it.0));
    found.map(|it| it.1)
}
