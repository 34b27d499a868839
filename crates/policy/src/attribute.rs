//! What rules can ask of a call, and which of it they do ask.
//!
//! Facts that no rule asks for cannot change a decision: they are left out of requests, and two
//! calls that differ only in them get one verdict.

use cedar_policy::{Policy as CedarPolicy, PrincipalConstraint, ResourceConstraint};

use crate::facts::Apart;

macro_rules! attributes {
    ($($variant:ident $name:literal,)+) => {
        /// An attribute of `context`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Attribute { $($variant),+ }

        impl Attribute {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];

            pub(crate) const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

attributes! {
    Cause "cause",
    Outsider "outsider",
    Agent "agent",
    Tool "tool",
    Door "door",
    Profile "profile",
    Taint "taint",
    TaintPermille "taint_permille",
    TaintPermilleMax "taint_permille_max",
    OverBudget "over_budget",
    AskedFor "asked_for",
    Risk "risk",
    Sink "sink",
    Target "target",
    Programs "programs",
    Commands "commands",
    Classes "classes",
    Paths "paths",
    Ops "ops",
    Hosts "hosts",
    Recipients "recipients",
    Path "path",
    Op "op",
    Host "host",
    Port "port",
    Scheme "scheme",
    Recipient "recipient",
    Unread "unread",
    Confirmed "confirmed",
    ConfirmedKind "confirmed_kind",
}

impl Attribute {
    /// Is it the same for every call of a tool in a session?
    const fn is_of_tool(self) -> bool {
        matches!(
            self,
            Self::Cause | Self::Outsider | Self::Agent | Self::Tool | Self::Door | Self::Profile
        )
    }

    /// Is it about what the call names?
    const fn is_name(self) -> bool {
        match self {
            Self::Programs
            | Self::Commands
            | Self::Classes
            | Self::Paths
            | Self::Ops
            | Self::Hosts
            | Self::Recipients
            | Self::Path
            | Self::Op
            | Self::Host
            | Self::Port
            | Self::Scheme
            | Self::Recipient
            | Self::Unread => true,
            Self::Cause
            | Self::Outsider
            | Self::Agent
            | Self::Tool
            | Self::Door
            | Self::Profile
            | Self::Taint
            | Self::TaintPermille
            | Self::TaintPermilleMax
            | Self::OverBudget
            | Self::AskedFor
            | Self::Risk
            | Self::Sink
            | Self::Target
            | Self::Confirmed
            | Self::ConfirmedKind => false,
        }
    }
}

/// What a set of rules asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uses {
    attributes: Vec<Attribute>,
    /// The user, as `principal`.
    pub(crate) user: bool,
    /// The tool, as `resource` or in the context.
    pub(crate) tool: bool,
}

impl Uses {
    pub(crate) fn everything() -> Self {
        Self { attributes: Attribute::ALL.to_vec(), user: true, tool: true }
    }

    /// What a rule asks for, by the words of its text. Whatever is not plainly understood counts as everything.
    pub(crate) fn of(policy: &CedarPolicy) -> Self {
        let text = policy.to_string();
        let words = words(&text);
        let asked: Option<Vec<&str>> = (0..words.len())
            .filter(|at| words.get(*at) == Some(&"context"))
            .map(|at| named(&words, at))
            .collect();
        let Some(asked) = asked else { return Self::everything() };
        let is_asked = |it: &Attribute| asked.contains(&it.as_str());
        let attributes = Attribute::ALL.iter().copied().filter(is_asked).collect::<Vec<_>>();
        // Each stands once in the scope of every rule.
        let again = |name: &str| words.iter().filter(|it| **it == name).count() > 1;
        let user = again("principal") || policy.principal_constraint() != PrincipalConstraint::Any;
        let tool = again("resource")
            || policy.resource_constraint() != ResourceConstraint::Any
            || attributes.contains(&Attribute::Tool);
        Self { attributes, user, tool }
    }

    /// What any of several rules asks for.
    pub(crate) fn of_any<'a>(rules: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let asked = |it: &Attribute| rules.clone().any(|rule| rule.has(*it));
        Self {
            attributes: Attribute::ALL.iter().copied().filter(asked).collect(),
            user: rules.clone().any(|it| it.user),
            tool: rules.clone().any(|it| it.tool),
        }
    }

    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Which names of a call are asked about one by one.
    pub(crate) fn apart(&self) -> Apart {
        Apart {
            paths: self.has(Attribute::Path) || self.has(Attribute::Op),
            hosts: [Attribute::Host, Attribute::Port, Attribute::Scheme]
                .iter()
                .any(|it| self.has(*it)),
            recipients: self.has(Attribute::Recipient),
        }
    }

    /// Does a rule ask for anything that the call names?
    pub(crate) fn names(&self) -> bool {
        self.attributes.iter().any(|it| it.is_name())
    }

    /// Is everything that is asked for known from who calls which tool, whatever the call says?
    pub(crate) fn tool_alone(&self) -> bool {
        self.attributes.iter().all(|it| it.is_of_tool())
    }

    pub(crate) fn has(&self, attribute: Attribute) -> bool {
        self.attributes.contains(&attribute)
    }
}

