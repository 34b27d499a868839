//! MCP servers that are reached at an address.

mod callback;
pub(super) mod login;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use ::mcp::http::client::Remote;
use ::mcp::stdio::Server;
use host::remote_server::{self, Keys, SentAlong};
use host::tool_servers::Template;
use host::{NamedWay, OpenedBy};
use vault::environment::may_be_set;
use zeroize::Zeroizing;

use super::gate::DaemonGate;
use crate::failure::Failure;
use crate::output;

/// A server with an address, as a person has named it.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    pub(super) headers: Vec<(String, Template)>,
    pub(super) by: OpenedBy,
}

/// Prepares a server with an address. Nothing is sent before the client says something.
pub(super) fn connect(
    home: &Path,
    gate: &Arc<DaemonGate>,
    named: Named<'_>,
) -> Result<(Remote, Server), Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", named.name));
    let way = NamedWay::to(home, named.url, named.by).map_err(|error| wrong(&error))?;
    // The token of a login counts for exactly this name and address.
    let along = SentAlong { headers: named.headers, login: true };
    let keys: Arc<dyn Keys> = Arc::<DaemonGate>::clone(gate);
    Ok(remote_server::connect(home, named.name, way, along, keys))
}

/// The daemon binds each secret to the server's origin and records each use.
impl Keys for DaemonGate {
    fn secret(&self, server: &str, name: &str, url: &str) -> Result<Zeroizing<String>, String> {
        Self::secret(self, server, name, Some(url)).map_err(|error| error.0)
    }

    fn renewed(&self, server: &str, tokens: Vec<(String, String)>) -> Result<(), String> {
        Self::renewed(self, server, tokens).map_err(|error| error.0)
    }

    fn tell(&self, server: &str, why: &str) {
        output::note(&format!("the server `{server}`: {why}"));
    }
}

/// Reads header fields of the command line, `NAME: VALUE`. One that says who asks names a secret: arguments of a program
/// are seen by other users of the machine.
pub(super) fn headers_of_arguments(given: &[String]) -> Result<Vec<(String, Template)>, Failure> {
    let read = |it: &String| {
        let (name, value) = it.split_once(':').ok_or_else(|| {
            Failure::usage("a header is written as `NAME: VALUE`, with `vault:SECRET` in the value")
        })?;
        let template = Template::parse(value.trim()).map_err(Failure::usage)?;
        if name.eq_ignore_ascii_case("authorization") && !template.has_secret() {
            return Err(Failure::usage(
                "arguments are seen by others: keep the value with `lazaret vault set NAME` and write `vault:NAME`",
            ));
        }
        Ok((name.trim().to_owned(), template))
    };
    given.iter().map(read).collect()
}

/// Reads header fields of a configuration.
pub(super) fn headers_of_config(
    given: &BTreeMap<String, String>,
) -> Result<Vec<(String, Template)>, Failure> {
    given
        .iter()
        .map(|(name, value)| Ok((name.clone(), Template::parse(value).map_err(Failure::usage)?)))
        .collect()
}

/// Returns variables of a server's environment with their secrets filled in from the vault.
pub(super) fn variables(
    gate: &DaemonGate,
    server: &str,
    given: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<(String, OsString)>, Failure> {
    let mut filled = Vec::new();
    for (variable, value) in given {
        let template = Template::parse(&value).map_err(Failure::usage)?;
        if !template.has_secret() {
            filled.push((variable, value.into()));
            continue;
        }
        if !may_be_set(&variable) {
            let why = "changes what programs do, and is no place for a secret";
            return Err(Failure::usage(format!("the variable `{variable}` {why}")));
        }
        let value = template.fill(|name| gate.secret(server, name.as_str(), None));
        let value = value
            .map_err(|error| Failure::refused(format!("{server}: `{variable}`: {}", error.0)))?;
        filled.push((variable, value.as_str().into()));
    }
    Ok(filled)
}

/// Reads `ENV=NAME`: a variable, and the secret that it is filled with.
pub(super) fn secret_variable(text: &str) -> Result<(String, String), String> {
    let (variable, name) =
        text.split_once('=').ok_or("write `ENV=NAME`: a variable and a secret of the vault")?;
    vault::Name::parse(name).map_err(|error| error.to_string())?;
    Ok((variable.to_owned(), format!("vault:{name}")))
}
