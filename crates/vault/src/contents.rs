//! What is in a vault: secrets by name, with their older versions and the hosts that they are for.
//!
//! As text it is one JSON object. Values stand in it in base64, so that reading one needs no buffer in which
//! escapes are undone and which nobody would wipe.

use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::BASE64;
use scan::net::{DomainError, Domains};
use serde::Deserialize;
use zeroize::{Zeroize, Zeroizing};

use crate::name::Name;
use crate::secret::{Secret, SecretError};

/// The most secrets in a vault.
pub const ENTRIES_MAX: usize = 10_000;
/// How many versions of a secret are kept, the newest included.
pub const VERSIONS_MAX: usize = 5;
/// The most hosts that a secret is for.
pub const HOSTS_MAX: usize = 50;

/// The first thing that stands in a vault, so that no other file is taken for one.
const FORMAT: &str = "lazaret-vault/1";

/// All secrets.
#[derive(Default)]
pub struct Contents {
    revision: u64,
    entries: BTreeMap<Name, Entry>,
}

/// One secret with its past.
pub struct Entry {
    hosts: Vec<String>,
    bound: Domains,
    /// The oldest first; never empty.
    versions: Vec<Version>,
}

/// One version of a secret.
pub struct Version {
    /// Counted from one.
    pub number: u64,
    /// When it was set, in seconds since 1970.
    pub created: i64,
    pub(crate) secret: Arc<Secret>,
}

/// Why a change is not made, or a text is no vault's.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContentsError {
    /// Not what a vault holds.
    #[error("it opened, and what is in it is no vault of this program: {0}")]
    Foreign(String),
    /// A value that is not kept.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// A host that is none.
    #[error("a secret is for hosts: {0}")]
    Host(#[from] DomainError),
    /// Too many.
    #[error("a vault has at most {ENTRIES_MAX} secrets")]
    TooManyEntries,
    /// Too many.
    #[error("a secret is for at most {HOSTS_MAX} hosts")]
    TooManyHosts,
    /// Not there.
    #[error("there is no secret `{0}`; `lazaret vault list` shows which there are")]
    NoSuchName(Name),
}

impl Contents {
    /// How often it was changed.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Are these hosts that a secret can be for?
    ///
    /// # Errors
    /// If one is none, or there are too many.
    pub fn check_hosts(hosts: &[String]) -> Result<(), ContentsError> {
        bind(hosts.to_vec()).map(drop)
    }

