//! What is to be done with what is found, by trust level.

use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::Tripwire;
use crate::allow::Allowed;

/// How far a text is believed, by where it came from (seed 002).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustLevel {
    /// The user's own, or the host's.
    Trusted,
    /// What lies or was printed on this machine, in places that the user has not vouched for.
    Local,
    /// What others wrote elsewhere: pages, mail, servers, agents, and memory of them.
    External,
}

impl TrustLevel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Trusted, Self::Local, Self::External];

    /// Returns the name in settings and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Local => "local",
            Self::External => "external",
        }
    }
}

/// What can be found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Orders to whoever reads it.
    Orders,
    /// What may be orders.
    Suspected,
    /// Text that people do not see.
    Hidden,
    /// Secrets that nobody keeps here: keys, tokens, passwords.
    Secrets,
    /// Personal data.
    Personal,
    /// Addresses by which something would leave: what loads by itself, and links that carry data. Looked for where they are
    /// to be taken out.
    Addresses,
}

impl Category {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Orders,
        Self::Suspected,
        Self::Hidden,
        Self::Secrets,
        Self::Personal,
        Self::Addresses,
    ];

    /// Returns the name in settings and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::Suspected => "suspected",
            Self::Hidden => "hidden",
            Self::Secrets => "secrets",
            Self::Personal => "personal",
            Self::Addresses => "addresses",
        }
    }

    /// Tells whether marks around a text say anything about this.
    #[must_use]
    pub const fn can_be_wrapped(self) -> bool {
        match self {
            Self::Orders | Self::Suspected => true,
            Self::Hidden | Self::Secrets | Self::Personal | Self::Addresses => false,
        }
    }
}

/// What is done, from the mildest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Treatment {
    /// The text stays as it is; what was found is on record and in its label.
    Label,
    /// The text is put between marks.
    Wrap,
    /// What was found is taken out; of orders, the rest is put between marks.
    Clean,
    /// The text is not shown.
    Withhold,
}

impl Treatment {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Label, Self::Wrap, Self::Clean, Self::Withhold];

    /// Returns the name in settings and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Wrap => "wrap",
            Self::Clean => "clean",
            Self::Withhold => "withhold",
        }
    }
}

/// What is done at one trust level.
#[derive(Clone, Debug)]
pub struct Plan {
    /// With orders.
    pub orders: Treatment,
    /// With what may be orders.
    pub suspected: Treatment,
    /// With text that people do not see.
    pub hidden: Treatment,
    /// With secrets.
    pub secrets: Treatment,
    /// With personal data.
    pub personal: Treatment,
    /// With addresses by which something would leave.
    pub addresses: Treatment,
    /// How much of a text is shown, in bytes; all of it where none is said.
    pub bytes_max: Option<usize>,
    /// Phrases of the operator that count as orders.
    pub phrases: Phrases,
    /// Secrets and personal data that the operator has said are fine.
    pub allowed: Allowed,
    /// What trips before all that.
    pub tripwire: Tripwire,
}

impl Plan {
    /// Returns what is done at a trust level where nobody says otherwise.
    #[must_use]
    pub fn of(level: TrustLevel) -> Self {
        let (orders, suspected, hidden) = match level {
            // Files that the user works on must come back as they are.
            TrustLevel::Trusted => (Treatment::Label, Treatment::Label, Treatment::Label),
            TrustLevel::Local => (Treatment::Wrap, Treatment::Label, Treatment::Label),
            TrustLevel::External => (Treatment::Clean, Treatment::Wrap, Treatment::Clean),
        };
        Self {
            orders,
            suspected,
            hidden,
            secrets: Treatment::Label,
            personal: Treatment::Label,
            addresses: Treatment::Label,
            bytes_max: None,
            phrases: Phrases::default(),
            allowed: Allowed::default(),
            tripwire: Tripwire::default(),
        }
    }

    /// Returns what is done with one category.
    #[must_use]
    pub fn treatment(&self, category: Category) -> Treatment {
        match category {
            Category::Orders => self.orders,
            Category::Suspected => self.suspected,
            Category::Hidden => self.hidden,
            Category::Secrets => self.secrets,
            Category::Personal => self.personal,
            Category::Addresses => self.addresses,
        }
    }

    /// Sets what is done with one category.
    pub fn set(&mut self, category: Category, treatment: Treatment) {
        let place = match category {
            Category::Orders => &mut self.orders,
            Category::Suspected => &mut self.suspected,
            Category::Hidden => &mut self.hidden,
            Category::Secrets => &mut self.secrets,
            Category::Personal => &mut self.personal,
            Category::Addresses => &mut self.addresses,
        };
        *place = treatment;
    }

