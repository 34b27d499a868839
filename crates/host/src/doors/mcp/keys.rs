//! Secrets for MCP servers: for the header of one with an address, and for the environment of one that is started.
//!
//! Who connects here is a gateway of the same user, and not an agent: it asks for what a person's configuration names.
//! Each use is judged and recorded in a session of its own, which has read nothing.

use model::Caller;
use monitor::{Asked, Output, Permit, SERVICES};
use scan::net::Target;
use serde_json::{Value, json};
use vault::{Keeper, Name, Scope, Secret, Want};
use zeroize::Zeroizing;

use super::Doors;
use super::request::Judged;
use super::session;

/// By this the names of secrets begin that a login has made: no others are changed from here.
pub const LOGIN_PREFIX: &str = "MCP_";

/// New values of tokens that a login has made, as the vault keeps them. Nothing else is changed by whoever renews them.
pub(crate) fn new_tokens(tokens: Vec<(String, String)>) -> Result<Vec<(Name, Secret)>, String> {
    let mut values = Vec::new();
    let tokens = tokens.into_iter().map(|(name, value)| (name, Zeroizing::new(value)));
    for (name, value) in tokens {
        if !name.starts_with(LOGIN_PREFIX) {
            return Err("only the tokens of a login are changed here".to_owned());
        }
        let name = Name::parse(&name).map_err(|error| error.to_string())?;
        let secret = Secret::new(value).and_then(Secret::unless_guessable);
        values.push((name, secret.map_err(|error| error.to_string())?));
    }
    Ok(values)
}

impl Doors<'_> {
    /// Gives a secret, for the address that it is sent to or, without one, for the environment of a server.
    pub(super) fn mcp_secret(
        &self,
        server: &str,
        name: &str,
        url: Option<&str>,
    ) -> Result<Value, String> {
        let name = Name::parse(name).map_err(|error| error.to_string())?;
        // Where it goes is recorded with its use; that address is the person's choice and not for guards to judge.
        let about = json!({ "names": [name.as_str()] });
        self.mcp_with_keys(server, &about, |keeper, permit| {
            let secret = match url {
                Some(url) => {
                    let target = &self.mcp_target(url)?;
                    let want = Want { name: &name, domain: SERVICES, target, purpose: "mcp" };
                    keeper.resolve(permit, &Scope::Host, &want).map(|it| it.0)
                }
                None => keeper.for_server(permit, &name, server),
            };
            let secret = secret.map_err(|error| error.to_string())?;
            Ok(json!({ "value": secret.reveal(permit) }))
        })
    }

    /// Keeps new values of tokens that a login has made.
    pub(super) fn mcp_renewed(
        &self,
        server: &str,
        tokens: Vec<(String, String)>,
    ) -> Result<Value, String> {
        let values = new_tokens(tokens)?;
        let names: Vec<&str> = values.iter().map(|it| it.0.as_str()).collect();
        let about = json!({ "names": names });
        self.mcp_with_keys(server, &about, |keeper, permit| {
            keeper.store(permit, values).map_err(|error| error.to_string())?;
            Ok(json!({}))
        })
    }

    fn mcp_target(&self, url: &str) -> Result<Target, String> {
        let settings = crate::admission::settings(self.home).map_err(|error| error.to_string())?;
        let inner = settings.map(|it| it.egress().inner.clone()).unwrap_or_default();
        Target::within(url, &inner)
            .or_else(|refused| Target::dangerously_on_this_machine(url).map_err(|_| refused))
            .map_err(|refused| refused.to_string())
    }

    /// Does `work` with a permit, in a session of its own.
    fn mcp_with_keys(
        &self,
        server: &str,
        about: &Value,
        work: impl FnOnce(&Keeper, &Permit<model::Effect>) -> Result<Value, String>,
    ) -> Result<Value, String> {
        let none = "there is no vault: `lazaret vault init`, then `lazaret daemon stop`";
        let keeper = self.gate.keeper.as_ref().ok_or(none)?;
        let (session, is_again) = session::asked(&[])?;
        let mut client = self.mcp_opened(&session, is_again)?;
        let asked = Judged { server, kind: "connection", name: "connection", arguments: about };
        let tool = asked.tool();
        client.tools.insert(tool.clone(), asked.definition(&tool)?);
        let done = self.mcp_reopen(&mut client).and_then(|()| {
            let args = about.to_string();
            let call = Asked::Tool(model::RawCall { tool: &tool, args: args.as_bytes() });
            let begun = self.gate.monitor.begin(&client.who, &call);
            let (permit, begun) = begun.map_err(|refusal| refusal.to_string())?;
            let done = work(keeper, &permit);
            let said = if done.is_ok() { "given" } else { "not given" };
            // What is not recorded to its end is not given out.
            let finished = self.gate.monitor.finish(begun, Output::text(said));
            finished.map_err(|error| error.to_string()).and(done)
        });
        self.mcp_left(&client.who);
        done
    }

    fn mcp_left(&self, who: &Caller) {
        // A session that is not ended ends by itself.
        let _ = self.gate.monitor.end_session(who);
    }
}
