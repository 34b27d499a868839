//! A proxy at a listener, for programs that ask by accounts: of `lazaret proxy`, of a command in a cage.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use aegx::Principal;
use egress::{Rules, Signs};
use evidence::{Clock as _, SystemClock};
use gateway::proxy::{self, Access, Account, Accounts, Bounds, Proxy, Serving, Token};
use model::{AgentId, Caller, Kind, SessionId, UserId};
use monitor::{Approver, Opening};
use scan::net::Domains;
use serde::{Deserialize, Serialize};
use vault::access::KeptTokens;

use crate::gate::{Gate, GateError};

/// Connections of one cage at once.
const CAGE_CONNECTIONS_MAX: usize = 256;

/// A proxy that is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyRequest {
    /// By which accounts programs ask.
    pub accounts: Vec<ProxyAccount>,
    /// Whom it serves.
    pub door: ProxyDoor,
}

/// Whom a proxy serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProxyDoor {
    /// Any program that is told of it. Access tokens of the state directory are believed, too.
    Proxy,
    /// The programs of one cage.
    Exec,
}

/// One account of a proxy.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyAccount {
    /// For whom programs ask.
    pub user: String,
    /// For which agent.
    pub agent: String,
    /// In which session.
    pub session: String,
    /// By which token. It goes over a socket that only its user can reach, and nowhere else.
    pub token: String,
    /// Domains that may be reached at most; empty where the manifest alone says it.
    pub allow: Vec<String>,
}

impl std::fmt::Debug for ProxyAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // INVARIANT (SecretsDoNotPrint)
        f.debug_struct("ProxyAccount").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A proxy that serves.
pub struct Proxying {
    serving: Serving,
    callers: Vec<Caller>,
}

impl Proxying {
    /// Opens the session of each account and answers at `listener`; programs without an account are counted.
    ///
    /// # Errors
    /// If an account is not admitted, or the system gives no threads.
    pub fn begin(
        gate: &Gate,
        home: &Path,
        request: &ProxyRequest,
        (listener, strangers): (TcpListener, &Arc<AtomicU64>),
    ) -> Result<Self, GateError> {
        let mut accounts = Accounts::default();
        accounts.count_strangers_in(Arc::clone(strangers));
        let mut callers = Vec::new();
        let begin = || -> Result<Serving, GateError> {
            for it in &request.accounts {
                let who = it.caller(request.door)?;
                let mut rules = admit(home, gate, &who)?;
                callers.push(who.clone());
                if !it.allow.is_empty() {
                    // What the manifest does not allow is not allowed here, either.
                    let allow = Domains::parse(&it.allow).map_err(GateError::usage)?;
                    rules.allow.push(allow);
                }
                let token = Token::handed(&it.token).map_err(GateError::usage)?;
                accounts.add(Account::new(who, rules, &token));
            }
            let mut bounds = Bounds::default();
            if request.door == ProxyDoor::Exec {
                bounds.connections = CAGE_CONNECTIONS_MAX;
            } else {
                accounts.believe(Arc::new(Given(KeptTokens::in_home(home))));
            }
            let (monitor, journal) = (Arc::clone(&gate.monitor), Arc::clone(&gate.journal));
            let outside = crate::outside(home, monitor, journal).map_err(GateError::usage)?;
            let proxy = Proxy::new(outside, std::mem::take(&mut accounts), bounds);
            match request.door {
                ProxyDoor::Proxy => Serving::begin_for_all(proxy, listener),
                ProxyDoor::Exec => Serving::begin(proxy, listener),
            }
            .map_err(GateError::unable)
        };
        match begin() {
            Ok(serving) => Ok(Self { serving, callers }),
            Err(error) => {
                // It is refused already; that a session cannot be ended in order either changes nothing.
                let _ = end_all(gate, &callers);
                Err(error)
            }
        }
    }

    /// Ends it, and the sessions of its accounts.
    ///
    /// # Errors
    /// If their end cannot be kept.
    pub fn end(self, gate: &Gate) -> Result<(), GateError> {
        drop(self.serving);
        end_all(gate, &self.callers)
    }
}

fn end_all(gate: &Gate, callers: &[Caller]) -> Result<(), GateError> {
    callers.iter().try_for_each(|who| gate.monitor.end_session(who)).map_err(GateError::unable)
}

impl ProxyAccount {
    fn caller(&self, door: ProxyDoor) -> Result<Caller, GateError> {
        let door = match door {
            ProxyDoor::Proxy => Kind::of_static("proxy"),
            ProxyDoor::Exec => Kind::of_static("exec"),
        };
        Ok(Caller {
            session: SessionId::parse(&self.session).map_err(GateError::usage)?,
            user: UserId::parse(&self.user).map_err(GateError::usage)?,
            agent: AgentId::parse(&self.agent).map_err(GateError::usage)?,
            door,
        })
    }
}

/// The access tokens of the state directory.
struct Given(KeptTokens);

impl Access for Given {
    fn name_of(&self, token: &str, who: &Caller) -> Option<String> {
        // What cannot be read opens nothing.
        let bearer = self.0.verify(token, SystemClock.unix_seconds()).ok()??;
        (bearer.user == who.user && bearer.may_use(&who.agent)).then_some(bearer.id)
    }
}

/// Opens the session of a program, and says what it may reach. Where the manifest gives no network, nothing does.
fn admit(home: &Path, gate: &Gate, who: &Caller) -> Result<Rules, GateError> {
    let tools = proxy::tools().map_err(GateError::unable)?;
    let admission = crate::admission_of_program(home, who, &tools).map_err(|error| {
        if error.is_refusal() { GateError::refused(error) } else { GateError::usage(error) }
    })?;
    if admission.closes_network() {
        let why = "gives its programs no network (`sandbox: {network: none}`)";
        return Err(GateError::refused(format!("the manifest of `{}` {why}", who.agent)));
    }
    let rules = crate::reach(&admission).map_err(GateError::usage)?;
    let opening = Opening {
        who: who.clone(),
        principal: Principal::User,
        profile: admission.profile(),
        parent: None,
        admission,
        approver: Approver::Absent,
        tools,
    };
    gate.monitor.open_session(opening).map_err(GateError::refused)?;
    // What a program has read, nobody has seen: what it asks for is not the user's own word.
    Ok(Rules { signs: Signs::Refused, ..rules })
}
