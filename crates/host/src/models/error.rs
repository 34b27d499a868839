//! Why there are no models although the settings choose some.

use std::io;

use egress::TrustError;
use llm::mock::ScriptError;
use scan::net::{DomainError, InnerError, Refused};

use crate::admission::AdmissionError;

/// Why there are no models although the settings choose some.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// They contradict themselves.
    #[error("`models` in `config.yaml`: {0}")]
    Chosen(String),
    /// The script of the mock provider is none.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A file cannot be read.
    #[error("the script of the mock provider, `{name}`: {error}")]
    File {
        /// Its name.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// An API's address leads where nobody may go.
    #[error(
        "the address of `{provider}`: {error}; an inner host is opened by its loopback address, or under `egress: {{inner: …}}`"
    )]
    Address {
        /// Whose.
        provider: &'static str,
        /// The rule.
        error: Refused,
    },
    /// An address that can never be opened.
    #[error(transparent)]
    Inner(#[from] InnerError),
    /// What is blocked is not understood.
    #[error(transparent)]
    Blocked(#[from] DomainError),
    /// Nobody vouches for servers.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The system gives no threads.
    #[error("no threads for models: {0}")]
    Io(#[from] io::Error),
}
