//! What is wrong with a policy, with the place.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The pack.
    pub pack: String,
    /// The line, from 1; 0 if it is about the whole.
    pub line: usize,
    /// The rule, if it has an id.
    pub rule: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// Everything that is wrong with a policy. It is not used, then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy is not usable: {}", self.first())]
pub struct LoadErrors(pub Vec<LoadError>);

impl LoadErrors {
    fn first(&self) -> String {
        let more = self.0.len().saturating_sub(1);
        let rest = if more == 0 { String::new() } else { format!(", and {more} more") };
        self.0.first().map_or_else(|| "no reason given".to_owned(), |it| format!("{it}{rest}"))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.pack)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some(rule) = &self.rule {
            write!(f, ": rule `{rule}`")?;
        }
        write!(f, ": {}", self.what)
    }
}
