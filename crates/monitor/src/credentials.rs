//! Names of what keys are granted for, which others beside the guard need.

use policy::access::Domain;

/// The rule, in records and in what a permit says was lifted.
pub const CREDENTIAL_SCOPE: &str = "credential-scope";
/// The domain of tools that calling a service belongs to, where keys are granted.
pub const SERVICES: Domain = Domain::Web;

/// The domain of tools that running a command belongs to, where keys are granted.
pub const COMMANDS: Domain = Domain::Shell;
