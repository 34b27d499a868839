//! How much a finding is to be believed.

/// What speaks for a finding. The later, the surer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Words nearby: other things are written like that, too.
    Words,
    /// The form: hardly anything else is written like that.
    Form,
    /// Check digits, or a checksum.
    Checked,
}

impl Confidence {
    /// Returns how likely the finding is right, 0 to 1: the one place where it becomes a number.
    #[must_use]
    pub const fn score(self) -> f64 {
        match self {
            Self::Words => 0.6,
            Self::Form => 0.85,
            Self::Checked => 0.95,
        }
    }

    /// Returns the name in answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Form => "form",
            Self::Checked => "checked",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Confidence::{Checked, Form, Words};

    #[test]
    fn the_surer_the_higher_and_nothing_is_certain() {
        let scores = [Words, Form, Checked].map(super::Confidence::score);
        assert!(scores.is_sorted() && scores.iter().all(|it| (0.5..1.0).contains(it)));
    }
}
