//! The way out of a cage: our proxy, answering at a listener inside. There is no other, whoever made the cage.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use egress::{Dialer, Limits, Rules, Ways};
use evidence::Journal;
use gateway::proxy::{Account, Accounts, Bounds, Command, Proxy, Serving, Token};
use model::Caller;
use monitor::Monitor;
use sandbox::cage::Network;

use crate::web::{self, WebError};

/// Connections of one cage at once.
const CONNECTIONS_MAX: usize = 256;

/// What ways out of cages stand on.
#[derive(Clone)]
pub struct Outside {
    /// The gate.
    pub monitor: Arc<Monitor>,
    /// Its journal.
    pub journal: Arc<Journal>,
    /// Opens connections, to vetted addresses alone.
    pub dialer: Arc<Dialer>,
}

/// The way out of one cage, which is known by a word that only its programs are told.
pub struct Passage {
    who: Caller,
    token: Token,
}

impl Outside {
    /// For agents whose host has its settings in `home`.
    ///
    /// # Errors
    /// If they are not understood.
    pub fn of(home: &Path, monitor: Arc<Monitor>, journal: Arc<Journal>) -> Result<Self, WebError> {
        let dialer = Arc::new(web::dialer(home, &Limits::default())?);
        Ok(Self { monitor, journal, dialer })
    }
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
        outside: &Outside,
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
        let Outside { monitor, journal, dialer } = outside.clone();
        let proxy = Proxy {
            monitor,
            journal,
            ways: Ways::new(dialer, Limits::default()),
            accounts,
            bounds: Bounds { connections: CONNECTIONS_MAX, ..Bounds::default() },
        };
        Serving::begin(proxy, listener)
    }
}
