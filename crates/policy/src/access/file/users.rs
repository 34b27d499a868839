//! The users file: who there is, what each may use, and how much.

use std::fmt;

use model::ipc::ActionName;
use model::provider::Channel;
use model::{AgentId, UserId};
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde_saphyr::Spanned;

use super::channels::Peers;
use super::scalar::{AgentName, Flag, Number, Set, UserName, text};
use super::{FileError, yaml};
use crate::access::Domain;
use crate::access::tool::folded;

/// The greatest limit of a budget, in its unit.
pub const BUDGET_MAX: f64 = 1e12;

/// Everybody who may use agents over the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Users(Vec<User>);

/// One user.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// The name, which no other user has in any spelling.
    pub name: UserId,
    /// SHA-256 of the access token, in small letters; empty, which no token has, for a local user and for who has other
    /// tokens alone.
    pub token_hash: String,
    /// The agents that the user may use.
    pub agents: Agents,
    /// May the user administer the host? Never by way of `agents`.
    pub admin: bool,
    /// How much the user may spend.
    pub budget: Budget,
    /// Names of tools, last parts of names, or domains that are denied; in small letters.
    pub tools_deny: Vec<String>,
    /// Who the user is at messengers.
    pub channels: Peers,
}

/// The agents that a user may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agents {
    /// All that are open to users.
    All,
    /// These.
    Only(Vec<AgentId>),
}

/// How much a user may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Without end; said in so many words.
    Unlimited,
    /// Up to these limits.
    Limited(Limits),
}

/// The limits of a budget. Finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// What they count.
    pub unit: Unit,
    /// Per session.
    pub session: f64,
    /// Per day.
    pub daily: f64,
    /// Per month.
    pub monthly: f64,
}

/// What limits count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// US dollars.
    #[default]
    Usd,
    /// Tokens of models.
    Tokens,
}

/// The tools that a users file may name: the host's own, and those of its servers.
#[derive(Clone, Debug, Default)]
pub struct KnownTools(Vec<String>);

impl KnownTools {
    /// With these added, beside the host's own.
    #[must_use]
    pub fn with<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.0.extend(names.into_iter().map(folded));
        self
    }

    fn has(&self, name: &str) -> bool {
        let in_full = name.strip_prefix("mcp__").and_then(|it| it.split_once("__"));
        in_full.is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
            || Domain::parse(name).is_some()
            || Domain::of_tool(name).is_some()
            || ActionName::parse(name).is_some()
            || self.0.iter().any(|it| it == name || it.ends_with(&format!("__{name}")))
    }
}

impl Users {
    /// Reads the file.
    ///
    /// # Errors
    /// If anything in it is not understood, or two users could be taken for one: then there are
    /// no users.
    pub fn parse(text: &str, known: &KnownTools) -> Result<Self, FileError> {
        let file: File = yaml::read(text, 1)?;
        let mut users: Vec<User> = Vec::new();
        for entry in file.users {
            let line = yaml::line(&entry, 1);
            let user = entry.value.finish(known).map_err(|what| FileError::at(line, what))?;
            let same = |it: &&User| it.name.as_str().eq_ignore_ascii_case(user.name.as_str());
            if let Some(other) = users.iter().find(same) {
                let what = format!(
                    "the users `{}` and `{}` could be taken for one",
                    other.name, user.name
                );
                return Err(FileError::at(line, what));
            }
            let has_token = !user.token_hash.is_empty();
            if has_token && users.iter().any(|it| it.token_hash == user.token_hash) {
                let what = format!("the user `{}` has the same token as another", user.name);
                return Err(FileError::at(line, what));
            }
            if let Some(peer) = users.iter().find_map(|it| it.channels.shared_with(&user.channels))
            {
                let what = format!("`channels` of `{}`: `{peer}` is another user", user.name);
                return Err(FileError::at(line, what));
            }
            users.push(user);
        }
        Ok(Self(users))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &User> {
        self.0.iter()
    }

    /// The user with exactly this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&User> {
        self.0.iter().find(|it| it.name.as_str() == name)
    }

