//! Facts that own their texts: read from JSON or from words, for examples, cases and the command
//! line. Whatever is not said is what an ordinary call of the user has.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aegx::Principal;
use model::{AgentId, EffectKind, Profile, Taint, UserId};

use super::{Confirmed, Facts, Named, NamedHost, NamedPath, RISK_MAX, Sinks, Target, Targets};

/// Facts that own their texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactSheet {
    /// The person.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
    /// The door.
    pub door: String,
    /// Who caused the call.
    pub principal: Principal,
    /// What it would do.
    pub effect: EffectKind,
    /// The tool.
    pub tool: String,
    /// How careful the session is.
    pub profile: Profile,
    /// Where the content has been.
    pub taint: Taint,
    /// The share from outside, in thousandths.
    pub taint_permille: u16,
    /// The share that is allowed, in thousandths; that of the profile if nothing is said.
    pub taint_permille_max: Option<u16>,
    /// Over budget? If nothing is said, the two shares are compared.
    pub over_budget: Option<bool>,
    /// Asked for by the user's own words, with nothing in it that somebody else chose?
    pub asked_for: bool,
    /// Level of risk.
    pub risk: u8,
    /// What the arguments were made of.
    pub sinks: Sinks,
    /// What the call touches.
    pub targets: Targets,
    /// What the call names.
    pub named: Named,
    /// What a person has agreed to.
    pub confirmed: Confirmed,
}

/// Why a text tells no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SheetError {
    /// Nothing says what the call would do.
    #[error("the effect is missing; say for instance `tool_send`")]
    NoEffect,
    /// A key that means nothing.
    #[error("`{0}` is no fact; there are {keys}", keys = Key::names().join(", "))]
    UnknownKey(String),
    /// A key twice.
    #[error("`{0}` is said twice")]
    Twice(String),
    /// A value that its key cannot have.
    #[error("`{key}` cannot be `{value}`: {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value, escaped.
        value: String,
        /// What it could be.
        expected: String,
    },
    /// A value of the wrong kind: a list where a string stands, or the like.
    #[error("`{key}` wants {wanted}")]
    Kind {
        /// The key.
        key: &'static str,
        /// What it wants.
        wanted: &'static str,
    },
    /// A word without `=`.
    #[error("`{0}` is no `fact=value`")]
    NoPair(String),
    /// No JSON of one meaning.
    #[error("no JSON that has one meaning: {0}")]
    Json(String),
}

impl FactSheet {
    /// An ordinary call of the user, of this kind.
    ///
    /// # Errors
    /// Never for names that this crate knows; the signature is that of the names' parsers.
    pub fn new(effect: EffectKind) -> Result<Self, SheetError> {
        Ok(Self {
            user: user("user")?,
            agent: agent("agent")?,
            door: "mcp".to_owned(),
            principal: Principal::User,
            effect,
            tool: effect.as_str().to_owned(),
            profile: Profile::Standard,
            taint: Taint::NONE,
            taint_permille: 0,
            taint_permille_max: None,
            over_budget: None,
            asked_for: false,
            risk: 0,
            sinks: Sinks::default(),
            targets: Targets::NONE,
            named: Named::default(),
            confirmed: Confirmed::Nothing,
        })
    }

