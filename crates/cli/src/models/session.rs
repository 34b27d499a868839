//! A gate and a session for one question of a person.

use std::fmt::Write as _;
use std::path::Path;

use ::policy::access::Origin;
use host::models::Models;
use host::{AgentSession, Gate, SessionOptions};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use monitor::Approver;

use crate::failure::Failure;
use crate::gate::setup;
use crate::home::Home;
use crate::output;

/// What is said where no provider of models is chosen.
pub(super) const NONE_CHOSEN: &str = "no llm provider is chosen: `llm: anthropic`, `openai`, `local`, `mock` or `router` under `providers` in config.yaml";
/// Randomness in the name of a session, in bytes.
const SESSION_BYTES: usize = 8;

/// Who asks, and as which agent.
#[derive(clap::Args)]
pub(super) struct As {
    #[command(flatten)]
    home: Home,
    /// For whom.
    #[arg(long, default_value = "me", value_parser = UserId::parse)]
    user: UserId,
    /// Which agent.
    #[arg(long, default_value = "main", value_parser = AgentId::parse)]
    agent: AgentId,
}

/// Opens the gate and a new session, has `work` done in it, and ends both.
pub(super) fn within<T>(
    who: &As,
    work: impl FnOnce(&Models, &Caller) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let home = who.home.dir()?;
    let caller = Caller {
        session: session()?,
        user: who.user.clone(),
        agent: who.agent.clone(),
        door: Kind::of_static("ipc"),
    };
    let (policy, catalogue) = setup::rules_of(&home, None)?;
    let unkept = |gate: &Gate, why: &str| host::record_refused(gate, &caller, why);
    let gate = Gate::open_with_keys(&home, policy, catalogue, unkept)?;
    let done = in_session(&gate, &home, &caller, work);
    // However it went: what was done is in order on the disk.
    gate.close()?;
    done
}

fn in_session<T>(
    gate: &Gate,
    home: &Path,
    who: &Caller,
    work: impl FnOnce(&Models, &Caller) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let models = Models::of(gate, home).map_err(Failure::usage)?;
    let models = models.ok_or_else(|| Failure::usage(NONE_CHOSEN))?;
    let options = SessionOptions {
        profile: None,
        approver: Approver::Absent,
        workspace: None,
        own_workspace: false,
        ephemeral: false,
        origin: Origin::Local,
        starter: host::Starter::Person,
    };
    let stop = host::ipc::Stop::on_signals().map_err(Failure::unable)?;
    let mut session = AgentSession::open(gate, home, who, &options, &stop)?;
    session.take_notes().iter().for_each(|it| output::note(it));
    let done = work(&models, who);
    let notes = session.end(gate)?;
    notes.iter().for_each(|it| output::note(it));
    done
}

fn session() -> Result<SessionId, Failure> {
    let mut bytes = [0; SESSION_BYTES];
    getrandom::fill(&mut bytes).map_err(Failure::unable)?;
    let mut name = "models-".to_owned();
    for byte in bytes {
        let _ = write!(name, "{byte:02x}");
    }
    SessionId::parse(&name).map_err(Failure::unable)
}
