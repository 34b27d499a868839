//! The way out of a cage: our proxy, answering at a listener inside.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use gateway::proxy::{self, Account, Accounts, Token};
use model::{Caller, Kind, SessionId};
use sandbox::cage::{Cage, Network};
use scan::net::Domains;
use tokio::runtime::Runtime;

use super::settings::Settings;
use crate::gate::setup::{self, Gate};
use crate::run::Failure;

/// How long tunnels may go on when the command has ended.
const GRACE: Duration = Duration::from_millis(200);

/// Who asks, and by which word the proxy knows them.
pub(crate) struct Way {
    who: Caller,
    token: Token,
    allow: Option<Domains>,
}

/// A proxy that serves one cage.
pub(crate) struct Serving {
    gate: Gate,
    runtime: Runtime,
    who: Caller,
}

impl Way {
    /// A way out, if one was asked for; the cage is told of it.
    pub(crate) fn of(settings: &Settings, cage: &mut Cage) -> Result<Option<Self>, Failure> {
        if !settings.network {
            return Ok(None);
        }
        let token = crate::proxy::token()?;
        let session = SessionId::parse(&format!("exec-{}", std::process::id()));
        let who = Caller {
            session: session.map_err(Failure::usage)?,
            user: settings.user.clone(),
            agent: settings.agent.clone(),
            door: Kind::of_static("exec"),
        };
        cage.network = Network::Proxy(format!("{}:{}", who.agent, token.shown_once()));
        let allow = match settings.allow.as_slice() {
            [] => None,
            some => Some(
                Domains::parse(some)
                    .map_err(|error| Failure::usage(format!("--allow: {error}")))?,
            ),
        };
        Ok(Some(Self { who, token, allow }))
    }

    /// Answers at the listener, until the command has ended.
    pub(crate) fn serve(
        self,
        home: &Path,
        listener: Option<TcpListener>,
    ) -> Result<Serving, Failure> {
        let Self { who, token, allow } = self;
        let listener = listener.ok_or_else(|| Failure::unable("the cage has no listener"))?;
        let policy = setup::policy(None)?;
        let catalogue = proxy::catalogue().map_err(Failure::unable)?;
        let gate = setup::open_with_keys(home, policy, catalogue, |_, _| ())?;
        let mut rules = crate::proxy::admit(home, &gate, &who)?;
        // What the manifest does not allow is not allowed here, either.
        rules.allow.extend(allow);
        let mut accounts = Accounts::default();
        accounts.add(Account::new(who.clone(), rules, &token));
        let proxy = crate::proxy::of(home, &gate, accounts)?;
        let runtime = Runtime::new().map_err(Failure::unable)?;
        listener.set_nonblocking(true).map_err(Failure::unable)?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(Failure::unable)?
        };
        runtime.spawn(proxy.serve(listener));
        Ok(Serving { gate, runtime, who })
    }
}

impl Serving {
    pub(crate) fn end(self) -> Result<(), Failure> {
        let Self { gate, runtime, who } = self;
        runtime.shutdown_timeout(GRACE);
        gate.monitor.end_session(&who).map_err(Failure::unable)?;
        gate.close()
    }
}
