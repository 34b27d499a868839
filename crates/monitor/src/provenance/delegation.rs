//! Delegations: a clause of the user's lets one source decide something. *The account in the letter*, *do what the list
//! says*, *the link in Tom's message*: each names what is left open, and the source that may fill it. Other sources of the
//! turn may not, though the user named them.

use serde::{Deserialize, Serialize};

use super::acts::object;
use super::facts::Facts;
use super::hash::Key;

/// Delegations that count at a time; later ones hand on nothing.
pub(super) const DELEGATIONS_MAX: usize = 32;

/// What a source may decide, as flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Slots(u8);

impl Slots {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ADDRESS: Self = Self(1);
    pub(super) const ACCOUNT: Self = Self(1 << 1);
    pub(super) const SOMEBODY: Self = Self(1 << 2);
    /// Whatever is wanted.
    pub(super) const ANYTHING: Self = Self(1 << 3);
    /// A page that is to be looked at.
    pub(super) const LINK: Self = Self(1 << 4);
    /// What is to be done.
    pub(super) const TASKS: Self = Self(1 << 5);
    /// How something is done that the user asked for.
    pub(super) const WAY: Self = Self(1 << 6);
    /// Every one of those that it names.
    pub(super) const EACH: Self = Self(1 << 7);
    /// What a clause leaves open that says where it stands.
    pub(super) const POINTED: Self = Self::PEOPLE.with(Self::ACCOUNT).with(Self::ANYTHING);
    pub(super) const PEOPLE: Self = Self::ADDRESS.with(Self::SOMEBODY);

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// By which words of the user's a source is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named {
    /// Words and phrases that tell one source from another: a person, a file, a title.
    pub(super) names: Vec<Key>,
    /// Words for a kind of source: *the contract*, *the team page*.
    pub(super) kinds: Vec<Key>,
    /// The things that its words stand for, as in [`object`].
    pub(super) objects: u32,
    /// One of its words may be a name.
    pub(super) is_named: bool,
    /// One of the names is surely one: it has a capital, stands in quotes, or has the form of a file or a page.
    pub(super) is_marked: bool,
    /// One of the names is that of a thing that can be read.
    pub(super) is_thing: bool,
}

/// Things that say something.
const SOURCES: u32 = object::MESSAGE | object::FILE | object::PAGE | object::CHANNEL | object::CODE;
/// Those that are written once, and those that people say to each other.
const WRITTEN: u32 = object::FILE | object::PAGE;
const SPOKEN: u32 = object::MESSAGE | object::CHANNEL;

impl Named {
    /// Says that there is a source, and which?
    pub(super) const fn is_sure(&self) -> bool {
        self.is_marked || self.objects & SOURCES != 0
    }

    /// Names it no source at all?
    pub(super) const fn is_empty(&self) -> bool {
        self.names.is_empty() && self.kinds.is_empty()
    }

    /// Is it one of its words? They are in order.
    pub(super) fn has(&self, key: Key) -> bool {
        let is_in = |keys: &[Key]| keys.binary_search(&key).is_ok();
        is_in(&self.names) || is_in(&self.kinds)
    }

    /// The same with its words in order, as they are looked up.
    pub(super) fn in_order(mut self) -> Self {
        for keys in [&mut self.names, &mut self.kinds] {
            keys.sort_unstable();
            keys.dedup();
        }
        self
    }

    /// Adds names under which the same source was spoken of elsewhere.
    pub(super) fn add_names(&mut self, other: &Self) {
        self.names.extend(&other.names);
        self.is_thing |= other.is_thing;
    }

    /// Is something in both called by the same word?
    pub(super) fn shares_word(&self, other: &Self) -> bool {
        let shares = |own: &[Key], others: &[Key]| own.iter().any(|it| others.contains(it));
        shares(&self.kinds, &other.kinds) || shares(&self.names, &other.names)
    }
}

/// A clause that lets a source decide something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Delegation {
    pub(super) slots: Slots,
    pub(super) source: Named,
    /// Its words are not told apart, so that any source counts that the user named.
    pub(super) is_any: bool,
}

/// What a result shows of where it comes from.
pub(super) struct Origin<'a> {
    /// What the call named exactly, and word by word.
    pub(super) args: &'a [Key],
    pub(super) arg_words: &'a [Key],
    pub(super) tool_words: &'a [Key],
    /// What the tool shows, as in [`object`].
    pub(super) objects: u32,
    pub(super) facts: &'a Facts,
    /// It is the only row of its result.
    pub(super) alone: bool,
}

impl Delegation {
    /// Is it known by the words of the clause, which are in order?
    pub(super) fn names(&self, origin: &Origin<'_>) -> bool {
        let (names, kinds) = (&self.source.names, &self.source.kinds);
        let is_name = |it: &Key| names.binary_search(it).is_ok();
        let is_named = || origin.tool_words.iter().any(is_name) || origin.is_called(is_name);
        // *The team page*: every page is one, and so the other word decides.
        let is_of_tool = |it: &Key| origin.tool_words.contains(it);
        let is_kind = || match kinds.iter().all(is_of_tool) {
            true => !kinds.is_empty(),
            false => origin.is_called(|it| kinds.binary_search(it).is_ok() && !is_of_tool(it)),
        };
        self.is_any || is_named() || (!self.source.is_marked && is_kind())
    }

    /// Can it be what the clause speaks of? What somebody says in a conversation is no file.
    pub(super) const fn fits(&self, origin: &Origin<'_>) -> bool {
        let (wanted, shown) = (self.source.objects & SOURCES, origin.objects & SOURCES);
        let is_written = wanted & WRITTEN != 0 && wanted & SPOKEN == 0;
        let is_spoken = shown & SPOKEN != 0 && shown & WRITTEN == 0;
        // Pages are linked to from everywhere.
        !(is_written && is_spoken) || self.slots.has(Slots::LINK)
    }
}

impl Origin<'_> {
    /// Is one of the words that it goes by such a word?
    fn is_called(&self, is: impl Fn(&Key) -> bool) -> bool {
        let by_row = || {
            let mut names = self.facts.names.iter();
            names.any(|it| is(&it.whole) || it.words.iter().chain(&it.who).any(&is))
        };
        // What a search was for does not say what each of its rows is.
        let by_words = || self.alone && self.arg_words.iter().any(&is);
        self.args.iter().any(&is) || by_words() || by_row()
    }
}
