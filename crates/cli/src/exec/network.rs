//! The way out of a cage: our proxy, answering at a listener inside.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aegx::Principal;
use egress::{Limits, Ways};
use gateway::proxy::{self, Account, Accounts, Bounds, Proxy, TOKEN_BYTES, Token};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{Approver, Opening};
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
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(Failure::unable)?;
        let token = Token::of(&random);
        let agent = AgentId::parse(&settings.agent)
            .map_err(|error| Failure::usage(format!("--agent: {error}")))?;
        let session = SessionId::parse(&format!("exec-{}", std::process::id()));
        let who = Caller {
            session: session.map_err(Failure::usage)?,
            user: UserId::parse("me").map_err(Failure::usage)?,
            agent,
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
        let tools = proxy::tools().map_err(Failure::unable)?;
        let admission = host::admission(home, &who, &tools).map_err(|error| {
            if error.is_refusal() { Failure::refused(error) } else { Failure::usage(error) }
        })?;
        let mut rules = host::reach(&admission).map_err(Failure::usage)?;
        // What the manifest does not allow is not allowed here, either.
        rules.allow.extend(allow);
        let opening = Opening {
            who: who.clone(),
            principal: Principal::User,
            profile: Profile::Standard,
            parent: None,
            admission,
            approver: Approver::Absent,
            tools,
        };
        gate.monitor.open_session(opening).map_err(Failure::refused)?;
        let mut accounts = Accounts::default();
        accounts.add(Account::new(who.clone(), rules, &token));
        let limits = Limits::default();
        let dialer = host::dialer(home, &limits).map_err(Failure::usage)?;
        let proxy = Arc::new(Proxy {
            monitor: Arc::clone(&gate.monitor),
            journal: Arc::clone(&gate.journal),
            ways: Ways::new(Arc::new(dialer), limits),
            accounts,
            bounds: Bounds::default(),
        });
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
