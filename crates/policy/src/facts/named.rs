//! What a call names: programs and commands, paths, hosts, who gets something.
//!
//! Rules ask of all that a call names (`context.hosts`), or of one thing (`context.host`). A call that
//! names several is judged once for each of them: a `forbid` that matches one matches the call, a `permit`
//! must match all.

use std::collections::BTreeSet;
use std::fmt;

/// How many of one kind are kept.
pub const NAMED_MAX: usize = 64;
/// The longest name that is kept, in bytes.
pub const NAMED_BYTES_MAX: usize = 1024;
/// How often one call is judged at most: once for each path with each host and each recipient, as far
/// as rules ask for them. What names more is denied.
pub const VIEWS_MAX: usize = 1024;

/// What a call names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The programs that its commands run, without their folders: `git`.
    pub programs: BTreeSet<String>,
    /// Programs with what they are told to do: `git push`.
    pub commands: BTreeSet<String>,
    /// What its commands do: `network`, `delete`.
    pub classes: BTreeSet<String>,
    /// Paths, and what is done with each.
    pub paths: BTreeSet<NamedPath>,
    /// Machines.
    pub hosts: BTreeSet<NamedHost>,
    /// Who gets something: mail addresses, channels, accounts.
    pub recipients: BTreeSet<String>,
    /// Is there something that could not be read: a command that cannot be followed, an address that is
    /// none?
    pub unread: bool,
    /// Are there more names than are kept? Then rules that ask for names cannot be asked, and deny.
    pub cut: bool,
}

/// A path of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPath {
    /// What is done with it.
    pub op: Op,
    /// As the call writes it, without `.` and `..` where that is certain.
    pub path: String,
}

/// A machine of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedHost {
    /// Its name or address, in small letters.
    pub host: String,
    /// The port; 0 where none is known.
    pub port: u16,
    /// The scheme; empty where none is known.
    pub scheme: String,
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// It is read, or only named.
    Read,
    /// It is written.
    Write,
    /// It is deleted.
    Delete,
    /// It is run.
    Run,
}

impl Op {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Read, Self::Write, Self::Delete, Self::Run];

    /// The word for it in rules.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Run => "run",
        }
    }

    /// What exactly this word stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == word)
    }
}

static NOTHING: Named = Named {
    programs: BTreeSet::new(),
    commands: BTreeSet::new(),
    classes: BTreeSet::new(),
    paths: BTreeSet::new(),
    hosts: BTreeSet::new(),
    recipients: BTreeSet::new(),
    unread: false,
    cut: false,
};

impl Named {
    /// Of a call that names nothing.
    #[must_use]
    pub fn nothing() -> &'static Self {
        &NOTHING
    }

    /// Puts other texts in place of some: what is secret is not kept.
    pub fn rewrite(&mut self, with: impl Fn(&str) -> Option<String>) {
        let text = |it: String| with(&it).unwrap_or(it);
        for texts in
            [&mut self.programs, &mut self.commands, &mut self.classes, &mut self.recipients]
        {
            *texts = std::mem::take(texts).into_iter().map(text).collect();
        }
        let path = |it: NamedPath| NamedPath { path: text(it.path), ..it };
        self.paths = std::mem::take(&mut self.paths).into_iter().map(path).collect();
        let host = |it: NamedHost| NamedHost { host: text(it.host), ..it };
        self.hosts = std::mem::take(&mut self.hosts).into_iter().map(host).collect();
    }

    /// The same within the limits: what is left out is said.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let mut cut = false;
        for texts in
            [&mut self.programs, &mut self.commands, &mut self.classes, &mut self.recipients]
        {
            cut |= bound(texts, |it| it.len());
        }
        cut |= bound(&mut self.paths, |it| it.path.len());
        cut |= bound(&mut self.hosts, |it| it.host.len().max(it.scheme.len()));
        self.cut |= cut;
        self
    }
}

/// Cuts a set to the limits; answers whether something is gone.
fn bound<T: Ord>(set: &mut BTreeSet<T>, bytes: impl Fn(&T) -> usize) -> bool {
    let before = set.len();
    set.retain(|it| bytes(it) <= NAMED_BYTES_MAX);
    while set.len() > NAMED_MAX {
        set.pop_last();
    }
    set.len() < before
}

impl NamedPath {
    /// Reads `write:src/main.rs`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (op, path) = text.split_once(':')?;
        let op = Op::parse(op).filter(|_| !path.is_empty())?;
        Some(Self { op, path: path.to_owned() })
    }
}

