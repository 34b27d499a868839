//! What became different when files were read again, and whether it is weaker than before.
//!
//! INVARIANT (NothingSilent): whatever of the settings can protect less is named. Where nobody can say which of two is the
//! stricter one, it counts as weaker: a person looks, and no more happens.

use policy::access::{Agents, Budget, Domain, Egress, Global, Manifest, SandboxProfile, User};
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
    settings(&before.global, &after.global, &mut found);
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
    let of = |is_weaker: bool| {
        let named = changes.iter().filter(move |it| it.is_weaker == is_weaker);
        named.take(NAMED_MAX).map(|it| Value::from(it.what.as_str())).collect::<Value>()
    };
    json!({ "weaker": of(true), "changed": of(false), "count": changes.len() })
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

fn settings(was: &Global, is: &Global, found: &mut Found) {
    for domain in Domain::ALL {
        let (domain, name) = (*domain, domain.as_str());
        match (was.is_enabled(domain), is.is_enabled(domain)) {
            (false, true) => found.weaker(format!("config.yaml: tools.{name} is on")),
            (true, false) => found.other(format!("config.yaml: tools.{name} is off")),
            _ if was.tool(domain) != is.tool(domain) => {
                found.weaker(format!("config.yaml: tools.{name} changed"));
            }
            _ => {}
        }
    }
    let providers = |it: &Global| it.providers().collect::<Vec<_>>();
    found.section("config.yaml: providers", providers(was) != providers(is));
    let egress = was.egress() != is.egress();
    found.known("config.yaml: egress", egress, reaches_more(was.egress(), is.egress()));
    found.section("config.yaml: services", !was.services().eq(is.services()));
    found.section("config.yaml: browser", was.browser() != is.browser());
    let sandbox = was.sandbox() != is.sandbox();
    found.known("config.yaml: sandbox", sandbox, holds_less(was.sandbox(), is.sandbox()));
    found.section("config.yaml: shell", was.shell() != is.shell());
    found.section("config.yaml: sanitize", was.sanitize() != is.sanitize());
    found.section("config.yaml: answers", was.answers() != is.answers());
    found.section("config.yaml: serve", was.serve() != is.serve());
    found.section("config.yaml: delegation", was.delegation() != is.delegation());
    found.section("config.yaml: channel_config", was.channels() != is.channels());
    if was != is && found.0.iter().all(|it| !it.what.starts_with("config.yaml")) {
        found.other("config.yaml changed".to_owned());
    }
}

/// Can more be reached by these, or may it?
fn reaches_more(was: &Egress, is: &Egress) -> bool {
    has_more(was.allowed_domains.as_deref(), is.allowed_domains.as_deref())
        || unblocks(was.blocked_domains.as_deref(), is.blocked_domains.as_deref())
        // Where no ports are named, those of the web are meant.
        || was.ports != is.ports && (was.ports.is_none() || is.ports.is_none())
        || has_more(was.ports.as_deref(), is.ports.as_deref())
        || has_more(was.methods.as_deref(), is.methods.as_deref())
        || is_higher(was.payload_bytes, is.payload_bytes)
        || was.search != is.search
        || was.inner != is.inner
}

fn unblocks(was: Option<&[String]>, is: Option<&[String]>) -> bool {
    has_more(Some(is.unwrap_or_default()), Some(was.unwrap_or_default()))
}

/// Do they confine less?
fn holds_less(was: &SandboxProfile, is: &SandboxProfile) -> bool {
    was.require_container && !is.require_container
        || was.require_seccomp && !is.require_seccomp
        || was.require_readonly_root && !is.require_readonly_root
        || was.network_namespace && !is.network_namespace
        || is_higher(was.max_processes, is.max_processes)
        || is_higher(was.max_open_files, is.max_open_files)
}

/// Is there something in the later list that is not in the earlier one? Without a list there is everything.
fn has_more<T: PartialEq>(was: Option<&[T]>, is: Option<&[T]>) -> bool {
    match (was, is) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(was), Some(is)) => is.iter().any(|it| !was.contains(it)),
    }
}

/// Without a bound everything is allowed.
fn is_higher<T: PartialOrd>(was: Option<T>, is: Option<T>) -> bool {
    match (was, is) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(was), Some(is)) => is > was,
    }
}

fn of_user(was: &User, is: &User, found: &mut Found) {
    let name = &is.name;
    let before = found.0.len();
    match (was.admin, is.admin) {
        (false, true) => found.weaker(format!("users.yaml: {name} administers the host")),
        (true, false) => {
            found.other(format!("users.yaml: {name} administers the host no more"));
        }
        _ => {}
    }
    let more = match (&was.agents, &is.agents) {
        (Agents::All, _) => false,
        (Agents::Only(_), Agents::All) => true,
        (Agents::Only(was), Agents::Only(is)) => is.iter().any(|it| !was.contains(it)),
    };
    if more {
        found.weaker(format!("users.yaml: {name} may use more agents"));
    }
    if was.tools_deny.iter().any(|it| !is.tools_deny.contains(it)) {
        found.weaker(format!("users.yaml: fewer tools are denied to {name}"));
    }
    if was.budget != is.budget {
        match (&was.budget, &is.budget) {
            (Budget::Unlimited, _) => found.other(format!("users.yaml: {name} has a budget")),
            _ => found.weaker(format!("users.yaml: the budget of {name} changed")),
        }
    }
    if was.channels != is.channels {
        found.weaker(format!("users.yaml: {name} is somebody else at a messenger"));
    }
    if found.0.len() == before {
        found.other(format!("users.yaml: {name} changed"));
    }
}

fn of_manifest(was: &Manifest, is: &Manifest, found: &mut Found) {
    let agent = &is.agent;
    let before = found.0.len();
    let mut section = |name: &str, is_different: bool| {
        found.section(&format!("agents/{agent}: {name}"), is_different);
    };
    section("tools", was.tools != is.tools);
    section("mcp", was.mcp != is.mcp);
    section("sandbox", was.sandbox != is.sandbox);
    section("sub-agents", was.agents != is.agents);
    section("credentials", was.grants != is.grants);
    section("operations", was.operations != is.operations);
    section("who may use it", was.access != is.access);
    section("guardrail", was.guardrail != is.guardrail);
    if found.0.len() == before {
        found.other(format!("agents/{agent}: its words or its model changed"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
        ] {
            let changes = between(&directory(strict), &directory(&weak));
            let weaker: Vec<&Change> = changes.iter().filter(|it| it.is_weaker).collect();
            assert_eq!(weaker.len(), usize::from(!named.is_empty()), "{changes:?}");
            assert!(weaker.iter().all(|it| it.what.contains(named)), "{changes:?}");
            let back = between(&directory(&weak), &directory(strict));
            let alarms = back.iter().filter(|it| it.is_weaker).count();
            // Another list is neither more nor less.
            assert_eq!(alarms, usize::from(weak.contains("c.example")), "{back:?}");
        }
    }
}
