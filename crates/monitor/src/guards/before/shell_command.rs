//! Objects to commands that must never run, whatever they are dressed up as, and to those that cannot be
//! read.
//!
//! Threat: a command that is quoted, encoded or wrapped until no rule recognises it.

use model::{Decision, Fix, Objection};

use crate::command::{Command, NOT_UNDERSTOOD};
use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;

pub(crate) struct ShellCommand;

impl Guard<Proposed> for ShellCommand {
    fn id(&self) -> Rule {
        Rule::ShellCommand
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        proposed.commands().iter().flat_map(objections).collect()
    }
}

/// What is a person's, wherever it runs: it ends or changes what stands between an agent and the machine.
const AGAINST_US: &[shell::Rule] = &[shell::Rule::Agent, shell::Rule::Kill];

/// What speaks against a command: the blocklist, and what cannot be understood.
fn objections(command: &Command) -> Vec<Objection> {
    let objection = |finding: &shell::Finding| {
        let not_understood = command.is_certain && NOT_UNDERSTOOD.contains(&finding.rule);
        let (decision, code) = match finding.decision {
            shell::Decision::Deny => (Decision::Deny, "command_blocked"),
            shell::Decision::StepUp if not_understood => {
                (Decision::StepUp, "command_not_understood")
            }
            shell::Decision::StepUp if command.runs_here || AGAINST_US.contains(&finding.rule) => {
                (Decision::StepUp, "command_needs_a_person")
            }
            shell::Decision::StepUp | shell::Decision::Allow => return None,
        };
        let fix = command
            .reading
            .fix
            .map(|it| Fix { reason: it.reason.into(), alternative: it.alternative.into() });
        Some(Objection::new(finding.rule, decision, code, finding.reason.clone()).with_fix(fix))
    };
    command.reading.findings.iter().filter_map(objection).collect()
}
