//! Where a turn runs: at the process that has the gate already, or here. Whoever comes while another command has the gate
//! waits for it.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use host::agents::AgentsOptions;
use host::doors::talk::TalkRequest;

use super::host::Host;
use super::speaks::Beside;
use crate::failure::Failure;
use crate::output;

/// How long another command is waited for: as long as a turn may take.
const WAIT_MAX: Duration = Duration::from_secs(900);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(100);

/// Where a turn runs.
pub(super) enum Place {
    /// At the process that has the gate.
    Beside(Box<Beside>),
    /// In this one.
    Here(Box<Host>),
}

impl Place {
    /// Finds it. Signals end the wait, as they end whoever does not listen to them.
    pub(super) fn find(
        home: &Path,
        request: &TalkRequest,
        options: &AgentsOptions,
    ) -> Result<Self, Failure> {
        let (begun, mut is_told) = (Instant::now(), false);
        loop {
            if let Some(beside) = Beside::open(home, request)? {
                return Ok(Self::Beside(Box::new(beside)));
            }
            let why = match Host::open_unless_busy(home, options.clone())? {
                Ok(host) => return Ok(Self::Here(Box::new(host))),
                Err(why) => why,
            };
            if begun.elapsed() > WAIT_MAX {
                return Err(Failure::unable(why));
            }
            if !is_told {
                is_told = true;
                output::note(
                    "another command has the gate: waiting until it ends; after `lazaret daemon start` they run side by side",
                );
            }
            thread::sleep(LOOK);
        }
    }
}
