//! A worker that is started only to see that one can be: it is told who it would be for, and ends.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agent::{AccessUser, Hooks, ToWorker, WORKER, WorkerConfig};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use sandbox::cage::{Held, Rung};

use super::END_WITHIN;
use super::inbox::Next;
use super::link::Link;
use super::spawner::Spawner;
use super::start::{LOOK, cage_here, environment, ready};
use crate::gate::GateError;

/// In whose name it is tried. There is no session, and nothing is asked or called.
const NOBODY: &str = "preflight";

/// Makes the cage of a worker of `agent` in the state directory `home`, starts the worker in it, waits until it is ready,
/// and ends it. Gives what held it.
///
/// # Errors
/// Why there would be no worker.
pub fn trial(home: &Path, agent: &AgentId) -> Result<Held, GateError> {
    let settings = crate::settings(home).map_err(GateError::usage)?.unwrap_or_default();
    let required = settings.host().required.iter();
    let required: Vec<Rung> = required.filter_map(|it| Rung::parse(it)).collect();
    let who = Caller {
        session: SessionId::parse(NOBODY).map_err(GateError::unable)?,
        user: UserId::parse(NOBODY).map_err(GateError::unable)?,
        agent: agent.clone(),
        door: Kind::of_static(NOBODY),
    };
    // The kernel ends it with the thread that started it: it stays until the end.
    let spawner = Spawner::new().map_err(GateError::unable)?;
    let (ours, theirs) = UnixStream::pair().map_err(GateError::unable)?;
    let launched = spawner.launch(theirs).map_err(GateError::unable)?;
    let confined = launched
        .confine(cage_here(home, &required)?, WORKER, environment(&who))
        .map_err(GateError::unable)?;
    let held = confined.held().clone();
    let link = Link::new(ours).map_err(GateError::unable)?;
    link.say(&init(&who)).map_err(GateError::unable)?;
    let is_ready = ready(&link, &AtomicBool::new(false));
    if is_ready.is_ok() && link.say(&ToWorker::Shutdown {}).is_ok() {
        let until = Instant::now() + END_WITHIN;
        while Instant::now() < until && !matches!(link.next(LOOK), Next::Over) {}
    }
    link.close();
    drop(confined);
    is_ready.map(|()| held)
}

fn init(who: &Caller) -> ToWorker {
    let name = who.user.as_str().to_owned();
    ToWorker::Init {
        agent_id: who.agent.as_str().to_owned(),
        user_id: name.clone(),
        config: WorkerConfig {
            model: String::new(),
            effort: None,
            domains: Vec::new(),
            hooks: Hooks::default(),
            log_level: "off".to_owned(),
        },
        access_user: AccessUser { name, tools_deny: Vec::new() },
    }
}
