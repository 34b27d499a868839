//! Objects to commands that must never run, whatever they are dressed up as, and to those that cannot be
//! read.
//!
//! Threat: a command that is quoted, encoded or wrapped until no rule recognises it.

use model::Objection;

use crate::guards::Guard;
use crate::proposed::Proposed;

pub(crate) struct ShellCommand;

impl Guard<Proposed> for ShellCommand {
    fn id(&self) -> &'static str {
        "shell-command"
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        crate::command::objections(proposed.commands())
    }
}
