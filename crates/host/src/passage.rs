//! The way out of a cage: our proxy, answering at a listener inside. There is no other, whoever made the cage.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use egress::{Limits, Rules};
use evidence::Journal;
use gateway::proxy::{Account, Accounts, Bounds, Command, Outside, Proxy, Serving, Token};
use model::Caller;
use monitor::Monitor;
use sandbox::cage::Network;

use crate::web::{self, WebError};

/// Connections of one cage at once.
const CONNECTIONS_MAX: usize = 256;

/// The way out of one cage, which is known by a word that only its programs are told.
pub struct Passage {
    who: Caller,
    token: Token,
}

/// What proxies stand on, for agents whose host has its settings in `home`.
///
/// # Errors
/// If they are not understood.
pub fn outside(
    home: &Path,
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
) -> Result<Outside, WebError> {
    let limits = Limits::default();
    let dialer = Arc::new(web::dialer(home, &limits)?);
    Ok(Outside { monitor, journal, dialer, limits })
}

impl Passage {
    /// A way out for the programs of one cage, which ask for `who`.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn of(who: Caller) -> io::Result<Self> {
        Ok(Self { who, token: Token::random()? })
    }

    /// What the cage is told of it.
    #[must_use]
    pub fn network(&self) -> Network {
        Network::Proxy(format!("{}:{}", self.who.agent, self.token.shown_once()))
    }

    /// Answers at the cage's listener, as far as `rules` go, until what it gives is dropped. If an agent's `command` is
    /// in the cage, it asks in the agent's own session.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn serve(
        self,
        outside: Outside,
        rules: Rules,
        command: Option<Arc<Command>>,
        listener: TcpListener,
    ) -> io::Result<Serving> {
        let mut account = Account::new(self.who, rules, &self.token);
        if let Some(command) = command {
            account = account.of_command(command);
        }
        let mut accounts = Accounts::default();
        accounts.add(account);
        let bounds = Bounds { connections: CONNECTIONS_MAX, ..Bounds::default() };
        Serving::begin(Proxy::new(outside, accounts, bounds), listener)
    }
}
