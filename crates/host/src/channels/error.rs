//! What goes wrong with messengers.

use std::io;
use std::time::Duration;

use egress::TrustError;
use scan::net::{DomainError, InnerError, Refused};

use crate::admission::AdmissionError;

/// Why there are no messengers although the settings name some.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelsError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// They say too little, or contradict themselves.
    #[error("`channel_config` in `config.yaml`: {0}")]
    Chosen(String),
    /// An API's address leads where nobody may go.
    #[error("`channel_config` in `config.yaml`: {0}")]
    Address(#[from] Refused),
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
    #[error("no threads for messengers: {0}")]
    Io(#[from] io::Error),
}

/// Why a messenger is not listened to any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct ListenError {
    /// Why.
    pub why: String,
    /// How long the messenger wants to be left alone.
    pub retry: Option<Duration>,
    /// Did it answer at all before that?
    pub answered: bool,
}

/// Why something was not said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// It is not allowed, or there is no such place.
    #[error("{0}")]
    Refused(String),
    /// The messenger did not take it.
    #[error("{0}")]
    Failed(String),
}
