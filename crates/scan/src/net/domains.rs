//! Lists of domains.

use super::Host;

/// Placeholder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains(Vec<String>);

/// Placeholder.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no domain")]
pub struct DomainError(String);

impl Domains {
    /// Placeholder.
    ///
    /// # Errors
    /// Never.
    pub fn parse<S: AsRef<str>>(patterns: &[S]) -> Result<Self, DomainError> {
        Ok(Self(patterns.iter().map(|it| it.as_ref().to_owned()).collect()))
    }

    /// Placeholder.
    #[must_use]
    pub fn contains(&self, host: &Host) -> bool {
        self.0.iter().any(|it| *it == host.to_string())
    }
}