/// The words and signs of a rule, one by one, without its texts and remarks. A text is a word of its own: `"`.
fn words(rule: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = rule;
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let (length, is_kept) = match first {
            '"' => (after_text(rest), true),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            _ if is_word(first) => (rest.find(|it| !is_word(it)).unwrap_or(rest.len()), true),
            _ => (first.len_utf8(), !first.is_whitespace()),
        };
        let (word, after) = rest.split_at(length);
        if is_kept {
            words.push(if first == '"' { "\"" } else { word });
        }
        rest = after;
    }
    words
}

/// Where the text ends that `rest` begins with.
fn after_text(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The attribute that is asked for where `context` stands at `at`: `context.name` or `context has name`.
fn named<'a>(words: &[&'a str], at: usize) -> Option<&'a str> {
    let word = |at: usize| words.get(at).copied();
    let is_variable = at.checked_sub(1).and_then(word) != Some(".");
    let is_asked = matches!(word(at + 1), Some("." | "has"));
    word(at + 2).filter(|it| is_variable && is_asked && *it != "\"")
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    fn uses(text: &str) -> Uses {
        Uses::of(&CedarPolicy::from_str(text).unwrap())
    }

    #[test]
    fn what_is_named_is_used_and_nothing_else() {
        let found = uses(
            r#"permit (principal, action, resource)
               when { context.taint.untrusted && (context.risk > 1 || context.tool like "a*") }
               unless { [1, 2].contains(context.taint_permille) };"#,
        );
        let names: Vec<_> = found.attributes().iter().map(|it| it.as_str()).collect();
        assert_eq!(names, ["tool", "taint", "taint_permille", "risk"]);
        assert!(found.tool && !found.user);
    }

    #[test]
    fn scopes_and_variables_count() {
        let scoped = uses(r#"permit (principal == User::"a", action, resource);"#);
        assert!(scoped.user && !scoped.tool);
        let bare =
            uses("permit (principal, action, resource) when { [resource].contains(resource) };");
        assert!(bare.tool && !bare.user);
    }

    #[test]
    fn texts_and_remarks_ask_for_nothing() {
        let found = uses(
            r#"@reason("of context == { \" and principal")
               permit (principal, action, resource) // context == {} principal
               when { context.tool == "\" context \\" && context has risk && context.risk == 1 };"#,
        );
        assert_eq!(found.attributes(), [Attribute::Tool, Attribute::Risk]);
        assert!(!found.user);
    }

    #[test]
    fn what_is_not_understood_is_everything() {
        for text in [
            "permit (principal, action, resource) when { context == {} };",
            "permit (principal, action, resource) when { [context].contains(context) };",
            r#"permit (principal, action, resource) when { context["risk"] == 1 };"#,
            r#"permit (principal, action, resource) when { context has "risk" };"#,
            "permit (principal, action, resource) when { {context: 1}.context == 1 };",
            "permit (principal, action, resource) when { (if true then context else context).risk == 1 };",
        ] {
            assert_eq!(uses(text), Uses::everything(), "{text}");
        }
    }
}
