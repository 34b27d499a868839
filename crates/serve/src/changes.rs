//! What became different when files were read again, and whether it is weaker than before.
//!
//! INVARIANT (NothingSilent): whatever of the settings can protect less is named. Where nobody can say which of two is the
//! stricter one, it counts as weaker: a person looks, and no more happens.

mod sections;
mod serving;

use policy::access::{Agents, Budget, Limits, Manifest, User};
use serde_json::{Value, json};

use crate::directory::Directory;

/// Changes that are named one by one.
const NAMED_MAX: usize = 100;

/// Something that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where, and what, in a few words.
    pub(crate) what: String,
    /// Does it protect less, or may it?
    pub(crate) is_weaker: bool,
}

/// What the files say now and did not say before.
pub(crate) fn between(before: &Directory, after: &Directory) -> Vec<Change> {
    let mut found = Found::default();
    sections::compare(&before.global, &after.global, &mut found);
    for user in after.users.iter() {
        match before.users.get(user.name.as_str()) {
            None => found.weaker(format!("users.yaml: {} may come in", user.name)),
            Some(was) if was != user => of_user(was, user, &mut found),
            Some(_) => {}
        }
    }
    for user in before.users.iter().filter(|it| after.users.get(it.name.as_str()).is_none()) {
        found.other(format!("users.yaml: {} is gone", user.name));
    }
    for manifest in &after.manifests {
        let agent = &manifest.agent;
        match before.manifest(agent.as_str()) {
            None => found.weaker(format!("agents/{agent}: it is new")),
            Some(was) if was != manifest => of_manifest(was, manifest, &mut found),
            Some(_) => {}
        }
    }
    for was in before.manifests.iter().filter(|it| after.manifest(it.agent.as_str()).is_none()) {
        found.other(format!("agents/{}: it is gone", was.agent));
    }
    found.0
}

/// The changes for a record.
pub(crate) fn to_json(changes: &[Change]) -> Value {
    let (weaker, changed) = (of(changes, true), of(changes, false));
    json!({ "weaker": weaker, "changed": changed, "count": changes.len() })
}

/// Those that are weaker, or the others; so many that a record has room for them.
pub(crate) fn of(changes: &[Change], is_weaker: bool) -> Vec<&str> {
    let those = changes.iter().filter(|it| it.is_weaker == is_weaker);
    those.map(|it| it.what.as_str()).take(NAMED_MAX).collect()
}

#[derive(Default)]
struct Found(Vec<Change>);

impl Found {
    fn weaker(&mut self, what: String) {
        self.0.push(Change { what, is_weaker: true });
    }

    fn other(&mut self, what: String) {
        self.0.push(Change { what, is_weaker: false });
    }

    /// A section of which is known whether it is weaker now.
    fn known(&mut self, name: &str, is_different: bool, is_weaker: bool) {
        match (is_different, is_weaker) {
            (false, _) => {}
            (true, true) => self.weaker(format!("{name} is weaker")),
            (true, false) => self.other(format!("{name} is stricter")),
        }
    }

    /// A section in which nobody can say what is stricter.
    fn section(&mut self, name: &str, is_different: bool) {
        if is_different {
            self.weaker(format!("{name} changed"));
        }
    }
}

/// Is there something in the later list that is not in the earlier one? Without a list there is everything.
fn has_more<T: PartialEq>(was: Option<&[T]>, is: Option<&[T]>) -> bool {
    match (was, is) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(was), Some(is)) => is.iter().any(|it| !was.contains(it)),
    }
}

fn unblocks<T: PartialEq>(was: Option<&[T]>, is: Option<&[T]>) -> bool {
    has_more(Some(is.unwrap_or_default()), Some(was.unwrap_or_default()))
}

fn of_user(was: &User, is: &User, found: &mut Found) {
    // Without `..`, here and below: what is new has to be compared before this compiles.
    let User { name, token_hash, agents, admin, budget, tools_deny, channels } = was;
    if *token_hash != is.token_hash {
        found.other(format!("users.yaml: {name} has another token"));
    }
    match (admin, is.admin) {
        (false, true) => found.weaker(format!("users.yaml: {name} administers the host")),
        (true, false) => {
            found.other(format!("users.yaml: {name} administers the host no more"));
        }
        (true, true) | (false, false) => {}
    }
    if *agents != is.agents {
        let more = match (agents, &is.agents) {
            (Agents::All, _) => false,
            (Agents::Only(_), Agents::All) => true,
            (Agents::Only(was), Agents::Only(is)) => is.iter().any(|it| !was.contains(it)),
        };
        match more {
            true => found.weaker(format!("users.yaml: {name} may use more agents")),
            false => found.other(format!("users.yaml: {name} may use fewer agents")),
        }
    }
    if *tools_deny != is.tools_deny {
        match unblocks(Some(tools_deny), Some(&is.tools_deny)) {
            true => found.weaker(format!("users.yaml: fewer tools are denied to {name}")),
            false => found.other(format!("users.yaml: more tools are denied to {name}")),
        }
    }
    if *budget != is.budget {
        match is_more(budget, &is.budget) {
            true => found.weaker(format!("users.yaml: {name} may spend more")),
            false => found.other(format!("users.yaml: {name} may spend less")),
        }
    }
    if *channels != is.channels {
        found.weaker(format!("users.yaml: {name} is somebody else at a messenger"));
    }
}

