//! The host of agents for one command: a gate, models, workers, and the person's door beside them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::host::agents::{Account, Agents, AgentsOptions};
use ::host::doors::Talks;
use ::host::models::Models;
use ::host::{GateError, ipc::Socket};
use ::serve::Purses;
use agent::{Frame, Purse, Turn, TurnError};
use evidence::SystemClock;
use serde_json::Value;

use crate::carrying::Carrying;
use crate::failure::Failure;
use crate::gate::setup::{self, Gate};
use crate::output;

/// How long whoever looks after workers may still hold them.
const LET_GO_WITHIN: Duration = Duration::from_secs(2);

/// A gate, models and workers.
pub(crate) struct Host {
    pub(crate) agents: Arc<Agents>,
    pub(crate) gate: Arc<Gate>,
    /// Who pays for what users have agents do.
    pub(crate) purses: Arc<Purses>,
    /// Is there no model but the mock one, because nobody chose one?
    pub(crate) is_mock: bool,
    home: PathBuf,
}

impl Host {
    /// Opens the gate on `home`, with the models that its settings choose; with the mock one where they choose none.
    pub(crate) fn open(home: &Path, options: AgentsOptions) -> Result<Self, Failure> {
        Self::open_unless_busy(home, options)?.map_err(|why| GateError::Busy(why).into())
    }

    /// The same; says why, where another process has the gate.
    pub(super) fn open_unless_busy(
        home: &Path,
        options: AgentsOptions,
    ) -> Result<Result<Self, String>, Failure> {
        let (policy, catalogue) = setup::rules_of(home, None)?;
        let gate = match Gate::open_with_keys(home, policy, catalogue, |_, _| {}) {
            Err(GateError::Busy(why)) => return Ok(Err(why)),
            opened => opened?,
        };
        let (models, is_mock) = match models(&gate, home) {
            Ok(models) => models,
            Err(error) => {
                gate.close()?;
                return Err(error.into());
            }
        };
        let gate = Arc::new(gate);
        let agents = Agents::new(Arc::clone(&gate), home, Arc::new(models), options);
        let agents = agents.map_err(Failure::from)?;
        let purses = Arc::new(Purses::of(home, Arc::new(SystemClock)));
        Ok(Ok(Self { agents, gate, purses, is_mock, home: home.to_owned() }))
    }

    /// Runs one turn, paid by its user.
    pub(super) fn account(
        &self,
        turn: &Turn,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Account, TurnError> {
        let purse = self.purses.purse(&turn.user, &turn.agent, &turn.session)?;
        self.agents.account(turn, purse, on_frame)
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
        let Self { agents, gate, .. } = self;
        agents.end();
        drop(agents);
        setup::close(gate, LET_GO_WITHIN)
    }
}

/// Says how to have a real model, where there is none.
pub(super) fn say_if_mock(is_mock: bool) {
    if is_mock {
        output::hint(
            "no model is chosen: the mock provider answers, which is no model. For a real one write \
             `providers: {llm: anthropic}` and `models: {default: anthropic/MODEL}` into config.yaml of the \
             state directory, and keep the key with `lazaret vault init` and \
             `lazaret vault set ANTHROPIC_API_KEY --host api.anthropic.com`",
        );
    }
}

/// The models that the settings in `home` choose, or the mock one, and whether it is that.
fn models(gate: &Gate, home: &Path) -> Result<(Models, bool), GateError> {
    match Models::of(gate, home).map_err(GateError::usage)? {
        Some(models) => Ok((models, false)),
        None => Models::mock(gate).map(|it| (it, true)).map_err(GateError::unable),
    }
}

/// Agents for those who come by the door of talks of a daemon; there from the first one on.
pub(crate) struct OnDemand {
    gate: Arc<Gate>,
    home: PathBuf,
    purses: Arc<Purses>,
    carrying: Arc<Carrying>,
    agents: Mutex<Option<(Arc<Agents>, bool)>>,
}

impl OnDemand {
    /// `carrying` is whoever carries out jobs with them.
    pub(crate) fn new(gate: Arc<Gate>, home: &Path, carrying: &Arc<Carrying>) -> Self {
        let purses = Arc::new(Purses::of(home, Arc::new(SystemClock)));
        let (carrying, agents) = (Arc::clone(carrying), Mutex::default());
        Self { gate, home: home.to_owned(), purses, carrying, agents }
    }

    /// Who pays.
    pub(crate) fn purses(&self) -> &Arc<Purses> {
        &self.purses
    }

    /// Ends the workers of all that was begun by the daemon itself.
    pub(crate) fn end(&self) {
        let agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((agents, _)) = agents {
            agents.end();
        }
    }
}

impl Talks for OnDemand {
    fn agents(&self) -> Result<(Arc<Agents>, bool), GateError> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((agents, is_mock)) = &*agents {
            return Ok((Arc::clone(agents), *is_mock));
        }
        let (models, is_mock) = models(&self.gate, &self.home)?;
        let (gate, options) = (Arc::clone(&self.gate), AgentsOptions::default());
        let made = Agents::new(gate, &self.home, Arc::new(models), options)?;
        *agents = Some((Arc::clone(&made), is_mock));
        Ok((made, is_mock))
    }

    fn purse(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.purses.purse(user, agent, session)
    }

    fn jobs(&self) -> Value {
        self.carrying.status()
    }
}
