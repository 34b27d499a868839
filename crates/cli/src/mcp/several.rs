//! `lazaret mcp serve`: several servers behind one endpoint.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use ::mcp::stdio::Naming;
use host::OpenedBy;
use serde::Deserialize;

use super::cage::CageArgs;
use super::http::{self, HttpArgs};
use super::http_auth::OauthConfig;
use super::peers::{Program, Spec, Way};
use super::{remote, serve_here};
use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Put the gate before several MCP servers, behind one endpoint: on stdin and stdout, or with --http for many clients.
///
/// The configuration is that of MCP clients: {"mcpServers": {NAME: {"command": …, "args": […], "env": {…}}}}, and for a
/// server with an address {NAME: {"url": …, "headers": {…}}}. Values of `env` and `headers` name secrets of the vault as
/// `vault:SECRET`. The client sees every tool as NAME__TOOL. A server that
/// crashes or hangs harms no other. What a command runs in is a cage, with this directory and no network, unless its entry has
/// "network": [HOST, …], "read": [PATH, …] or "cage": false.
///
/// With --http each client has a session of its own, and legacy clients servers of their own. Whoever calls shows a
/// token: one of this machine (`lazaret mcp token`) or, where the configuration has "oauth": {"issuer": …, "audience": …,
/// "jwks_url": … or "jwks_file": …, "scopes": […]}, an access token of that issuer. TLS is for what stands before it.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    #[command(flatten)]
    http: HttpArgs,
}

/// The longest configuration, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Servers behind one endpoint.
const SERVERS_MAX: usize = 64;

/// A configuration of MCP clients, as far as servers are reached by it.
#[derive(Deserialize)]
struct Config {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Defined>,
    /// Who vouches for clients by HTTP.
    oauth: Option<OauthConfig>,
}

/// A server. What else a client may write there is for the client.
#[derive(Deserialize)]
struct Defined {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "type")]
    transport: Option<String>,
    /// Whether it runs in a cage.
    #[serde(default = "yes")]
    cage: bool,
    /// Hosts that it may reach from there.
    #[serde(default)]
    network: Vec<String>,
    /// What it may read there beside this directory.
    #[serde(default)]
    read: Vec<PathBuf>,
}

const fn yes() -> bool {
    true
}

impl Defined {
    fn way(self, name: &str) -> Result<Way, Failure> {
        let wrong = |why: &str| Err(Failure::usage(format!("{name}: {why}")));
        match (self.command, self.url) {
            (Some(command), None) => {
                let words = std::iter::once(command).chain(self.args).map(OsString::from);
                let cage =
                    CageArgs { no_cage: !self.cage, network: self.network, readable: self.read };
                let opens = !cage.network.is_empty() || !cage.readable.is_empty();
                if opens && !self.cage {
                    return wrong("without a cage there is no `network` or `read` to open");
                }
                let variables = self.env.into_iter().collect();
                let env = Vec::new();
                Ok(Way::Started(Program { words: words.collect(), env, variables, cage }))
            }
            (None, Some(_)) if self.transport.as_deref() == Some("sse") => wrong(
                "the transport `sse` of 2024 is not spoken; ask for its address of streamable HTTP",
            ),
            (None, Some(url)) => {
                let headers = remote::headers_of_config(&self.headers)?;
                Ok(Way::Named { url, headers, by: OpenedBy::Settings })
            }
            (Some(_), Some(_)) => wrong("it names both a command and an address"),
            (None, None) => wrong("it names neither a command nor an address"),
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Config { servers, oauth } = read(args)?;
    let home = args.home.dir()?;
    let specs: Vec<Spec> = servers
        .into_iter()
        .map(|(name, server)| Ok(Spec { way: server.way(&name)?, name }))
        .collect::<Result<_, Failure>>()?;
    daemon::start(&home)?;
    if let Some(address) = args.http.address() {
        let backend = http::Servers { specs, naming: Naming::Prefixed };
        return http::serve(&args.http, address, home, oauth, backend);
    }
    serve_here(&specs, &home, Naming::Prefixed)
}

fn read(args: &Args) -> Result<Config, Failure> {
    let wrong =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", args.config.display()));
    let mut text = String::new();
    let file = File::open(&args.config).map_err(|error| wrong(&error))?;
    file.take(CONFIG_BYTES_MAX).read_to_string(&mut text).map_err(|error| wrong(&error))?;
    let config: Config = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    if config.servers.is_empty() || config.servers.len() > SERVERS_MAX {
        return Err(wrong(&format!(
            "it names {} servers, of 1 to {SERVERS_MAX}",
            config.servers.len()
        )));
    }
    Ok(config)
}
