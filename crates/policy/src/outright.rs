//! Whether a tool is denied whatever a call of it says.

use model::Decision;

use crate::explain::Matched;
use crate::facts::Facts;
use crate::policy::{DEFAULT_DENY, Policy};

impl Policy {
    /// The rule that denies every call of the tool in `facts`, whatever its arguments and whatever the session has read;
    /// none if some call could pass, be it after a question. Only rules count that ask for who calls which tool and for
    /// nothing else: what a rule says of one call it may not say of the next.
    #[must_use]
    pub fn denies_outright(&self, facts: &Facts<'_>) -> Option<&str> {
        let rules = self.explain(facts).rules;
        let holds = |matched: &Matched| matches!(matched, Matched::Yes | Matched::Failed(_));
        let denies = rules.iter().find(|(rule, matched)| {
            rule.decision() == Decision::Deny && rule.uses.tool_alone() && holds(matched)
        });
        if let Some((rule, _)) = denies {
            return Some(rule.id());
        }
        let may_permit = |(rule, matched): &(&crate::rule::Rule, Matched)| {
            rule.decision() == Decision::Allow
                && (!rule.uses.tool_alone() || *matched == Matched::Yes)
        };
        (!rules.iter().any(may_permit)).then_some(DEFAULT_DENY)
    }
}

#[cfg(test)]
mod tests {
    use crate::{FactSheet, PackText, Policy};

    /// The default rules and one more.
    fn with(rule: &str) -> Policy {
        let mut packs = PackText::embedded();
        packs.push(PackText { name: "own".to_owned(), text: rule.to_owned() });
        Policy::build(&packs).unwrap()
    }

    fn denied(policy: &Policy, words: &str) -> Option<String> {
        let sheet = FactSheet::from_words(words).unwrap();
        policy.denies_outright(&sheet.facts()).map(str::to_owned)
    }

    #[test]
    fn a_tool_that_a_rule_names_is_denied_outright() {
        let policy = with(
            r#"@id("no-mail") @reason("no mail") @decision("deny")
               @match("tool_send tool=mcp__mail__send") @skip("tool_send tool=mcp__chat__send")
               forbid (principal, action, resource) when { context.tool like "mcp__mail__*" };"#,
        );
        assert_eq!(denied(&policy, "tool_send tool=mcp__mail__send").as_deref(), Some("no-mail"));
        assert_eq!(denied(&policy, "tool_read tool=mcp__mail__list").as_deref(), Some("no-mail"));
        assert_eq!(denied(&policy, "tool_send tool=mcp__chat__send"), None);
    }

    #[test]
    fn what_depends_on_the_call_or_asks_hides_nothing() {
        let policy = with(
            r#"@id("no-eve") @reason("no eve") @decision("deny")
               @match("tool_send recipients=eve@evil.example") @skip("tool_send recipients=ann@a.example")
               forbid (principal, action == Action::"tool_send", resource)
               when { context.recipients.contains("eve@evil.example") };
               @id("ask-chat") @reason("ask") @decision("step_up")
               @match("tool_send tool=mcp__chat__send") @skip("tool_send tool=mcp__mail__send")
               forbid (principal, action, resource) when { context.tool like "mcp__chat__*" };"#,
        );
        assert_eq!(denied(&policy, "tool_send tool=mcp__chat__send"), None);
        assert_eq!(denied(&policy, "tool_send recipients=eve@evil.example"), None);
        assert_eq!(denied(&Policy::embedded().unwrap(), "tool_destroy"), None);
    }
}
