//! The keys that a command of an agent gets: those that a grant names for the shell, and no other.
//!
//! A command can do anything with what it is given. So nothing is given because nothing was said: neither on one
//! person's machine nor by a manifest that is silent about keys.

use std::sync::Arc;

use model::ipc::ShellExec;
use monitor::{COMMANDS, Permit, Rule};
use policy::access::KeyGrant;
use serde_json::json;

use crate::environment::may_be_set;
use crate::keeper::{Keeper, beside};
use crate::name::Name;
use crate::resolve_error::ResolveError;
use crate::scope::Scope;
use crate::secret::Secret;

impl Keeper {
    /// The keys for the command that `permit` permits, by the names that they have in its environment. One for which a
    /// person is asked each time is given if the command names it and the person said yes.
    ///
    /// # Errors
    /// If the vault does not open any more, or it cannot be recorded. Then the command must not run.
    pub fn for_command(
        &self,
        permit: &Permit<ShellExec>,
        scope: &Scope,
    ) -> Result<Vec<(Name, Arc<Secret>)>, ResolveError> {
        let (manifest, origin) = match scope {
            Scope::OnePerson | Scope::Host => return Ok(Vec::new()),
            Scope::Manifest { manifest, origin } => (manifest, *origin),
        };
        let command = permit.effect().command.as_str();
        let asked = |key: &str| command.contains(key) && permit.was_lifted(Rule::CredentialScope);
        let (mut given, mut grants) = (Vec::new(), Vec::new());
        for (key, grant) in manifest.granted_to(COMMANDS, origin) {
            let grant = match grant {
                KeyGrant::Granted(grant) => grant,
                KeyGrant::NeedsApproval(grant) if asked(key) => grant,
                KeyGrant::NeedsApproval(_) | KeyGrant::Legacy | KeyGrant::NotGranted => continue,
            };
            let name = Name::parse(key).ok().filter(|_| may_be_set(key));
            let Some(name) = name else { continue };
            // One that nobody has set yet is not there: the command sees that itself.
            let Some((secret, _)) = self.current(&name)? else { continue };
            given.push((name, secret));
            grants.push(grant);
        }
        if !given.is_empty() {
            let keys: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
            let content = json!({
                "decision": "allow",
                "domain": COMMANDS.as_str(),
                "grants": grants,
                "keys": keys,
                "mode": manifest.key_mode(origin).as_str(),
                "purpose": "shell_exec",
            });
            let record = beside(permit.who(), permit.record(), "credential", content);
            self.append(record)?;
        }
        Ok(given)
    }
}
