//! The rules about definitions of tools and about their names.

use std::fmt;

model::rules! {
    /// A sign that poisoned tools share.
    pub enum PoisonRule {
        Mark = "tool_mark",
        HiddenMark = "tool_hidden_mark",
        TakesPrivate = "tool_takes_private",
        TakesAndPuts = "tool_takes_and_puts",
        Quiet = "tool_quiet",
        Outranks = "tool_outranks",
        ModelMust = "tool_model_must",
        Persona = "tool_persona",
        Obeyed = "tool_obeyed",
        HiddenCharacters = "hidden_characters",
        Unread = "tool_unread",
    }
}

model::rules! {
    /// Why two names look alike.
    pub enum NameRule {
        Confusable = "tool_name_confusable",
        Variant = "tool_name_variant",
        Near = "tool_name_near",
    }
}

/// A rule that found something in a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One of the text detector. Those are data, known by their id.
    Text(&'static str),
    /// One about tools.
    Poison(PoisonRule),
}

impl Rule {
    /// Returns its stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text(id) => id,
            Self::Poison(rule) => rule.as_str(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
