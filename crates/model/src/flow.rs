//! The flow type of a tool: what it reads, what it sends, which parameters choose where to.

use std::collections::BTreeMap;

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// It only looks.
    Read,
    /// It changes something of the user's own.
    Write,
    /// It tells or gives something to somebody else.
    Send,
}

/// How far a tool's answer can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Written by the user's own system.
    Trusted,
    /// It only repeats what the call said.
    Own,
    /// Others may have written it.
    Untrusted,
}

/// What form an answer has, as far as its form may be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// Rows of a system, with fields that are its own word.
    #[default]
    Rows,
    /// Names of what there is, whoever made it. An address among them is nobody's address book.
    Names,
    /// One document as it stands: a page, a file. Nothing in it is the tool's own word.
    Document,
}

/// What a parameter decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Who gets it: recipient, account, host.
    Destination,
    /// What is acted on: an id, a path.
    Target,
    /// What is said.
    Content,
    /// How it is done: a date, a limit, a flag.
    Control,
    /// A password, a key.
    Secret,
}

/// The flow type of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What it does.
    pub reach: Reach,
    /// What its answer is worth.
    pub output: Trust,
    /// Does something leave the user's own systems?
    pub egress: bool,
    /// Is something lost that cannot be brought back?
    pub destructive: bool,
    /// What the named parameters decide; one that is not here decides nothing of note.
    pub roles: BTreeMap<String, Role>,
}

macro_rules! words {
    ($type:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            /// The word in catalogues.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What exactly this word stands for.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words!(Reach { Read = "read", Write = "write", Send = "send" });
words!(Trust { Trusted = "trusted", Own = "own", Untrusted = "untrusted" });
words!(Role {
    Destination = "destination",
    Target = "target",
    Content = "content",
    Control = "control",
    Secret = "secret",
});

impl Flow {
    /// Nothing is known of the tool: it may do anything.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            reach: Reach::Send,
            output: Trust::Untrusted,
            egress: true,
            destructive: true,
            roles: BTreeMap::new(),
        }
    }

    /// Does it only look?
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.reach == Reach::Read && !self.egress && !self.destructive
    }
}