    /// The user who is this person at a messenger.
    #[must_use]
    pub fn at(&self, channel: Channel, peer: &str) -> Option<&User> {
        self.0.iter().find(|it| it.channels.has(channel, peer))
    }
}

impl User {
    /// The person at this machine, where there is no users file: nothing is denied to them by it.
    #[must_use]
    pub fn local(name: UserId) -> Self {
        Self {
            name,
            token_hash: String::new(),
            agents: Agents::All,
            admin: true,
            budget: Budget::Unlimited,
            tools_deny: Vec::new(),
            channels: Peers::default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    users: Vec<Spanned<Raw>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default, deserialize_with = "hash")]
    token_hash: String,
    name: UserName,
    agents: Agents,
    budget: Budget,
    #[serde(default)]
    tools_deny: Set<String>,
    #[serde(default)]
    admin: Flag,
    #[serde(default)]
    channels: Peers,
    /// Only to say what is wrong with it.
    #[serde(default, deserialize_with = "no_token")]
    #[expect(dead_code, reason = "its reader always refuses")]
    token: (),
}

impl Raw {
    fn finish(self, known: &KnownTools) -> Result<User, String> {
        let tools_deny: Vec<_> = self.tools_deny.0.iter().map(|it| folded(it)).collect();
        if let Some(unknown) = tools_deny.iter().find(|it| !known.has(it)) {
            let (user, unknown) = (&self.name.0, unknown.escape_debug());
            let what = format!("`tools_deny` of `{user}`: there is no tool or domain `{unknown}`");
            return Err(what);
        }
        Ok(User {
            name: self.name.0,
            token_hash: self.token_hash,
            agents: self.agents,
            admin: self.admin.0,
            budget: self.budget,
            tools_deny,
            channels: self.channels,
        })
    }
}

fn hash<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    text(input, |it| {
        if it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit()) {
            return Ok(it.to_ascii_lowercase());
        }
        Err("`token_hash` is a SHA-256 of 64 hexadecimal digits, in quotes".to_owned())
    })
}

fn no_token<'de, D: Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    Err(D::Error::custom("tokens are not kept in files; give its SHA-256 as `token_hash`"))
}

impl<'de> Deserialize<'de> for Agents {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Agents;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of agents, or \"*\" for all")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Agents, E> {
                match text {
                    "*" => Ok(Agents::All),
                    _ => Err(E::custom("there is a list of agents, or \"*\" for all")),
                }
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, items: A) -> Result<Agents, A::Error> {
                let list = serde::de::value::SeqAccessDeserializer::new(items);
                let names = Set::<AgentName>::deserialize(list)?;
                Ok(Agents::Only(names.0.into_iter().map(|it| it.0).collect()))
            }
        }
        input.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Budget {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Budget;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("limits, or `unlimited`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Budget, E> {
                match text {
                    "unlimited" => Ok(Budget::Unlimited),
                    _ => Err(E::custom("`budget` has limits, or is `unlimited`")),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Budget, A::Error> {
                RawLimits::deserialize(MapAccessDeserializer::new(map)).map(|it| {
                    let (session, daily, monthly) =
                        (it.session_limit.0, it.daily_limit.0, it.monthly_limit.0);
                    Budget::Limited(Limits { unit: it.unit, session, daily, monthly })
                })
            }
        }
        input.deserialize_any(Either)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawLimits {
    #[serde(default)]
    unit: Unit,
    session_limit: Amount,
    daily_limit: Amount,
    monthly_limit: Amount,
}

struct Amount(f64);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let amount = Number::deserialize(input)?.0;
        // Not a number is in no range.
        if (0.0..=BUDGET_MAX).contains(&amount) {
            return Ok(Self(amount));
        }
        Err(D::Error::custom(format!("a limit is a number from 0 to {BUDGET_MAX}")))
    }
}
