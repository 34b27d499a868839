//! `lazaret mcp serve`: several servers behind one endpoint.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use ::mcp::stdio::{self, Naming, Server};
use sandbox::{Piped, Pipes};
use serde::Deserialize;

use super::environment;
use super::gate::DaemonGate;
use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Put the gate before several MCP servers, behind one endpoint on stdin and stdout.
///
/// The configuration is that of MCP clients: {"mcpServers": {NAME: {"command": …, "args": […], "env": {…}}}}. The client
/// sees every tool as NAME__TOOL. A server that crashes or hangs harms no other.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// The longest configuration, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Servers behind one endpoint.
const SERVERS_MAX: usize = 64;

/// A configuration of MCP clients, as far as servers are started by it.
#[derive(Deserialize)]
struct Config {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Started>,
}

/// A server that is started. What else a client may write there is for the client.
#[derive(Deserialize)]
struct Started {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let config = read(args)?;
    let home = args.home.dir()?;
    daemon::start(&home)?;
    let gate = DaemonGate::new(home).map_err(Failure::unable)?;
    let (mut running, mut peers) = (Vec::new(), Vec::new());
    for (name, server) in config.servers {
        let words: Vec<OsString> = server.args.iter().map(OsString::from).collect();
        let mut env = environment(&[]);
        env.extend(server.env.into_iter().map(|(name, value)| (name, value.into())));
        let (child, pipes) = Piped::start(server.command.as_ref(), &words, &env)
            .map_err(|error| Failure::unable(format!("{name}: `{}`: {error}", server.command)))?;
        let Pipes { input, output } = pipes;
        running.push(child);
        peers.push(Server { name, input: Box::new(input), output: Box::new(output) });
    }
    let served = stdio::run(Arc::new(gate), peers, Naming::Prefixed, io::stdin(), io::stdout());
    running.into_iter().for_each(Piped::end);
    served.map_err(Failure::unable)?;
    Ok(Exit::Done)
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
