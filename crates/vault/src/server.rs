//! The key of a program that somebody starts with it: an MCP server whose configuration names a secret, or a plugin whose
//! manifest does.

use std::sync::Arc;

use monitor::{COMMANDS, Permit};
use policy::access::KeyGrant;
use serde_json::json;

use crate::keeper::{Keeper, beside};
use crate::name::Name;
use crate::resolve_error::ResolveError;
use crate::scope::Scope;
use crate::secret::Secret;

impl Keeper {
    /// Gives a secret to a program by its environment, because the operator's own configuration says so. It is for no
    /// host: what the program does with it nobody sees.
    ///
    /// # Errors
    /// If it is not there or is for hosts, or its use cannot be recorded.
    pub fn for_server<E>(
        &self,
        permit: &Permit<E>,
        name: &Name,
        server: &str,
    ) -> Result<Arc<Secret>, ResolveError> {
        self.for_program(permit, name, Ok(()), ("mcp_server", "server", server))
    }

    /// Gives a secret to a plugin by its environment, because a person added it with a manifest that names it, and the agent
    /// for which it runs may use the key for programs. As for a server, it is for no host.
    ///
    /// # Errors
    /// If the agent has no grant for it, it is not there or is for hosts, or its use cannot be recorded.
    pub fn for_plugin<E>(
        &self,
        permit: &Permit<E>,
        scope: &Scope,
        name: &Name,
        plugin: &str,
    ) -> Result<Arc<Secret>, ResolveError> {
        let allowed = match scope {
            Scope::OnePerson | Scope::Host => Ok(()),
            Scope::Manifest { manifest, origin } => {
                match manifest.key(name.as_str(), COMMANDS, *origin) {
                    KeyGrant::Granted(_) | KeyGrant::Legacy => Ok(()),
                    // Nothing asks a person about the key of a program.
                    KeyGrant::NeedsApproval(_) => Err(ResolveError::NotApproved(name.clone())),
                    KeyGrant::NotGranted => Err(ResolveError::NotGranted(name.clone())),
                }
            }
        };
        self.for_program(permit, name, allowed, ("plugin", "plugin", plugin))
    }

    fn for_program<E>(
        &self,
        permit: &Permit<E>,
        name: &Name,
        allowed: Result<(), ResolveError>,
        (purpose, what, program): (&str, &str, &str),
    ) -> Result<Arc<Secret>, ResolveError> {
        let found = match (allowed, self.current(name)?) {
            (Err(why), _) => Err(why),
            (Ok(()), None) => Err(ResolveError::Missing(name.clone())),
            // INVARIANT (BoundToHosts): what is for hosts is not given to who may send it anywhere.
            (Ok(()), Some((_, true))) => Err(ResolveError::ForHosts(name.clone())),
            (Ok(()), Some((secret, false))) => Ok(secret),
        };
        let content = json!({
            "decision": if found.is_ok() { "allow" } else { "deny" },
            "domain": COMMANDS.as_str(),
            "keys": [name.as_str()],
            "mode": "host",
            "purpose": purpose,
            what: program,
        });
        self.append(beside(permit.who(), permit.record(), "credential", content))?;
        found
    }
}
