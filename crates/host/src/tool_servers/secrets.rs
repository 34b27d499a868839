//! Secrets that a manifest names for a server: each use is judged, in the agent's own session, and recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Caller, Effect, RawCall, ToolDef};
use monitor::{Asked, Monitor, Output, Permit, SERVICES};
use scan::net::Target;
use serde_json::json;
use vault::environment::may_be_set;
use vault::{Keeper, Name, Scope, Want};
use zeroize::Zeroizing;

use super::template::Template;
use crate::doors::mcp::{key_beside, new_tokens};
use crate::gate::Gate;
use crate::remote_server::Keys;

/// Who gives a server its secrets, as long as its session lasts.
pub(super) struct Secrets {
    monitor: Arc<Monitor>,
    keeper: Option<Arc<Keeper>>,
    home: PathBuf,
    who: Caller,
    server: String,
    /// Why it does not work, in our own words.
    why: Mutex<Option<String>>,
}

/// The tool that a use of a server's secrets counts as.
pub(super) fn connection(server: &str) -> Result<ToolDef, String> {
    let def = json!({
        "name": name(server),
        "description": format!("Gives the server {server} what its configuration names."),
        "inputSchema": { "type": "object", "properties": { "names": { "type": "array" } } },
        "annotations": { "readOnlyHint": true },
    });
    ToolDef::from_value(&def).map_err(|error| error.to_string())
}

fn name(server: &str) -> String {
    key_beside(server, "connection")
}

/// Header fields as a manifest has them. One that says who asks names a secret: what is written in a manifest is read by
/// whoever copies it.
pub(super) fn headers(given: &BTreeMap<String, String>) -> Result<Vec<(String, Template)>, String> {
    let read = |(name, value): (&String, &String)| {
        let template = Template::parse(value).map_err(|why| format!("`{name}`: {why}"))?;
        if name.eq_ignore_ascii_case("authorization") && !template.has_secret() {
            let why = "keep the value with `lazaret vault set NAME` and write `vault:NAME`";
            return Err(format!("`{name}` names no secret: {why}"));
        }
        Ok((name.clone(), template))
    };
    given.iter().map(read).collect()
}

impl Secrets {
    pub(super) fn of(gate: &Gate, home: &Path, who: &Caller, server: &str) -> Self {
        Self {
            monitor: Arc::clone(&gate.monitor),
            keeper: gate.keeper.clone(),
            home: home.to_owned(),
            who: who.clone(),
            server: server.to_owned(),
            why: Mutex::default(),
        }
    }

    /// Why the server does not work, if that is our own word: what comes by the session is taken for the server's, and withheld.
    pub(super) fn why(&self) -> Option<String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The variables of a server's environment, with their secrets in their places.
    pub(super) fn fill(
        &self,
        given: &BTreeMap<String, String>,
    ) -> Result<Vec<(String, OsString)>, String> {
        let mut filled = Vec::new();
        for (variable, value) in given {
            let template = Template::parse(value)?;
            if !template.has_secret() {
                filled.push((variable.clone(), value.into()));
                continue;
            }
            if !may_be_set(variable) {
                let why = "changes what programs do, and is no place for a secret";
                return Err(format!("the variable `{variable}` {why}"));
            }
            let value = template.fill(|name| {
                self.with(&[name.as_str()], |keeper, permit| {
                    let secret = keeper.for_server(permit, name, &self.server);
                    let secret = secret.map_err(|error| error.to_string())?;
                    Ok(Zeroizing::new(secret.reveal(permit).to_owned()))
                })
            });
            let value = value.map_err(|why| format!("`{variable}`: {why}"))?;
            filled.push((variable.clone(), value.as_str().into()));
        }
        Ok(filled)
    }

    /// Does `work` with a permit to use these secrets for the server.
    fn with<T>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Keeper, &Permit<Effect>) -> Result<T, String>,
    ) -> Result<T, String> {
        let none = "there is no vault: `lazaret vault init`";
        let keeper = self.keeper.as_ref().ok_or(none)?;
        let (tool, args) = (name(&self.server), json!({ "names": names }).to_string());
        let call = Asked::Tool(RawCall { tool: &tool, args: args.as_bytes() });
        let begun = self.monitor.begin(&self.who, &call);
        let (permit, begun) = begun.map_err(|refusal| refusal.to_string())?;
        let done = work(keeper, &permit);
        let said = if done.is_ok() { "given" } else { "not given" };
        // What is not recorded to its end is not given out.
        let output = Output { words: monitor::Words::Ours, ..Output::text(said) };
        let finished = self.monitor.finish(begun, output);
        finished.map_err(|error| error.to_string())?;
        done
    }
}

/// For a server with an address: each secret is for the origin that it is sent to, or not given.
impl Keys for Secrets {
    fn secret(&self, _: &str, name: &str, url: &str) -> Result<Zeroizing<String>, String> {
        let name = Name::parse(name).map_err(|error| error.to_string())?;
        let settings = crate::admission::settings(&self.home).map_err(|it| it.to_string())?;
        let inner = settings.map(|it| it.egress().inner.clone()).unwrap_or_default();
        let target = Target::within(url, &inner).map_err(|refused| refused.to_string())?;
        self.with(&[name.as_str()], |keeper, permit| {
            let want = Want { name: &name, domain: SERVICES, target: &target, purpose: "mcp" };
            let secret = keeper.resolve(permit, &Scope::Host, &want);
            let secret = secret.map_err(|error| error.to_string())?.0;
            Ok(Zeroizing::new(secret.reveal(permit).to_owned()))
        })
    }

    fn renewed(&self, _: &str, tokens: Vec<(String, String)>) -> Result<(), String> {
        let tokens = new_tokens(tokens)?;
        let names: Vec<String> = tokens.iter().map(|it| it.0.as_str().to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.with(&names, |keeper, permit| {
            keeper.store(permit, tokens).map_err(|error| error.to_string())
        })
    }

    fn tell(&self, _: &str, why: &str) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_owned());
    }
}
