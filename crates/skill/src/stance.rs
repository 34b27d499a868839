//! How a text stands to what happens: a program runs, a document tells and shows.

use model::skill::Severity;

/// Where a command, a path or an address stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stance {
    /// In a program of the skill, or in what is run by itself: it happens.
    Program,
    /// In a document, as a command: a model may do it, a person may only read it. Documents about security show attacks, so that
    /// what is shown openly is a question for a person and no proof.
    Document,
    /// Where nobody looks: in a comment of a document, or behind an encoding. No honest document does that.
    Hidden,
}

impl Stance {
    /// Returns the severity here of what is `severity` in a program.
    pub(crate) fn weigh(self, severity: Severity) -> Severity {
        match self {
            Self::Program => severity,
            Self::Hidden => severity.max(Severity::High),
            Self::Document => match severity {
                Severity::Critical | Severity::High => Severity::Medium,
                Severity::Medium | Severity::Low => Severity::Low,
                Severity::Info => Severity::Info,
            },
        }
    }
}