    /// The facts.
    #[must_use]
    pub fn facts(&self) -> Facts<'_> {
        let max = self.taint_permille_max.unwrap_or(self.profile.taint_permille_max());
        Facts {
            user: &self.user,
            agent: &self.agent,
            door: &self.door,
            principal: self.principal,
            effect: self.effect,
            tool: &self.tool,
            profile: self.profile,
            taint: self.taint,
            taint_permille: self.taint_permille,
            taint_permille_max: max,
            over_budget: self.over_budget.unwrap_or(self.taint_permille > max),
            asked_for: self.asked_for,
            risk: self.risk,
            sinks: self.sinks,
            targets: self.targets,
            named: &self.named,
            confirmed: self.confirmed,
        }
    }

    pub(super) fn set(&mut self, key: Key, given: &Given<'_>) -> Result<(), SheetError> {
        match key {
            Key::Effect => self.effect = effect(given.text(key)?)?,
            Key::User => self.user = user(given.text(key)?)?,
            Key::Agent => self.agent = agent(given.text(key)?)?,
            Key::Door => self.door = given.text(key)?.to_owned(),
            Key::Principal => {
                let text = given.text(key)?;
                self.principal = Principal::from_name(text.as_bytes()).ok_or_else(|| {
                    key.refuse(text, "USER, SYS, WEB, TOOL, SKILL, CHANNEL or EXTERNAL")
                })?;
            }
            Key::Tool => self.tool = given.text(key)?.to_owned(),
            Key::Profile => {
                let text = given.text(key)?;
                self.profile =
                    Profile::parse(text).map_err(|why| key.refuse(text, &why.to_string()))?;
            }
            Key::Taint => {
                let flag =
                    |it: &str| Taint::parse(it).map_err(|why| key.refuse(it, &why.to_string()));
                self.taint = given
                    .list(key)?
                    .iter()
                    .try_fold(Taint::NONE, |sum, it| Ok(sum.union(flag(it)?)))?;
            }
            Key::TaintPermille => self.taint_permille = given.number(key, 1000)?,
            Key::TaintPermilleMax => self.taint_permille_max = Some(given.number(key, 1000)?),
            Key::OverBudget => self.over_budget = Some(given.bool(key)?),
            Key::AskedFor => self.asked_for = given.bool(key)?,
            Key::Risk => {
                let level = given.number(key, u16::from(RISK_MAX))?;
                self.risk = u8::try_from(level).unwrap_or(RISK_MAX);
            }
            Key::Sinks => {
                let all = Sinks::NAMES.join(", ");
                let sink = |it: &str| Sinks::parse(it).ok_or_else(|| key.refuse(it, &all));
                self.sinks = given
                    .list(key)?
                    .iter()
                    .try_fold(Sinks::default(), |sum, it| Ok(sum.union(sink(it)?)))?;
            }
            Key::Targets => {
                let all = Target::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
                let target =
                    |it: &Cow<'_, str>| Target::parse(it).ok_or_else(|| key.refuse(it, &all));
                self.targets = given.list(key)?.iter().map(target).collect::<Result<_, _>>()?;
            }
            Key::Programs
            | Key::Commands
            | Key::Classes
            | Key::Recipients
            | Key::Paths
            | Key::Hosts
            | Key::Unread
            | Key::Cut => return self.name(key, given),
            Key::Confirmed => {
                let text = given.text(key)?;
                let found = Confirmed::ALL.iter().find(|it| it.as_str() == text);
                self.confirmed =
                    *found.ok_or_else(|| key.refuse(text, "nothing, kind or exactly"))?;
            }
        }
        Ok(())
    }
}

impl FactSheet {
    /// What the call names.
    fn name(&mut self, key: Key, given: &Given<'_>) -> Result<(), SheetError> {
        let named = &mut self.named;
        if key == Key::Programs {
            named.programs = given.texts(key)?;
        } else if key == Key::Commands {
            named.commands = given.texts(key)?;
        } else if key == Key::Classes {
            named.classes = given.texts(key)?;
        } else if key == Key::Recipients {
            named.recipients = given.texts(key)?;
        } else if key == Key::Paths {
            let path = |it: &Cow<'_, str>| NamedPath::parse(it).ok_or_else(|| key.refuse(it, PATH));
            named.paths = given.list(key)?.iter().map(path).collect::<Result<_, _>>()?;
        } else if key == Key::Hosts {
            let host = |it: &Cow<'_, str>| NamedHost::parse(it).ok_or_else(|| key.refuse(it, HOST));
            named.hosts = given.list(key)?.iter().map(host).collect::<Result<_, _>>()?;
        } else if key == Key::Unread {
            named.unread = given.bool(key)?;
        } else {
            named.cut = given.bool(key)?;
        }
        Ok(())
    }
}

