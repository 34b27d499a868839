//! How agents are run.

use std::path::PathBuf;
use std::time::Duration;

use agent::{Hooks, MODEL_CALLS_MAX};
use model::Profile;
use monitor::Approver;
use policy::access::HookSettings;
use sandbox::cage::Rung;

use crate::worker::TURN_MAX;

/// Workers at once.
pub const WORKERS_MAX: usize = 20;

/// How agents are run.
#[derive(Clone, Debug)]
pub struct AgentsOptions {
    /// How careful new sessions are.
    pub profile: Profile,
    /// Can a person be asked?
    pub approver: Approver,
    /// Where agents work; without it each in its own workspace.
    pub workspace: Option<PathBuf>,
    /// Gives each session a workspace of its own, which ends with it.
    pub ephemeral: bool,
    /// Workers at once.
    pub workers_max: usize,
    /// Of these, workers of one user.
    pub workers_per_user_max: usize,
    /// How long one turn may take.
    pub turn_max: Duration,
    /// What one turn may cost, in micro-dollars.
    pub cost_max: Option<u64>,
    /// Rungs without which no worker runs, beside those that are always required.
    pub required: Vec<Rung>,
}

impl Default for AgentsOptions {
    fn default() -> Self {
        Self {
            profile: Profile::Standard,
            approver: Approver::Absent,
            workspace: None,
            ephemeral: false,
            workers_max: WORKERS_MAX,
            workers_per_user_max: usize::MAX,
            turn_max: TURN_MAX,
            cost_max: None,
            required: Vec::new(),
        }
    }
}

/// How the loop looks after itself, by the settings.
pub(super) fn hooks(settings: &HookSettings) -> Hooks {
    Hooks {
        log_tool_use: settings.log_tool_use.0,
        verify_before_complete: settings.verify_before_complete.0,
        loop_detection: settings.loop_detection.0,
        loop_detection_threshold: settings.loop_detection_threshold.as_len(),
        compact_success_output: settings.compact_success_output.0,
        compact_output_threshold: settings.compact_output_threshold.as_len(),
        model_calls: MODEL_CALLS_MAX,
    }
}
