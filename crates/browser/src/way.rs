//! A browser's way out: a proxy of its own on a port of this machine, with a password that only this browser
//! is told, and a session at the gate, so that whatever a page asks for is judged and recorded.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use aegx::Principal;
use egress::{Limits, Rules};
use gateway::proxy::{self, Account, Accounts, Bounds, Outside, Proxy, Token};
use model::{Caller, Kind, SessionId};
use monitor::{Approver, Monitor, Opening};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::pool::Setup;

/// Connections of one browser at once.
const CONNECTIONS_MAX: usize = 256;

/// The way out of one browser. Dropped, there is none.
pub(crate) struct Way {
    monitor: Arc<Monitor>,
    who: Caller,
    serving: AbortHandle,
    address: SocketAddr,
    rules: Rules,
}

/// What the browser is told so that the proxy takes it.
pub(crate) struct Credentials {
    /// The account.
    pub(crate) name: String,
    /// Its password.
    pub(crate) token: Token,
}

impl Way {
    /// A way out for the browser `id` of `who`.
    ///
    /// The session is no child of the agent's: what a page loads is the page's doing, and what the agent
    /// wants of the page was judged before the page got it. It can only reach what the agent may.
    pub(crate) fn open(
        setup: &Setup,
        runtime: &Handle,
        who: &Caller,
        id: &str,
    ) -> Result<(Self, Credentials), String> {
        let session =
            SessionId::parse(&format!("browser-{id}")).map_err(|error| error.to_string())?;
        let door = Kind::of_static("browser");
        let who = Caller { session, door, ..who.clone() };
        let tools = proxy::tools().map_err(|error| error.to_string())?;
        let (admission, rules) = setup.admits.admit(&who, &tools)?;
        let token = Token::random().map_err(|error| error.to_string())?;
        let mut accounts = Accounts::default();
        accounts.add(Account::new(who.clone(), rules.clone(), &token));
        let listener = listen(runtime).map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let opening = Opening {
            who: who.clone(),
            principal: Principal::User,
            profile: admission.profile(),
            parent: None,
            admission,
            approver: Approver::Absent,
            tools,
        };
        setup.monitor.open_session(opening).map_err(|error| error.to_string())?;
        let outside = Outside {
            monitor: Arc::clone(&setup.monitor),
            journal: Arc::clone(&setup.journal),
            dialer: Arc::clone(&setup.dialer),
            limits: Limits::default(),
        };
        let bounds = Bounds { connections: CONNECTIONS_MAX, ..Bounds::default() };
        let proxy = Proxy::new(outside, accounts, bounds);
        let serving = runtime.spawn(proxy.serve(listener)).abort_handle();
        let name = who.agent.as_str().to_owned();
        let monitor = Arc::clone(&setup.monitor);
        Ok((Self { monitor, who, serving, address, rules }, Credentials { name, token }))
    }

    /// Where the proxy listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What may be reached.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.serving.abort();
        // What still comes by a connection that is open is refused: there is no session.
        let _ = self.monitor.end_session(&self.who);
    }
}

fn listen(runtime: &Handle) -> io::Result<TcpListener> {
    runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
}