/// What a path is.
const PATH: &str = "read:PATH, write:PATH, delete:PATH or run:PATH";
/// What a host is.
const HOST: &str = "HOST, HOST:PORT or SCHEME://HOST:PORT";

pub(super) fn effect(text: &str) -> Result<EffectKind, SheetError> {
    let all = || EffectKind::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    EffectKind::parse(text).ok_or_else(|| Key::Effect.refuse(text, &format!("one of {}", all())))
}

fn user(text: &str) -> Result<UserId, SheetError> {
    UserId::parse(text).map_err(|why| Key::User.refuse(text, &why.to_string()))
}

fn agent(text: &str) -> Result<AgentId, SheetError> {
    AgentId::parse(text).map_err(|why| Key::Agent.refuse(text, &why.to_string()))
}

macro_rules! keys {
    ($($variant:ident $name:literal $form:ident,)+) => {
        /// What can be said.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key { $($variant),+ }

        impl Key {
            pub(super) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            pub(super) fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            pub(super) const fn form(self) -> Form {
                match self { $(Self::$variant => Form::$form),+ }
            }

            fn names() -> Vec<&'static str> {
                vec![$($name),+]
            }
        }
    };
}

keys! {
    Effect "effect" Text,
    User "user" Text,
    Agent "agent" Text,
    Door "door" Text,
    Principal "principal" Text,
    Tool "tool" Text,
    Profile "profile" Text,
    Taint "taint" List,
    TaintPermille "taint_permille" Number,
    TaintPermilleMax "taint_permille_max" Number,
    OverBudget "over_budget" Bool,
    AskedFor "asked_for" Bool,
    Risk "risk" Number,
    Sinks "sinks" List,
    Targets "targets" List,
    Programs "programs" List,
    Commands "commands" List,
    Classes "classes" List,
    Paths "paths" List,
    Hosts "hosts" List,
    Recipients "recipients" List,
    Unread "unread" Bool,
    Cut "cut" Bool,
    Confirmed "confirmed" Text,
}

impl Key {
    pub(super) fn refuse(self, value: &str, expected: &str) -> SheetError {
        let value = value.escape_debug().to_string();
        SheetError::Value { key: self.as_str(), value, expected: expected.to_owned() }
    }
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    List,
    Number,
    Bool,
}

impl Form {
    const fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::List => "a list of strings",
            Self::Number => "a whole number",
            Self::Bool => "true or false",
        }
    }
}

/// A value as given.
#[derive(Debug)]
pub(super) enum Given<'a> {
    Text(&'a str),
    List(Vec<Cow<'a, str>>),
    Number(u64),
    Bool(bool),
    /// None of these.
    Other,
}

impl<'a> Given<'a> {
    fn text(&self, key: Key) -> Result<&'a str, SheetError> {
        if let Self::Text(text) = self { Ok(text) } else { Err(wrong(key)) }
    }

    fn list(&self, key: Key) -> Result<&[Cow<'a, str>], SheetError> {
        if let Self::List(list) = self { Ok(list) } else { Err(wrong(key)) }
    }

    fn texts(&self, key: Key) -> Result<BTreeSet<String>, SheetError> {
        let text = |it: &Cow<'_, str>| match &**it {
            "" => Err(key.refuse("", "a text that is not empty")),
            text => Ok(text.to_owned()),
        };
        self.list(key)?.iter().map(text).collect()
    }

    fn bool(&self, key: Key) -> Result<bool, SheetError> {
        if let Self::Bool(it) = self { Ok(*it) } else { Err(wrong(key)) }
    }

    fn number(&self, key: Key, max: u16) -> Result<u16, SheetError> {
        let Self::Number(number) = self else { return Err(wrong(key)) };
        let fits = u16::try_from(*number).ok().filter(|it| *it <= max);
        fits.ok_or_else(|| key.refuse(&number.to_string(), &format!("at most {max}")))
    }
}

fn wrong(key: Key) -> SheetError {
    SheetError::Kind { key: key.as_str(), wanted: key.form().wanted() }
}
