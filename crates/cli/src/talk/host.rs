//! The host of agents for one command: a gate, models, workers, and the person's door beside them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::host::agents::{Agents, AgentsOptions};
use ::host::models::Models;
use ::host::{GateError, ipc::Socket};

use crate::failure::Failure;
use crate::gate::setup::{self, Gate};
use crate::output;

/// How long whoever looks after workers may still hold them.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

/// A gate, models and workers.
pub(crate) struct Host {
    pub(crate) agents: Arc<Agents>,
    pub(crate) gate: Arc<Gate>,
    /// Is there no model but the mock one, because nobody chose one?
    pub(crate) is_mock: bool,
    home: PathBuf,
}

impl Host {
    /// Opens the gate on `home`, with the models that its settings choose; with the mock one where they choose none.
    pub(crate) fn open(home: &Path, options: AgentsOptions) -> Result<Self, Failure> {
        let policy = setup::policy_of(home, None)?;
        // What a browser's pages ask for are calls of the tools that a proxy has.
        let catalogue = gateway::proxy::catalogue().map_err(Failure::unable)?;
        let gate = Gate::open_with_keys(home, policy, catalogue, |_, _| {})?;
        let chosen = Models::of(&gate, home).map_err(Failure::usage);
        let models = chosen.and_then(|chosen| match chosen {
            Some(models) => Ok((models, false)),
            None => Models::mock(&gate).map(|it| (it, true)).map_err(Failure::unable),
        });
        let (models, is_mock) = match models {
            Ok(models) => models,
            Err(failure) => {
                gate.close()?;
                return Err(failure);
            }
        };
        let gate = Arc::new(gate);
        let agents = Agents::new(Arc::clone(&gate), home, Arc::new(models), options);
        let agents = agents.map_err(Failure::from)?;
        Ok(Self { agents, gate, is_mock, home: home.to_owned() })
    }

    /// Says how to have a real model, where there is none.
    pub(crate) fn say_if_mock(&self) {
        if self.is_mock {
            output::hint(
                "no model is chosen: the mock provider answers, which is no model. For a real one write \
                 `providers: {llm: anthropic}` and `models: {default: anthropic/MODEL}` into config.yaml of the \
                 state directory, and keep the key with `lazaret vault set ANTHROPIC_API_KEY`",
            );
        }
    }

    /// Does `work` while people can come to the door of `control`.
    pub(crate) fn beside<T>(
        &self,
        control: Option<&Socket>,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        crate::door::beside(control, &self.gate, &self.home, work)
    }

    /// Ends all workers, then the gate.
    pub(crate) fn close(self) -> Result<(), Failure> {
        let Self { agents, mut gate, .. } = self;
        agents.end();
        drop(agents);
        let until = Instant::now() + LET_GO_WITHIN;
        loop {
            match Arc::try_unwrap(gate) {
                Ok(gate) => return gate.close().map_err(Failure::from),
                Err(held) if Instant::now() < until => {
                    gate = held;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(_) => return Err(GateError::unable("a call does not come back").into()),
            }
        }
    }
}
