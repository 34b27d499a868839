//! The rules about answers.

use super::Kind;

model::rules! {
    /// What an answer gives away, and how it was seen.
    pub enum Rule {
        Function = "leak-function",
        Paraphrase = "leak-paraphrase",
        Pieces = "leak-pieces",
        Secret = "leak-secret",
        Structure = "leak-structure",
        Token = "leak-token",
        Translation = "leak-translation",
        Unread = "leak-unread",
        Variable = "leak-variable",
        Verbatim = "leak-verbatim",
    }
}

impl Rule {
    /// Returns the rule that finds such a thing in a single text. [`Rule::Pieces`] needs several, and [`Rule::Secret`] is for those
    /// who look for secrets as well ([`crate::secret`]).
    pub(super) const fn of(kind: Kind) -> Self {
        match kind {
            Kind::InternalToken => Self::Token,
            Kind::InternalFunction => Self::Function,
            Kind::TemplateVariable => Self::Variable,
            Kind::PromptStructure => Self::Structure,
            Kind::PromptText => Self::Verbatim,
            Kind::Paraphrase => Self::Paraphrase,
            Kind::Translation => Self::Translation,
            Kind::Unread => Self::Unread,
        }
    }
}
