//! Who may use the proxy: an account is an agent's name and a token, one of this start or one that was given out
//! for longer.
//!
//! INVARIANT (SecretsDoNotPrint): of a token only its hash is kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use aegx::Digest;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use egress::{Allowance, Rules};
use hyper::HeaderMap;
use hyper::header::PROXY_AUTHORIZATION;
use model::Caller;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::bounds::AT_THE_GATE_PER_AGENT_MAX;
use super::command::Command;

/// Length of a token before it is written down, in bytes.
const TOKEN_BYTES: usize = 32;
/// The longest credentials that are looked at, in bytes.
const CREDENTIALS_BYTES_MAX: usize = 1024;

/// A token, to be shown once.
pub struct Token(String);

impl Token {
    /// A new one.
    ///
    /// # Errors
    /// If the system gives no randomness.
    pub fn random() -> io::Result<Self> {
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        Ok(Self(BASE64URL_NOPAD.encode(&random)))
    }

    /// One that another process of the same user made, as it wrote it down.
    ///
    /// # Errors
    /// If it is none.
    pub fn handed(text: &str) -> io::Result<Self> {
        match BASE64URL_NOPAD.decode(text.as_bytes()) {
            Ok(bytes) if bytes.len() == TOKEN_BYTES => Ok(Self(text.to_owned())),
            _ => Err(io::Error::other("this is no token of a proxy")),
        }
    }

    /// As it is written into a proxy's URL.
    #[must_use]
    pub fn shown_once(&self) -> &str {
        &self.0
    }
}

/// One program's way in.
#[derive(Clone)]
pub struct Account {
    /// For whom it asks.
    pub who: Caller,
    /// What it may reach.
    pub rules: Arc<Rules>,
    /// Its turns at the gate.
    pub(crate) turns: Arc<Semaphore>,
    /// The command that asks, if it is one of an agent: then it asks in the agent's own session.
    pub(crate) command: Option<Arc<Command>>,
    hash: Digest,
}

impl Account {
    /// Whoever has `token` asks for `who`.
    #[must_use]
    pub fn new(who: Caller, rules: Rules, token: &Token) -> Self {
        let turns = Arc::new(Semaphore::new(AT_THE_GATE_PER_AGENT_MAX));
        let hash = Digest::of(token.0.as_bytes());
        Self { who, rules: Arc::new(rules), turns, command: None, hash }
    }

    /// What is asked is asked by this command of the agent, in its session.
    #[must_use]
    pub fn of_command(mut self, command: Arc<Command>) -> Self {
        self.command = Some(command);
        self
    }

    /// What all its connections together may carry, if that is bounded.
    pub(crate) fn allowance(&self) -> Option<Arc<dyn Allowance>> {
        self.command.clone().map(|it| it as Arc<dyn Allowance>)
    }
}

/// An account, and by which token somebody has it.
pub(crate) struct Shown {
    pub(crate) account: Account,
    /// The name of the token, which is no secret.
    pub(crate) token: Cow<'static, str>,
}

/// Knows the access tokens that were given out for longer than one start.
pub trait Access: Send + Sync {
    /// The name of `token`, which is no secret, if it is in force and `who` may be asked for with it. What cannot
    /// be known is not in force.
    fn name_of(&self, token: &str, who: &Caller) -> Option<String>;
}

/// The name of a token of this start. Those of access tokens are longer.
const OF_THIS_START: &str = "start";

/// All accounts, by the name of the agent.
#[derive(Clone, Default)]
pub struct Accounts {
    by_agent: BTreeMap<String, Account>,
    access: Option<Arc<dyn Access>>,
    strangers: Arc<AtomicU64>,
}

impl Accounts {
    /// Counts programs that come without an account in `count`.
    pub fn count_strangers_in(&mut self, count: Arc<AtomicU64>) {
        self.strangers = count;
    }

    pub(crate) fn strangers(&self) -> &Arc<AtomicU64> {
        &self.strangers
    }

    /// Adds one; the last of a name counts.
    pub fn add(&mut self, account: Account) {
        self.by_agent.insert(account.who.agent.as_str().to_owned(), account);
    }

    /// Believes access tokens, too.
    pub fn believe(&mut self, access: Arc<dyn Access>) {
        self.access = Some(access);
    }

    /// May an agent have more tokens than that of this start?
    pub(crate) fn believe_access_tokens(&self) -> bool {
        self.access.is_some()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_agent.values()
    }

    /// The account that a request names and has a token of.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Option<Shown> {
        let mut given = headers.get_all(PROXY_AUTHORIZATION).iter();
        // Two credentials are none.
        let (Some(value), None) = (given.next(), given.next()) else { return None };
        let value = value.to_str().ok().filter(|it| it.len() <= CREDENTIALS_BYTES_MAX)?;
        let (scheme, coded) = value.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let plain = BASE64.decode(coded.trim().as_bytes()).ok()?;
        let (name, token) = std::str::from_utf8(&plain).ok()?.split_once(':')?;
        // Names are no secret; of tokens not even how much is right is told by time.
        let account = self.by_agent.get(name)?;
        let right: bool =
            Digest::of(token.as_bytes()).as_bytes().ct_eq(account.hash.as_bytes()).into();
        let token = if right {
            Cow::Borrowed(OF_THIS_START)
        } else {
            Cow::Owned(self.access.as_ref()?.name_of(token, &account.who)?)
        };
        Some(Shown { account: account.clone(), token })
    }
}