/// Is it more that may be spent, or may it be? Dollars and tokens are not compared.
fn is_more(was: &Budget, is: &Budget) -> bool {
    match (was, is) {
        (Budget::Unlimited, _) => false,
        (Budget::Limited(_), Budget::Unlimited) => true,
        (Budget::Limited(was), Budget::Limited(is)) => {
            let Limits { unit, session, daily, monthly } = was;
            *unit != is.unit || is.session > *session || is.daily > *daily || is.monthly > *monthly
        }
    }
}

fn of_manifest(was: &Manifest, is: &Manifest, found: &mut Found) {
    let Manifest {
        agent,
        name,
        description,
        icon,
        tags,
        starters,
        tools,
        mcp,
        model,
        effort,
        access,
        sandbox,
        agents,
        grants,
        operations,
        security_profile,
        capability_scope,
        instructions,
        guardrail,
        body,
    } = was;
    let mut section = |name: &str, is_different: bool| {
        found.section(&format!("agents/{agent}: {name}"), is_different);
    };
    section("tools", *tools != is.tools);
    section("mcp", *mcp != is.mcp);
    section("sandbox", *sandbox != is.sandbox);
    section("sub-agents", *agents != is.agents);
    section("credentials", *grants != is.grants);
    section("operations", *operations != is.operations);
    section("who may use it", *access != is.access);
    section("guardrail", *guardrail != is.guardrail);
    section("securityProfile", *security_profile != is.security_profile);
    section("capabilityScope", *capability_scope != is.capability_scope);
    let shown = *name != is.name
        || *description != is.description
        || *icon != is.icon
        || *tags != is.tags
        || *starters != is.starters;
    let mut plain = |name: &str, is_different: bool| {
        if is_different {
            found.other(format!("agents/{agent}: {name}"));
        }
    };
    plain("how it is shown", shown);
    plain("model", *model != is.model || *effort != is.effort);
    plain("its words", *body != is.body || *instructions != is.instructions);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use policy::access::Global;

    use super::*;

    fn directory(settings: &str) -> Directory {
        Directory { global: Arc::new(Global::parse(settings).unwrap()), ..Directory::default() }
    }

    #[test]
    fn what_is_weaker_is_named_and_what_is_stricter_alarms_nobody() {
        let strict = "egress: {allowedDomains: [a.example], blockedDomains: [b.example]}\n\
                      sandbox: {require_seccomp: true}\ntools: {web: {enabled: false}}\n";
        for (weak, named) in [
            (strict.replace("a.example", "c.example"), "egress"),
            (strict.replace("[b.example]", "[]"), "egress"),
            (strict.replace("true", "false"), "sandbox"),
            (strict.replace("web: {enabled: false}", "web: {enabled: true}"), "tools.web is on"),
            (format!("{strict}shell: {{}}\n"), ""),
            (format!("{strict}securityProfile: yolo\n"), "securityProfile"),
            (format!("{strict}history: {{max_turns: 9}}\n"), "history"),
            (format!("{strict}notifications: {{desktop: false}}\n"), "notifications"),
            (
                format!("{strict}serve: {{rateLimits: {{messagesPerMinute: 21}}}}\n"),
                "messagesPerMinute",
            ),
            (format!("{strict}serve: {{allowQueryToken: true}}\n"), "allowQueryToken"),
            (format!("{strict}serve: {{logging: {{level: error}}}}\n"), "logging"),
        ] {
            let changes = between(&directory(strict), &directory(&weak));
            let weaker: Vec<&Change> = changes.iter().filter(|it| it.is_weaker).collect();
            assert_eq!(weaker.len(), usize::from(!named.is_empty()), "{changes:?}");
            assert!(weaker.iter().all(|it| it.what.contains(named)), "{changes:?}");
            let back = between(&directory(&weak), &directory(strict));
            let alarms = back.iter().filter(|it| it.is_weaker).count();
            // Of another list, and of what is told of earlier, nobody can say which of two is the stricter one.
            let is_either = weak.contains("c.example") || named == "history";
            // A profile that is no longer chosen is one that no longer bounds.
            let is_gone = named == "securityProfile";
            assert_eq!(alarms, usize::from(is_either || is_gone), "{back:?}");
        }
    }
}