    /// Returns the same, with orders only put between marks at the most: the user has asked for what the text says.
    #[must_use]
    pub fn asked_for(&self) -> Self {
        let at_most = |it: Treatment| it.min(Treatment::Wrap);
        Self {
            orders: at_most(self.orders),
            suspected: at_most(self.suspected),
            tripwire: Tripwire::Sanitize,
            ..self.clone()
        }
    }

    /// Returns the same, with what may be orders treated as orders.
    #[must_use]
    pub fn confirmed(&self) -> Self {
        Self { suspected: self.suspected.max(self.orders), ..self.clone() }
    }
}

/// A plan for each trust level.
#[derive(Clone, Debug)]
pub struct Plans {
    /// The user's own.
    pub trusted: Plan,
    /// On this machine.
    pub local: Plan,
    /// From elsewhere.
    pub external: Plan,
}

impl Default for Plans {
    fn default() -> Self {
        Self {
            trusted: Plan::of(TrustLevel::Trusted),
            local: Plan::of(TrustLevel::Local),
            external: Plan::of(TrustLevel::External),
        }
    }
}

impl Plans {
    /// Returns the plan for a trust level.
    #[must_use]
    pub fn at(&self, level: TrustLevel) -> &Plan {
        match level {
            TrustLevel::Trusted => &self.trusted,
            TrustLevel::Local => &self.local,
            TrustLevel::External => &self.external,
        }
    }

    /// Returns a plan by which everything is looked for that any of them treats.
    #[must_use]
    pub fn widest(&self) -> Plan {
        let all = [&self.trusted, &self.local, &self.external];
        let addresses = all.map(|it| it.addresses).into_iter().max();
        let addresses = addresses.unwrap_or(Treatment::Label);
        Plan { addresses, ..self.external.clone() }
    }

    /// Returns the plan for a trust level, to be changed.
    pub fn at_mut(&mut self, level: TrustLevel) -> &mut Plan {
        match level {
            TrustLevel::Trusted => &mut self.trusted,
            TrustLevel::Local => &mut self.local,
            TrustLevel::External => &mut self.external,
        }
    }
}

/// Phrases of the operator.
pub const PHRASES_MAX: usize = 64;
/// The longest phrase, in bytes.
pub const PHRASE_BYTES_MAX: usize = 1024;

/// Phrases of the operator that count as orders, whatever their case.
#[derive(Clone, Debug, Default)]
pub struct Phrases(Option<Arc<AhoCorasick>>);

/// Phrases that cannot be looked for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PhrasesError {
    /// There are too many.
    #[error("at most {PHRASES_MAX} phrases")]
    TooMany,
    /// One of them is empty or too long.
    #[error("a phrase has 3 to {PHRASE_BYTES_MAX} bytes")]
    Length,
    /// They cannot be looked for at once.
    #[error("these phrases cannot be looked for")]
    Unusable,
}

/// Places of phrases in one text that are told apart.
const PLACES_MAX: usize = 4096;
/// A shorter phrase is everywhere, in bytes.
const PHRASE_BYTES_MIN: usize = 3;

impl Phrases {
    /// Takes phrases.
    ///
    /// # Errors
    /// If there are too many, or one is too short or too long.
    pub fn new(phrases: &[String]) -> Result<Self, PhrasesError> {
        if phrases.is_empty() {
            return Ok(Self(None));
        }
        if phrases.len() > PHRASES_MAX {
            return Err(PhrasesError::TooMany);
        }
        let fits = |it: &String| (PHRASE_BYTES_MIN..=PHRASE_BYTES_MAX).contains(&it.trim().len());
        if !phrases.iter().all(fits) {
            return Err(PhrasesError::Length);
        }
        let mut builder = AhoCorasick::builder();
        let found = builder.ascii_case_insensitive(true).build(phrases.iter().map(|it| it.trim()));
        found.map(|it| Self(Some(Arc::new(it)))).map_err(|_| PhrasesError::Unusable)
    }

    /// Returns where phrases stand in `text`. Of too many, the last one reaches to the end.
    pub(super) fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(phrases) = &self.0 else { return Vec::new() };
        let places = phrases.find_iter(text).take(PLACES_MAX);
        let mut places: Vec<_> = places.map(|it| (it.start(), it.end())).collect();
        if let Some(last) = places.get_mut(PLACES_MAX - 1) {
            last.1 = text.len();
        }
        places
    }
}
