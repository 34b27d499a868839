//! What rules can ask of a call, and which of it they do ask.
//!
//! Facts that no rule asks for cannot change a decision: they are left out of requests, and two
//! calls that differ only in them get one verdict.

use cedar_policy::Policy as CedarPolicy;
use serde_json::Value;

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

    /// What these rules ask for. Whatever is not plainly understood counts as everything.
    pub(crate) fn of(policies: &[CedarPolicy]) -> Self {
        let mut seen = Seen::default();
        for policy in policies {
            match policy.to_json() {
                Ok(json) => seen.policy(&json),
                Err(_) => seen.whole = true,
            }
        }
        if seen.whole {
            return Self::everything();
        }
        let asked = |it: &Attribute| seen.attributes.iter().any(|name| name == it.as_str());
        let attributes = Attribute::ALL.iter().copied().filter(asked).collect::<Vec<_>>();
        let tool = seen.resource || attributes.contains(&Attribute::Tool);
        Self { attributes, user: seen.principal, tool }
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

#[derive(Default)]
struct Seen {
    attributes: Vec<String>,
    principal: bool,
    resource: bool,
    /// `context` was used otherwise than by naming an attribute of it.
    whole: bool,
}

impl Seen {
    fn policy(&mut self, json: &Value) {
        let any = |part: &str| json.pointer(part).and_then(Value::as_str) == Some("All");
        self.principal |= !any("/principal/op");
        self.resource |= !any("/resource/op");
        // Annotations are texts, not expressions.
        self.expression(json.get("conditions").unwrap_or(&Value::Null));
    }

    fn expression(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    match (key.as_str(), inner.as_str()) {
                        ("Var", Some("context")) => self.whole = true,
                        ("Var", Some("principal")) => self.principal = true,
                        ("Var", Some("resource")) => self.resource = true,
                        ("." | "has", _) if self.names_attribute(inner) => {}
                        _ => self.expression(inner),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|it| self.expression(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Is it `context.name`? Then the name is noted.
    fn names_attribute(&mut self, access: &Value) -> bool {
        let var = access.pointer("/left/Var").and_then(Value::as_str);
        let name = access.get("attr").and_then(Value::as_str);
        match (var, name) {
            (Some("context"), Some(name)) => {
                self.attributes.push(name.to_owned());
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    fn uses(text: &str) -> Uses {
        Uses::of(&[CedarPolicy::from_str(text).unwrap()])
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
    fn what_is_not_understood_is_everything() {
        for text in [
            "permit (principal, action, resource) when { context == {} };",
            "permit (principal, action, resource) when { [context].contains(context) };",
            "permit (principal, action, resource) when { (if true then context else context).risk == 1 };",
        ] {
            assert_eq!(uses(text), Uses::everything(), "{text}");
        }
    }
}