impl fmt::Display for NamedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.op.as_str(), self.path)
    }
}

impl NamedHost {
    /// Reads `api.example.com`, `https://api.example.com:443` and `[::1]:80`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (host, port) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']')?,
            None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
        };
        let port = match port.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None if port.is_empty() => 0,
            None => return None,
        };
        let is_host = !host.is_empty() && !host.contains(['/', '@', ' ']);
        is_host.then(|| Self { host: host.to_lowercase(), port, scheme: scheme.to_lowercase() })
    }
}

impl fmt::Display for NamedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}://", self.scheme)?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        if self.port > 0 { write!(f, ":{}", self.port) } else { Ok(()) }
    }
}

/// The one path, host and recipient that a rule is asked about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View<'a> {
    pub(crate) path: Option<&'a NamedPath>,
    pub(crate) host: Option<&'a NamedHost>,
    pub(crate) recipient: Option<&'a str>,
}

/// Which of the three are told apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Apart {
    pub(crate) paths: bool,
    pub(crate) hosts: bool,
    pub(crate) recipients: bool,
}

impl<'a> View<'a> {
    /// Every view of a call; none if there are too many.
    pub(crate) fn all(named: &'a Named, apart: Apart) -> Option<Vec<Self>> {
        let paths = one_by_one(named.paths.iter(), apart.paths);
        let hosts = one_by_one(named.hosts.iter(), apart.hosts);
        let recipients = one_by_one(named.recipients.iter().map(String::as_str), apart.recipients);
        if paths.len().saturating_mul(hosts.len()).saturating_mul(recipients.len()) > VIEWS_MAX {
            return None;
        }
        let mut views = Vec::new();
        for path in &paths {
            for host in &hosts {
                let view = |it: &Option<&'a str>| Self { path: *path, host: *host, recipient: *it };
                views.extend(recipients.iter().map(view));
            }
        }
        Some(views)
    }
}

/// Each, or nothing once.
fn one_by_one<T>(items: impl Iterator<Item = T>, apart: bool) -> Vec<Option<T>> {
    let each: Vec<_> = items.filter(|_| apart).map(Some).collect();
    if each.is_empty() { vec![None] } else { each }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_hosts_read_back() {
        for text in ["read:src/main.rs", "write:~/a:b", "delete:/tmp/x", "run:./s"] {
            assert_eq!(NamedPath::parse(text).unwrap().to_string(), text);
        }
        for text in ["a.example", "https://a.example:443", "a.example:22", "[::1]:80", "[::1]"] {
            assert_eq!(NamedHost::parse(text).unwrap().to_string(), text);
        }
        for bad in ["src/main.rs", "look:x", "read:"] {
            assert_eq!(NamedPath::parse(bad), None, "{bad}");
        }
        for bad in ["", "a:b", "a:70000", "a/b", "u@a.example", "[::1", "https://", "[::1]x"] {
            assert_eq!(NamedHost::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let names = |count: usize| (0..count).map(|it| format!("p{it:03}")).collect();
        let full = Named { programs: names(NAMED_MAX), ..Named::default() }.bounded();
        assert!(!full.cut && full.programs.len() == NAMED_MAX);
        let more = Named { programs: names(NAMED_MAX + 1), ..Named::default() }.bounded();
        assert!(more.cut && more.programs.len() == NAMED_MAX);
        let long = NamedPath { op: Op::Read, path: "x".repeat(NAMED_BYTES_MAX + 1) };
        let long = Named { paths: [long].into(), ..Named::default() }.bounded();
        assert!(long.cut && long.paths.is_empty());
    }

    #[test]
    fn only_what_rules_ask_for_is_told_apart() {
        let path = |it: usize| NamedPath { op: Op::Read, path: it.to_string() };
        let host = |it: usize| NamedHost { host: it.to_string(), port: 0, scheme: String::new() };
        let named = Named {
            paths: (0..40).map(path).collect(),
            hosts: (0..40).map(host).collect(),
            ..Named::default()
        };
        let count = |paths, hosts| {
            let apart = Apart { paths, hosts, recipients: true };
            View::all(&named, apart).map(|it| it.len())
        };
        assert_eq!(count(false, false), Some(1));
        assert_eq!(count(true, false), Some(40));
        assert_eq!(count(true, true), None);
    }
}
