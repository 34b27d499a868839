//! Layer 4: which agents a user may use, and which tools are denied to that user.

use model::{AgentId, Objection};

use super::{deny, shown};
use crate::access::{Access, Agents, Layer, Manifest, Request, User};

pub(in crate::access) fn check(
    user: &User,
    manifest: &Manifest,
    request: &Request<'_>,
) -> Result<(), Objection> {
    user.may_use(manifest)?;
    if let Some(pattern) = user.tools_deny.iter().find(|it| request.tool.is_denied_by(it)) {
        let tool = shown(request.tool.name());
        let why = format!("`{tool}` is denied to the user `{}` (by `{pattern}`)", user.name);
        return Err(deny(
            Layer::User,
            "denied_to_user",
            why,
            "have the operator change the users file",
        ));
    }
    Ok(())
}

impl User {
    /// May the user use this agent at all? Both must say so: the user's entry and the manifest.
    ///
    /// # Errors
    /// If not.
    pub fn may_use(&self, manifest: &Manifest) -> Result<(), Objection> {
        let listed = match &self.agents {
            Agents::All => true,
            Agents::Only(agents) => agents.contains(&manifest.agent),
        };
        let open = match &manifest.access {
            Access::Public => true,
            Access::Private => false,
            Access::Users(users) => users.contains(&self.name),
        };
        if listed && open {
            return Ok(());
        }
        let why = format!("the user `{}` may not use the agent `{}`", self.name, manifest.agent);
        let remedy =
            "the users file must list the agent, and its manifest must be open to the user";
        Err(deny(Layer::User, "agent_not_open", why, remedy))
    }

    /// The same user with at most these agents, as a token may say. Such a token administers nothing.
    #[must_use]
    pub fn narrowed_to(self, names: &[String]) -> Self {
        let named = |it: &AgentId| names.iter().any(|name| name == it.as_str());
        let agents = match self.agents {
            Agents::All => names.iter().filter_map(|it| AgentId::parse(it).ok()).collect(),
            Agents::Only(agents) => agents.into_iter().filter(named).collect(),
        };
        Self { agents: Agents::Only(agents), admin: false, ..self }
    }

    /// May the user administer the host?
    ///
    /// # Errors
    /// If not.
    pub fn may_administer(&self) -> Result<(), Objection> {
        if self.admin {
            return Ok(());
        }
        let why = format!("the user `{}` does not administer this host", self.name);
        Err(deny(Layer::User, "not_admin", why, "the users file must say `admin: true`"))
    }

    /// May the user see and delete what is kept of `other`? Their own they may see; the rest is an administrator's.
    ///
    /// # Errors
    /// If not.
    pub fn may_see_data_of(&self, other: &str) -> Result<(), Objection> {
        if self.name.as_str() == other { Ok(()) } else { self.may_administer() }
    }
}
