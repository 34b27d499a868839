//! Names of what keys are granted for, which others beside the guard need.

use policy::access::Domain;

/// The domain of tools that calling a service belongs to, where keys are granted.
pub const SERVICES: Domain = Domain::Web;

/// The domain of tools that running a command belongs to, where keys are granted.
pub const COMMANDS: Domain = Domain::Shell;