    /// All secrets by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Entry)> {
        self.entries.iter()
    }

    /// The secret of a name.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Sets a secret, as a new version if it is there. Without `hosts` it stays for those that it was for.
    ///
    /// # Errors
    /// If a host is none, or there are too many.
    pub fn set(
        &mut self,
        name: &Name,
        secret: Secret,
        hosts: Option<Vec<String>>,
        now: i64,
    ) -> Result<u64, ContentsError> {
        let hosts = hosts.map(bind).transpose()?;
        if !self.entries.contains_key(name) && self.entries.len() >= ENTRIES_MAX {
            return Err(ContentsError::TooManyEntries);
        }
        let entry = self.entries.entry(name.clone()).or_insert_with(|| Entry {
            hosts: Vec::new(),
            bound: Domains::default(),
            versions: Vec::new(),
        });
        if let Some((hosts, bound)) = hosts {
            entry.hosts = hosts;
            entry.bound = bound;
        }
        let number = entry.newest().saturating_add(1);
        entry.versions.push(Version { number, created: now, secret: Arc::new(secret) });
        let surplus = entry.versions.len().saturating_sub(VERSIONS_MAX);
        entry.versions.drain(..surplus);
        Ok(number)
    }

    /// Says for which hosts a secret is.
    ///
    /// # Errors
    /// If there is no such secret, or a host is none.
    pub fn bind(&mut self, name: &Name, hosts: Vec<String>) -> Result<(), ContentsError> {
        let (hosts, bound) = bind(hosts)?;
        let entry = self.entries.get_mut(name);
        let entry = entry.ok_or_else(|| ContentsError::NoSuchName(name.clone()))?;
        entry.hosts = hosts;
        entry.bound = bound;
        Ok(())
    }

    /// Removes a secret with all its versions.
    ///
    /// # Errors
    /// If there is none.
    pub fn remove(&mut self, name: &Name) -> Result<(), ContentsError> {
        let removed = self.entries.remove(name);
        removed.map(drop).ok_or_else(|| ContentsError::NoSuchName(name.clone()))
    }

    pub(crate) fn count_up(&mut self) {
        self.revision = self.revision.saturating_add(1);
    }

    /// Shows the newest value of each secret to a person who asked for just that.
    pub fn dangerously_reveal_to_a_person(&self, mut show: impl FnMut(&Name, &str)) {
        for (name, entry) in &self.entries {
            if let Some(version) = entry.versions.last() {
                show(name, version.secret.plain());
            }
        }
    }

    /// As text, for the sealed file.
    pub(crate) fn to_text(&self) -> Zeroizing<String> {
        // All of it at once, so that the buffer never moves and leaves no copy behind.
        let values = self.entries.values().flat_map(|it| &it.versions);
        let values: usize = values.map(|it| it.secret.plain().len() * 2 + 100).sum();
        let hosts = self.entries.values().flat_map(|it| &it.hosts);
        let names: usize = self.entries.keys().map(|it| it.as_str().len() + 100).sum();
        let hosts: usize = hosts.map(|it| it.len() + 4).sum();
        let mut text = Zeroizing::new(String::with_capacity(values + names + hosts + 200));
        let head =
            format!("{{\"format\":\"{FORMAT}\",\"revision\":{},\"entries\":{{", self.revision);
        text.push_str(&head);
        for (at, (name, entry)) in self.entries.iter().enumerate() {
            text.push_str(if at == 0 { "\n\"" } else { ",\n\"" });
            text.push_str(name.as_str());
            text.push_str("\":{\"hosts\":[");
            for (at, host) in entry.hosts.iter().enumerate() {
                text.push_str(if at == 0 { "\"" } else { ",\"" });
                text.push_str(host);
                text.push('"');
            }
            text.push_str("],\"versions\":[");
            for (at, version) in entry.versions.iter().enumerate() {
                text.push_str(if at == 0 { "[" } else { ",[" });
                text.push_str(&format!("{},{},\"", version.number, version.created));
                BASE64.encode_append(version.secret.plain().as_bytes(), &mut text);
                text.push_str("\"]");
            }
            text.push_str("]}");
        }
        text.push_str("\n}}\n");
        text
    }

    pub(crate) fn from_text(text: &[u8]) -> Result<Self, ContentsError> {
        let raw: Raw<'_> = serde_json::from_slice(text)
            .map_err(|error| ContentsError::Foreign(format!("line {}", error.line())))?;
        if raw.format != FORMAT {
            let found: String = raw.format.chars().take(40).collect();
            let what = format!("its format is `{}`, not `{FORMAT}`", found.escape_debug());
            return Err(ContentsError::Foreign(what));
        }
        let mut entries = BTreeMap::new();
        for (name, raw) in raw.entries {
            let foreign = |what: &str| ContentsError::Foreign(what.to_owned());
            let name = Name::parse(name).map_err(|_| foreign("a name is none"))?;
            let (hosts, bound) = bind(raw.hosts)?;
            let versions: Result<Vec<_>, _> = raw.versions.into_iter().map(version).collect();
            let versions = versions?;
            if versions.is_empty() || versions.len() > VERSIONS_MAX || entries.len() >= ENTRIES_MAX
            {
                return Err(foreign("there are too many secrets or versions, or none"));
            }
            entries.insert(name, Entry { hosts, bound, versions });
        }
        Ok(Self { revision: raw.revision, entries })
    }
}

impl Entry {
    /// The hosts that it is for, as they were written; none if it is sent nowhere.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The same, to look hosts up in.
    #[must_use]
    pub fn bound(&self) -> &Domains {
        &self.bound
    }

