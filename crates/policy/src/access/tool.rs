//! What the name of a tool says, read the same way by every layer.

use model::EffectKind;

use super::Domain;

/// How tools of servers begin.
const PREFIX: &str = "mcp__";
/// The action by which work is handed to sub-agents.
const DELEGATE: &str = "agent_delegate";

/// A tool as the layers see it.
///
/// A tool counts as of every domain that its name, its last part or its effect speaks of. For
/// what closes (a domain that is off, a denial) all of them count; for what opens, only those that
/// a server cannot give itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool<'a> {
    full: String,
    suffix: String,
    server: Option<String>,
    name: &'a str,
    effect: EffectKind,
    /// Of the host's own servers or of the effect.
    own: Vec<Domain>,
    /// Only by resemblance.
    alike: Vec<Domain>,
}

impl<'a> Tool<'a> {
    /// Reads `name` for an agent: `mcp__<agent>-<domain>__<tool>` is one of the host's own servers,
    /// `mcp__<server>__<tool>` somebody else's, anything else a tool without a server.
    #[must_use]
    pub fn new(agent: &str, name: &'a str, effect: EffectKind) -> Self {
        let full = folded(name);
        let (server, suffix) = match full.strip_prefix(PREFIX).and_then(|it| it.split_once("__")) {
            Some((server, suffix)) => (Some(server.to_owned()), suffix.to_owned()),
            None => (None, full.clone()),
        };
        let mut own: Vec<_> = Domain::of_effect(effect).into_iter().collect();
        let mut alike: Vec<_> = Domain::of_tool(&suffix).into_iter().collect();
        let home = server.as_deref().and_then(|it| host_domain(agent, it));
        own.extend(home);
        match &server {
            // A bare name is the host's own tool.
            None => own.append(&mut alike),
            Some(server) => alike.extend(resembling(server)),
        }
        let server = server.filter(|_| home.is_none());
        Self { full, suffix, server, name, effect, own, alike }
    }

    /// Counts it as of the domain of commands, too: some of its arguments are run, whatever it is called.
    #[must_use]
    pub fn running_commands(mut self, runs: bool) -> Self {
        if runs && !self.own.contains(&Domain::Shell) {
            self.alike.push(Domain::Shell);
        }
        self
    }

    /// The name as it was given.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The server, if it is not one of the host's own.
    #[must_use]
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The last part of its name, in small letters.
    #[must_use]
    pub fn last_part(&self) -> &str {
        &self.suffix
    }

    /// Is a tool called at all? Messages and the agent's own thinking are no tools; of the layers, only the user's is about
    /// them: who may use the agent, and what is denied to them by its name.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.effect.is_call()
    }

    /// Does it hand work to a sub-agent of the host's own?
    #[must_use]
    pub fn hands_on(&self) -> bool {
        self.effect == EffectKind::AgentDelegate && self.full == DELEGATE
    }

    /// Does it ask a model a question, in the agent's words?
    #[must_use]
    pub fn asks_model(&self) -> bool {
        self.effect == EffectKind::ModelQuery && self.server.is_none()
    }

    /// The domains that it truly belongs to.
    #[must_use]
    pub fn domains(&self) -> &[Domain] {
        &self.own
    }

    /// Does it belong to `domain`, or look as if it did?
    #[must_use]
    pub fn resembles(&self, domain: Domain) -> bool {
        self.own.contains(&domain) || self.alike.contains(&domain)
    }

    /// Does `pattern`, in small letters, name it: in full, by its last part, or by a domain?
    #[must_use]
    pub fn is_named(&self, pattern: &str) -> bool {
        pattern == self.full
            || pattern == self.suffix
            || Domain::parse(pattern).is_some_and(|it| self.resembles(it))
    }

    /// Does a denial of `pattern` hold for it: one of its names, or the name that another program has for it?
    #[must_use]
    pub fn is_denied_by(&self, pattern: &str) -> bool {
        self.is_named(pattern) || is_same(pattern, &self.suffix)
    }
}

/// Does an action of ours with this name do what others call `pattern`?
fn is_same(pattern: &str, name: &str) -> bool {
    Domain::same_as(pattern).iter().any(|it| it.as_str() == name)
}

/// Small letters: `Shell_Exec` is no other tool than `shell_exec`.
pub(crate) fn folded(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// Is it `<agent>-<domain>`?
pub(crate) fn host_domain(agent: &str, server: &str) -> Option<Domain> {
    let rest = server.strip_prefix(&agent.to_ascii_lowercase())?;
    Domain::parse(rest.strip_prefix('-')?)
}

fn resembling(server: &str) -> Option<Domain> {
    let last = server.rsplit('-').next().unwrap_or(server);
    Domain::parse(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool<'a>(name: &'a str) -> Tool<'a> {
        Tool::new("billing", name, EffectKind::ToolRead)
    }

    #[test]
    fn only_the_hosts_own_servers_give_a_domain() {
        assert_eq!(tool("mcp__billing-shell__run").domains(), [Domain::Shell]);
        assert_eq!(tool("mcp__billing-shell__run").server(), None);
        for name in ["mcp__evil__shell_exec", "mcp__other-shell__run", "mcp__shell__run"] {
            let tool = tool(name);
            assert_eq!(tool.domains(), [], "{name}");
            assert!(tool.resembles(Domain::Shell), "{name}");
            assert!(tool.server().is_some(), "{name}");
        }
    }

    #[test]
    fn the_effect_counts_whatever_the_name() {
        let bash = Tool::new("billing", "Bash", EffectKind::ShellExec);
        assert_eq!(bash.domains(), [Domain::Shell]);
        assert!(tool("SHELL_EXEC").resembles(Domain::Shell));
    }

    #[test]
    fn what_runs_commands_is_closed_with_the_shell_and_opened_by_nothing_of_it() {
        let bash = tool("Bash");
        assert!(!bash.is_denied_by("shell"));
        let bash = bash.running_commands(true);
        assert!(bash.is_denied_by("shell") && bash.resembles(Domain::Shell));
        assert_eq!(bash.domains(), []);
    }

    #[test]
    fn a_name_is_matched_whole() {
        let tool = tool("mcp__billing-web__braintree_admin");
        assert!(tool.is_named("braintree_admin") && tool.is_named("web"));
        let edit = Tool::new("billing", "file_edit", EffectKind::FileWrite);
        assert!(edit.is_denied_by("edit_file") && edit.is_denied_by("file_edit"));
        assert!(!edit.is_denied_by("write_file") && !edit.is_named("edit_file"));
        assert!(!tool.is_named("braintree") && !tool.is_named("admin") && !tool.is_named(""));
    }
}
