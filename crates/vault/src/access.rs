//! Access tokens: who comes over the network says with one who they are.
//!
//! A token is 256 bits of randomness with a prefix by which people and scanners know it, and a checksum by which
//! a mistyped one is told from a revoked one without looking it up. It is shown once; what is kept is its hash.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use model::{AgentId, UserId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::unreadable::{self, FileFault};

mod kept;

pub use kept::KeptTokens;

/// By this a token is known.
pub const TOKEN_PREFIX: &str = "lzt_";
/// Its randomness, in bytes.
const RANDOM_BYTES: usize = 32;
/// Its checksum, in bytes.
const CHECK_BYTES: usize = 4;
/// The most tokens that are kept.
pub const TOKENS_MAX: usize = 10_000;
/// The largest file of tokens, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Length of the name of a token, in characters: the beginning of its hash, which tells nothing of it.
const ID_CHARS: usize = 12;

/// A token, to be shown once. Like a secret it does not print.
pub struct AccessToken(Zeroizing<String>);

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issued {
    /// Its name, for lists and for revoking it.
    pub id: String,
    /// Whose it is.
    pub user: String,
    /// The agents that may be used with it; all that the user may use, if there is no list.
    pub agents: Option<Vec<String>>,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// When it ends, if it does.
    pub expires: Option<i64>,
    /// When it was revoked, if it was.
    pub revoked: Option<i64>,
    hash: String,
}

/// Who shows a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The token's name.
    pub id: String,
    /// The user.
    pub user: UserId,
    agents: Option<Vec<String>>,
}

/// All tokens of a state directory.
#[derive(Clone, Debug)]
pub struct Tokens {
    path: PathBuf,
}

/// Why a change is not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileFault),
    /// What is in it.
    #[error(
        "`{0}` is damaged and was left as it is; put a backup in its place, or remove it and give out new tokens"
    )]
    Damaged(String),
    /// There is none.
    #[error("there is no token `{0}`; `lazaret access list` shows which there are")]
    NoSuch(String),
    /// It is not in force any more.
    #[error("the token `{0}` is revoked or has ended; make a new one")]
    Over(String),
    /// Too many.
    #[error("there are {TOKENS_MAX} tokens; remove some first: `lazaret access revoke --remove`")]
    TooMany,
    /// No randomness.
    #[error("the system gives no randomness: {0}")]
    Random(String),
}

impl AccessToken {
    fn generate() -> Result<Self, AccessError> {
        let mut random = Zeroizing::new([0; RANDOM_BYTES]);
        getrandom::fill(&mut *random).map_err(|it| AccessError::Random(it.to_string()))?;
        let mut text = Zeroizing::new(String::with_capacity(128));
        text.push_str(TOKEN_PREFIX);
        HEXLOWER.encode_append(&*random, &mut text);
        let check = checksum(&text);
        text.push_str(&check);
        Ok(Self(text))
    }

    /// The token, to be shown to the person who asked for it and to nobody else.
    #[must_use]
    pub fn shown_once(&self) -> &str {
        &self.0
    }
}

impl Bearer {
    /// The agents that may be used with the token, if it has a list.
    #[must_use]
    pub fn agents(&self) -> Option<&[String]> {
        self.agents.as_deref()
    }

    /// May this agent be used with the token?
    #[must_use]
    pub fn may_use(&self, agent: &AgentId) -> bool {
        self.agents.as_ref().is_none_or(|all| all.iter().any(|it| it == agent.as_str()))
    }
}

impl Tokens {
    /// Those of a state directory.
    #[must_use]
    pub fn in_home(home: &Path) -> Self {
        Self { path: home.join("access.json") }
    }

