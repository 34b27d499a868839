//! Who may use the proxy: an account is an agent's name and a token.
//!
//! INVARIANT (SecretsDoNotPrint): of a token only its hash is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use aegx::Digest;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use egress::Rules;
use hyper::HeaderMap;
use hyper::header::PROXY_AUTHORIZATION;
use model::Caller;
use subtle::ConstantTimeEq;

/// Length of a token before it is written down, in bytes.
pub const TOKEN_BYTES: usize = 32;
/// The longest credentials that are looked at, in bytes.
const CREDENTIALS_BYTES_MAX: usize = 1024;

/// A token, to be shown once.
pub struct Token(String);

impl Token {
    /// From randomness.
    #[must_use]
    pub fn of(random: &[u8; TOKEN_BYTES]) -> Self {
        Self(BASE64URL_NOPAD.encode(random))
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
    hash: Digest,
}

impl Account {
    /// Whoever has `token` asks for `who`.
    #[must_use]
    pub fn new(who: Caller, rules: Rules, token: &Token) -> Self {
        Self { who, rules: Arc::new(rules), hash: Digest::of(token.0.as_bytes()) }
    }
}

/// All accounts, by the name of the agent.
#[derive(Clone, Default)]
pub struct Accounts(BTreeMap<String, Account>);

impl Accounts {
    /// Adds one; the last of a name counts.
    pub fn add(&mut self, account: Account) {
        self.0.insert(account.who.agent.as_str().to_owned(), account);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.0.values()
    }

    /// The account that a request names and has the token of.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Option<&Account> {
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
        let account = self.0.get(name)?;
        let right: bool =
            Digest::of(token.as_bytes()).as_bytes().ct_eq(account.hash.as_bytes()).into();
        right.then_some(account)
    }
}
