//! The five decisions, ordered: the strictest wins.

use std::fmt;

/// What may happen to a call, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It happens as asked.
    Allow,
    /// It happens in a form that was made harmless.
    Modify,
    /// It happens once a person has said yes to exactly this.
    StepUp,
    /// It waits for something that is not there yet.
    Defer,
    /// It does not happen, whoever asks.
    Deny,
}

impl Decision {
    /// All of them, mildest first.
    pub const ALL: &[Self] = &[Self::Allow, Self::Modify, Self::StepUp, Self::Defer, Self::Deny];

    /// The name in records and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Modify => "modify",
            Self::StepUp => "step_up",
            Self::Defer => "defer",
            Self::Deny => "deny",
        }
    }

    /// Does the call happen now?
    #[must_use]
    pub const fn happens(self) -> bool {
        match self {
            Self::Allow | Self::Modify => true,
            Self::StepUp | Self::Defer | Self::Deny => false,
        }
    }

    /// Can a person let it happen?
    #[must_use]
    pub const fn asks(self) -> bool {
        match self {
            Self::StepUp | Self::Defer => true,
            Self::Allow | Self::Modify | Self::Deny => false,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stricter_is_greater() {
        assert!(Decision::ALL.is_sorted());
        assert!(Decision::Deny > Decision::StepUp && Decision::StepUp > Decision::Allow);
        assert!(Decision::ALL.iter().all(|it| it.happens() == (*it <= Decision::Modify)));
    }
}
