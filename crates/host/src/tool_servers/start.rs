//! A server is started in its cage, or reached at its address.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::mcp::Gate as Judge;
use ::mcp::http::client::Remote;
use ::mcp::stdio::{Pipe, Server};
use policy::access::{McpServer, Transport};
use sandbox::{Piped, Pipes, Said};
use serde_json::json;
use vault::environment::OF_HOST;

use super::cage::ServerCage;
use super::secrets::{self, Secrets};
use crate::doors::mcp::servers::{Command, line_of_address, line_of_command};
use crate::doors::mcp::{CAGE, LINE, REACHED, RUNS};
use crate::named::{NamedWay, OpenedBy};
use crate::remote_server::{self, SentAlong};
use crate::workspace::Room;

/// A server that runs, or that is far away.
pub(super) enum Running {
    /// A program, and the folder that it has to itself.
    Here { program: Piped, room: Room },
    /// One with an address.
    There(Remote),
}

impl Running {
    /// Ends it: its pipes are closed already.
    pub(super) fn end(self) {
        match self {
            Self::Here { program, room } => {
                program.end();
                drop(room);
            }
            Self::There(remote) => remote.end(),
        }
    }
}

/// Starts or prepares one.
pub(super) fn server(
    home: &Path,
    asked: &McpServer,
    secrets: &Arc<Secrets>,
    judge: &dyn Judge,
) -> Result<(Running, Server), String> {
    let name = &asked.server;
    match &asked.transport {
        Transport::Uri { uri, headers, login } => {
            let along = SentAlong { headers: secrets::headers(headers)?, login: *login };
            let by = line_of_address(uri);
            judge.lifecycle(name, REACHED, &json!({ LINE: by.sha256, RUNS: by.runs }));
            let way = NamedWay::to(home, uri, OpenedBy::Settings);
            let way = way.map_err(|error| error.to_string())?;
            let keys = Arc::<Secrets>::clone(secrets);
            let (remote, server) = remote_server::connect(home, name, way, along, keys);
            Ok((Running::There(remote), server))
        }
        Transport::Command { command, args, env, network, read } => {
            let words: Vec<OsString> =
                std::iter::once(command).chain(args).map(OsString::from).collect();
            let room = Room::make().map_err(|error| error.to_string())?;
            let variables = secrets.fill(env)?;
            let given: Vec<&str> = variables.iter().map(|it| it.0.as_str()).collect();
            let readable: Vec<PathBuf> = read.clone();
            let cage = ServerCage { network, readable: &readable, workspace: Some(room.path()) };
            let (program, rest) = cage.command(&words, &given, home)?;
            let host =
                OF_HOST.iter().filter_map(|it| Some(((*it).to_owned(), std::env::var_os(it)?)));
            let env: Vec<(String, OsString)> = host.chain(variables).collect();
            // Its folder is its own, and empty.
            let cage = Some((network.as_slice(), read.as_slice()));
            let by = line_of_command(&Command { words: &words, env: &env, cage, folder: None });
            let detail = json!({
                "caged": true, "network": network, LINE: by.sha256, RUNS: by.runs,
            });
            judge.lifecycle(name, CAGE, &detail);
            // Nothing that a server prints may reach the terminal of whoever speaks to the agent.
            let started = Piped::start(&program, &rest, &env, Said::Nowhere);
            let (program, pipes) = started.map_err(|error| error.to_string())?;
            let Pipes { input, output } = pipes;
            let (input, output) = (Box::new(Pipe::new(input)), Box::new(output));
            let server = Server { name: name.clone(), input, output };
            Ok((Running::Here { program, room }, server))
        }
    }
}
