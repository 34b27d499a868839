//! Where something is said: `provider:scope:[workspace]:[channel]:[thread]:[peer]`, empty parts left out.

use std::fmt;

use model::ipc::{DeliveryAddress, DeliveryScope};
use model::provider::{self, Provider, ProviderKind};

/// The longest part of an address, in bytes.
pub const PART_BYTES_MAX: usize = 64;

/// Where something is said. Its parts are plain, so that no two addresses read alike and none is a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    provider: String,
    scope: Scope,
    ids: Ids,
}

/// Who hears it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One person.
    Dm,
    /// All of a channel.
    Channel,
    /// All of a thread of one.
    Thread,
    /// A few people.
    Group,
}

/// The parts of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ids {
    /// The workspace.
    pub workspace: Option<String>,
    /// The channel, or the group.
    pub channel: Option<String>,
    /// The thread.
    pub thread: Option<String>,
    /// The person.
    pub peer: Option<String>,
}

/// Why something is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// A part is no part.
    #[error(
        "a part of an address has 1 to {PART_BYTES_MAX} letters, digits and `-_.@` from ASCII and does not begin or end with a dot"
    )]
    Part,
    /// Nobody and no place is named.
    #[error("the address names nobody")]
    Nobody,
    /// Its form is none.
    #[error(
        "an address is PROVIDER:dm:PERSON, PROVIDER:channel:PLACE, PROVIDER:group:PLACE or PROVIDER:thread:PLACE:THREAD"
    )]
    Form,
}

impl Scope {
    /// The word in addresses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dm => "dm",
            Self::Channel => "channel",
            Self::Thread => "thread",
            Self::Group => "group",
        }
    }
}

impl Ids {
    fn all(&self) -> impl Iterator<Item = &String> {
        [&self.workspace, &self.channel, &self.thread, &self.peer].into_iter().flatten()
    }
}

impl Address {
    /// An address, if every part that is there is plain and something is named.
    ///
    /// # Errors
    /// If not.
    pub fn new(provider: &str, scope: Scope, ids: Ids) -> Result<Self, AddressError> {
        if !is_part(provider) || !ids.all().all(|it| is_part(it)) {
            return Err(AddressError::Part);
        }
        if ids.all().next().is_none() {
            return Err(AddressError::Nobody);
        }
        Ok(Self { provider: provider.to_owned(), scope, ids })
    }

    /// One person.
    ///
    /// # Errors
    /// If the name is none.
    pub fn dm(provider: &str, peer: &str) -> Result<Self, AddressError> {
        let ids = Ids { peer: Some(peer.to_owned()), ..Ids::default() };
        Self::new(provider, Scope::Dm, ids)
    }

    /// A shared place.
    ///
    /// # Errors
    /// If the name is none.
    pub fn shared(provider: &str, scope: Scope, place: &str) -> Result<Self, AddressError> {
        let ids = Ids { channel: Some(place.to_owned()), ..Ids::default() };
        Self::new(provider, scope, ids)
    }

    /// Reads the forms in which addresses of people and shared places print.
    ///
    /// # Errors
    /// If it is none of them.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [provider, "dm", peer] => Self::dm(provider, peer),
            [provider, "channel", place] => Self::shared(provider, Scope::Channel, place),
            [provider, "group", place] => Self::shared(provider, Scope::Group, place),
            [provider, "thread", place, thread] => {
                let ids = Ids {
                    channel: Some((*place).to_owned()),
                    thread: Some((*thread).to_owned()),
                    ..Ids::default()
                };
                Self::new(provider, Scope::Thread, ids)
            }
            _ => Err(AddressError::Form),
        }
    }

    /// The address that a job was given.
    ///
    /// # Errors
    /// If a part of it is none.
    pub fn of_job(given: &DeliveryAddress) -> Result<Self, AddressError> {
        let scope = match given.scope {
            DeliveryScope::Dm => Scope::Dm,
            DeliveryScope::Channel => Scope::Channel,
            DeliveryScope::Thread => Scope::Thread,
            DeliveryScope::Group => Scope::Group,
        };
        let it = &given.identifiers;
        let ids = Ids {
            workspace: it.workspace.as_ref().map(|it| it.as_str().to_owned()),
            channel: it.channel.as_ref().map(|it| it.as_str().to_owned()),
            thread: it.thread.as_ref().map(|it| it.as_str().to_owned()),
            peer: it.peer.as_ref().map(|it| it.as_str().to_owned()),
        };
        Self::new(given.provider.as_str(), scope, ids)
    }

    /// The messenger, if the table of providers has it.
    #[must_use]
    pub fn channel(&self) -> Option<provider::Channel> {
        let found = provider::resolve(ProviderKind::Channel.as_str(), &self.provider).ok()?;
        if let Provider::Channel(it) = found { Some(it) } else { None }
    }

    /// Who hears it.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Its parts.
    #[must_use]
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The person, if one person alone hears it.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        let alone = self.scope == Scope::Dm && self.ids.channel.is_none();
        self.ids.peer.as_deref().filter(|_| alone)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.scope.as_str())?;
        self.ids.all().try_for_each(|it| write!(f, ":{it}"))
    }
}

fn is_part(part: &str) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.@".contains(&it);
    (1..=PART_BYTES_MAX).contains(&part.len())
        && part.bytes().all(plain)
        && !part.starts_with('.')
        && !part.ends_with('.')
        && !part.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_reads_back_and_nothing_else_does() {
        for good in ["telegram:dm:5", "telegram:group:-100123", "slack:thread:C01:1234.5678"] {
            assert_eq!(Address::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "",
            "telegram",
            "telegram:dm",
            "telegram:dm:",
            "telegram:dm:5:6",
            "telegram:DM:5",
            "telegram:dm:..",
            "telegram:dm:a/b",
            "telegram:dm:５",
            "telegram:dm:5\n",
            "a b:dm:5",
            "telegram:dm:\u{202e}5",
            "telegram:thread:C1",
        ] {
            assert!(Address::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(Address::new("x", Scope::Dm, Ids::default()), Err(AddressError::Nobody));
        assert_eq!(Address::parse("telegram:dm:5").unwrap().person(), Some("5"));
        assert_eq!(Address::parse("telegram:group:5").unwrap().person(), None);
    }
}
