//! Layer 4: which agents a user may use, and which tools are denied to that user.

use model::Objection;

use super::{deny, shown};
use crate::access::{Access, Agents, Layer, Manifest, Request, User};

pub(in crate::access) fn check(
    user: &User,
    manifest: &Manifest,
    request: &Request<'_>,
) -> Result<(), Objection> {
    user.may_use(manifest)?;
    if let Some(pattern) = user.tools_deny.iter().find(|it| request.tool.is_named(it)) {
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
}