    /// Its versions, the oldest first.
    #[must_use]
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// The number of the newest version.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.versions.last().map_or(0, |it| it.number)
    }

    /// Can its newest value be guessed? Then that is not looked for in texts.
    #[must_use]
    pub fn is_guessable(&self) -> bool {
        self.current().is_some_and(|it| it.is_guessable())
    }

    pub(crate) fn current(&self) -> Option<&Arc<Secret>> {
        self.versions.last().map(|it| &it.secret)
    }

    /// As another keeper of secrets has it: one version, for these hosts.
    pub(crate) fn single(secret: Secret, hosts: Vec<String>) -> Result<Self, ContentsError> {
        let (hosts, bound) = bind(hosts)?;
        let versions = vec![Version { number: 1, created: 0, secret: Arc::new(secret) }];
        Ok(Self { hosts, bound, versions })
    }
}

impl FromIterator<(Name, Entry)> for Contents {
    fn from_iter<I: IntoIterator<Item = (Name, Entry)>>(all: I) -> Self {
        Self { revision: 0, entries: all.into_iter().collect() }
    }
}

fn bind(hosts: Vec<String>) -> Result<(Vec<String>, Domains), ContentsError> {
    if hosts.len() > HOSTS_MAX {
        return Err(ContentsError::TooManyHosts);
    }
    // A pattern has only what stands in host names, so it can be written down as it is.
    let hosts: Vec<String> = hosts.iter().map(|it| it.to_ascii_lowercase()).collect();
    let bound = Domains::parse(&hosts)?;
    Ok((hosts, bound))
}

fn version((number, created, value): (u64, i64, &str)) -> Result<Version, ContentsError> {
    let foreign = || ContentsError::Foreign("a value is not in base64".to_owned());
    let mut bytes = Zeroizing::new(vec![0; BASE64.decode_len(value.len()).map_err(|_| foreign())?]);
    let length = BASE64.decode_mut(value.as_bytes(), &mut bytes).map_err(|_| foreign())?;
    bytes.truncate(length);
    let text = String::from_utf8(std::mem::take(&mut *bytes)).map_err(|error| {
        error.into_bytes().zeroize();
        foreign()
    })?;
    let secret = Secret::new(Zeroizing::new(text))?;
    Ok(Version { number, created, secret: Arc::new(secret) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<'a> {
    format: &'a str,
    revision: u64,
    #[serde(borrow)]
    entries: BTreeMap<&'a str, RawEntry<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry<'a> {
    hosts: Vec<String>,
    #[serde(borrow)]
    versions: Vec<(u64, i64, &'a str)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(Zeroizing::new(text.to_owned())).unwrap()
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn what_is_written_reads_back_with_the_newest_versions() {
        let mut contents = Contents::default();
        for round in 0..9 {
            let value = format!("value \"{round}\" \\ \u{1F511}\n");
            let hosts = (round == 0).then(|| vec!["API.example.com".to_owned()]);
            contents.set(&name("KEY"), secret(&value), hosts, round).unwrap();
        }
        contents.set(&name("OTHER"), secret("password"), None, 1).unwrap();
        contents.count_up();
        let again = Contents::from_text(contents.to_text().as_bytes()).unwrap();
        let entry = again.get(&name("KEY")).unwrap();
        assert_eq!(
            entry.versions().iter().map(|it| it.number).collect::<Vec<_>>(),
            [5, 6, 7, 8, 9]
        );
        assert_eq!(entry.current().unwrap().plain(), "value \"8\" \\ \u{1F511}\n");
        assert_eq!((entry.hosts(), again.revision()), (&["api.example.com".to_owned()][..], 1));
        assert_eq!(again.iter().count(), 2);
        assert_eq!(again.to_text(), contents.to_text());
    }

    #[test]
    fn what_is_no_vault_is_refused_without_a_word_of_it() {
        for text in [
            "",
            "{}",
            "[]",
            "hunter2 hunter2",
            r#"{"format":"lazaret-vault/2","revision":1,"entries":{}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{"A B":{"hosts":[],"versions":[]}}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{"A":{"hosts":[],"versions":[]}}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{"A":{"hosts":["*"],"versions":[[1,1,"aHVudGVyMjI="]]}}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{"A":{"hosts":[],"versions":[[1,1,"hunter2!"]]}}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{"A":{"hosts":[],"versions":[[1,1,"//////////8="]]}}}"#,
            r#"{"format":"lazaret-vault/1","revision":1,"entries":{},"more":1}"#,
        ] {
            let error = Contents::from_text(text.as_bytes()).err().unwrap().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
