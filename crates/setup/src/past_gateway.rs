//! MCP servers that an agent reaches past our gateway, or by one that is not there: added since the agent was wired, or left as they
//! were.

use std::path::{Path, PathBuf};

use files::safe_path;
use hooks::Host;
use serde_json::{Map, Value};

use crate::command::{Cages, GatewayCommand};
use crate::find::{defined, is_program, read};
use crate::mcp::{self, Fate};
use crate::surroundings::Surroundings;

/// What to do where `lazaret init` can do it.
const NEXT: &str = "next step: `lazaret init`";
/// The same where it is a project's file.
const NEXT_IN_PROJECT: &str = "next step: `lazaret init --project .`";

/// A server that no gateway is before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PastGateway {
    /// Its name; none where its file cannot be read.
    pub name: Option<String>,
    /// The file that names it.
    pub file: PathBuf,
    /// Why, and what to do, in one sentence.
    pub why: String,
}

/// Looks at the servers that an agent's configuration names and has not switched off.
#[must_use]
pub fn past_gateway(around: &Surroundings, host: Host) -> Vec<PastGateway> {
    let roots = around.roots();
    let mut all = Vec::new();
    for file in around.mcp_files(host) {
        let servers = match read(&file, &roots) {
            Ok(None) => continue,
            Ok(Some(text)) => defined(host, &text),
            Err(why) => Err(why),
        };
        let is_projects = around.project.as_ref().is_some_and(|it| file.starts_with(it));
        let next = if is_projects { NEXT_IN_PROJECT } else { NEXT };
        match servers {
            Ok(servers) => {
                let open = servers.into_iter().filter(|it| !is_off(&it.1));
                all.extend(open.filter_map(|(name, server)| {
                    let why = why(around, host, (&name, &server), next)?;
                    Some(PastGateway { name: Some(name), file: file.clone(), why })
                }));
            }
            Err(why) => all.push(PastGateway { name: None, file, why }),
        }
    }
    all
}

fn is_off(server: &Map<String, Value>) -> bool {
    server.get("enabled") == Some(&Value::Bool(false))
        || server.get("disabled") == Some(&Value::Bool(true))
}

/// What is wrong with one; none if it goes through a gateway that is there.
fn why(
    around: &Surroundings,
    host: Host,
    (name, server): (&str, &Map<String, Value>),
    next: &str,
) -> Option<String> {
    let line = mcp::command_line(server).filter(|it| mcp::is_wrapped(it, &around.lazaret));
    if let Some(program) = line.as_deref().and_then(<[String]>::first) {
        let why = format!("its gateway `{program}` is not there or cannot be run; {next}");
        return (!is_there(around, program)).then_some(why);
    }
    let cages = Cages { all: false, known: None };
    let gateway = match GatewayCommand::of(around, cages) {
        Ok(gateway) => gateway,
        Err(error) => return Some(error.to_string()),
    };
    Some(match mcp::fate(name, server, host, &gateway) {
        Fate::Leave(why) => format!("it does not go through the gateway: {why}"),
        Fate::Wrapped | Fate::Wrap(..) => format!("it does not go through the gateway; {next}"),
    })
}

/// Is there a program of this name, as the agent looks for it?
fn is_there(around: &Surroundings, program: &str) -> bool {
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    let mut folders = around.path_dirs.iter();
    folders.any(|it| safe_path(it, &[program]).is_ok_and(|it| is_program(&it)))
}
