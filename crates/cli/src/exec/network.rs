//! The way out of a cage of a person's: our proxy, answering at a listener inside.

use std::net::TcpListener;
use std::path::Path;

use gateway::proxy::{self, Serving};
use host::Passage;
use model::{Caller, Kind, SessionId};
use sandbox::cage::Cage;
use scan::net::Domains;

use super::settings::Settings;
use crate::failure::Failure;
use crate::gate::setup::{self, Gate};

/// Who asks, and what they may reach at most.
pub(crate) struct Way {
    who: Caller,
    passage: Passage,
    allow: Option<Domains>,
}

/// A proxy that serves one cage, and the gate that it stands before.
pub(crate) struct Served {
    gate: Gate,
    serving: Serving,
    who: Caller,
}

impl Way {
    /// A way out, if one was asked for; the cage is told of it.
    pub(crate) fn of(settings: &Settings, cage: &mut Cage) -> Result<Option<Self>, Failure> {
        if !settings.network {
            return Ok(None);
        }
        let session = SessionId::parse(&format!("exec-{}", std::process::id()));
        let who = Caller {
            session: session.map_err(Failure::usage)?,
            user: settings.user.clone(),
            agent: settings.agent.clone(),
            door: Kind::of_static("exec"),
        };
        let passage = Passage::of(who.clone()).map_err(Failure::unable)?;
        cage.network = passage.network();
        let allow = match settings.allow.as_slice() {
            [] => None,
            some => Some(
                Domains::parse(some)
                    .map_err(|error| Failure::usage(format!("--allow: {error}")))?,
            ),
        };
        Ok(Some(Self { who, passage, allow }))
    }

    /// Answers at the listener, until the command has ended.
    pub(crate) fn serve(
        self,
        home: &Path,
        listener: Option<TcpListener>,
    ) -> Result<Served, Failure> {
        let Self { who, passage, allow } = self;
        let listener = listener.ok_or_else(|| Failure::unable("the cage has no listener"))?;
        let policy = setup::policy_of(home, None)?;
        let catalogue = proxy::catalogue().map_err(Failure::unable)?;
        let gate = setup::open_with_keys(home, policy, catalogue, |_, _| ())?;
        let mut rules = crate::proxy::admit(home, &gate, &who)?;
        // What the manifest does not allow is not allowed here, either.
        rules.allow.extend(allow);
        let outside = crate::proxy::outside(home, &gate)?;
        let serving = passage.serve(outside, rules, None, listener).map_err(Failure::unable)?;
        Ok(Served { gate, serving, who })
    }
}

impl Served {
    pub(crate) fn end(self) -> Result<(), Failure> {
        let Self { gate, serving, who } = self;
        drop(serving);
        gate.monitor.end_session(&who).map_err(Failure::unable)?;
        gate.close()
    }
}