    /// All that were issued, the oldest first.
    ///
    /// # Errors
    /// If the file is not private, or damaged.
    pub fn list(&self) -> Result<Vec<Issued>, AccessError> {
        use std::io::Read as _;
        let mut file = match unreadable::open_private(&self.path) {
            Err(FileFault::Missing { .. }) => return Ok(Vec::new()),
            file => file?,
        };
        let mut bytes = Vec::new();
        let read = (&mut file).take(FILE_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|it| FileFault::io(&self.path, it))?;
        let damaged = |_| AccessError::Damaged(self.path.display().to_string());
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    /// Issues a token. `first` records it: if that fails, there is none.
    ///
    /// # Errors
    /// If it cannot be kept. Then there is none.
    pub fn create<E: From<AccessError>>(
        &self,
        user: &UserId,
        agents: Option<&[AgentId]>,
        (now, expires): (i64, Option<i64>),
        first: impl FnOnce(&Issued) -> Result<(), E>,
    ) -> Result<(AccessToken, Issued), E> {
        let agents = agents.map(|all| all.iter().map(|it| it.as_str().to_owned()).collect());
        self.change(|all| {
            let made = issue(all, user.as_str(), agents, now, expires)?;
            first(&made.1)?;
            Ok(made)
        })
    }

    /// Issues a token in the place of another, which is revoked in the same breath. `first` records it.
    ///
    /// # Errors
    /// If there is no such token in force, or it cannot be kept.
    pub fn rotate<E: From<AccessError>>(
        &self,
        id: &str,
        now: i64,
        first: impl FnOnce(&Issued) -> Result<(), E>,
    ) -> Result<(AccessToken, Issued), E> {
        self.change(|all| {
            let old = all.iter_mut().find(|it| it.id == id);
            let old = old.ok_or_else(|| AccessError::NoSuch(shown(id)))?;
            if !old.is_in_force(now) {
                return Err(AccessError::Over(shown(id)).into());
            }
            old.revoked = Some(now);
            let (user, agents) = (old.user.clone(), old.agents.clone());
            // The new one lives as long as the old one was meant to.
            let expires = old.expires.map(|it| now.saturating_add(it.saturating_sub(old.created)));
            let made = issue(all, &user, agents, now, expires)?;
            first(&made.1)?;
            Ok(made)
        })
    }

    /// Revokes a token, or forgets it altogether. `first` records it.
    ///
    /// # Errors
    /// If there is none, or it cannot be kept.
    pub fn revoke<E: From<AccessError>>(
        &self,
        id: &str,
        now: i64,
        remove: bool,
        first: impl FnOnce(&Issued) -> Result<(), E>,
    ) -> Result<(), E> {
        self.change(|all| {
            let place = all.iter().position(|it| it.id == id);
            let place = place.ok_or_else(|| AccessError::NoSuch(shown(id)))?;
            all.get(place).map(first).transpose()?;
            if remove {
                all.remove(place);
            } else if let Some(issued) = all.get_mut(place) {
                issued.revoked.get_or_insert(now);
            }
            Ok(())
        })
    }

    /// Who shows `token`, if it is one that is in force. All hashes are compared, each in constant time.
    ///
    /// # Errors
    /// If the tokens cannot be read: then nobody is known.
    pub fn verify(&self, token: &str, now: i64) -> Result<Option<Bearer>, AccessError> {
        if !is_well_formed(token) {
            return Ok(None);
        }
        Ok(find(&self.list()?, token, now))
    }

    fn change<T, E: From<AccessError>>(
        &self,
        change: impl FnOnce(&mut Vec<Issued>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |it| AccessError::from(FileFault::io(&self.path, it));
        let lock = self.path.with_extension("lock");
        let mut options = std::fs::OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let lock = files::private::open_with(&lock, options).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut all = self.list()?;
        let done = change(&mut all)?;
        let bytes = serde_json::to_vec(&all).map_err(|it| failed(it.into()))?;
        if bytes.len() as u64 >= FILE_BYTES_MAX {
            return Err(AccessError::TooMany.into());
        }
        files::private::replace(&self.path, &bytes).map_err(failed)?;
        Ok(done)
    }
}

impl Issued {
    /// Does it open anything at `now`?
    #[must_use]
    pub fn is_in_force(&self, now: i64) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|it| now < it)
    }
}

/// The token of a header field `Authorization`, if it has one: `Bearer`, in just this spelling, and a token.
#[must_use]
pub fn bearer(header: Option<&str>) -> Option<&str> {
    header?.strip_prefix("Bearer ").filter(|it| !it.is_empty())
}

/// Whose `token` is among `all`. All hashes are compared, each in constant time.
fn find(all: &[Issued], token: &str, now: i64) -> Option<Bearer> {
    let hash = hash(token);
    let mut found = None;
    for issued in all {
        if bool::from(issued.hash.as_bytes().ct_eq(hash.as_bytes())) && issued.is_in_force(now) {
            let user = UserId::parse(&issued.user).ok();
            let (id, agents) = (issued.id.clone(), issued.agents.clone());
            found = user.map(|user| Bearer { id, user, agents });
        }
    }
    found
}

/// Could this be a token at all? It says nothing of whether it is one.
#[must_use]
pub fn is_well_formed(token: &str) -> bool {
    let Some(rest) = token.strip_prefix(TOKEN_PREFIX) else { return false };
    let length = (RANDOM_BYTES + CHECK_BYTES) * 2;
    let digits =
        rest.len() == length && rest.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    let at = token.len().saturating_sub(CHECK_BYTES * 2);
    digits && token.split_at_checked(at).is_some_and(|(body, check)| checksum(body) == check)
}

fn issue(
    all: &mut Vec<Issued>,
    user: &str,
    agents: Option<Vec<String>>,
    now: i64,
    expires: Option<i64>,
) -> Result<(AccessToken, Issued), AccessError> {
    if all.len() >= TOKENS_MAX {
        return Err(AccessError::TooMany);
    }
    let token = AccessToken::generate()?;
    let hash = hash(&token.0);
    let id = hash.chars().take(ID_CHARS).collect();
    let user = user.to_owned();
    let issued = Issued { id, user, agents, created: now, expires, revoked: None, hash };
    all.push(issued.clone());
    Ok((token, issued))
}

/// As `users.yaml` writes it: SHA-256 in small letters.
fn hash(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token.as_bytes()))
}

fn checksum(text: &str) -> String {
    hash(text).chars().take(CHECK_BYTES * 2).collect()
}

/// A name that somebody typed. It might be the token.
fn shown(id: &str) -> String {
    if id.len() <= ID_CHARS { id.escape_debug().to_string() } else { "…".to_owned() }
}

#[cfg(test)]
mod tests;
