//! Servers of one session: programs that are started, and servers with an address.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use ::mcp::Gate as _;
use ::mcp::http::client::Remote;
use ::mcp::stdio::{Pipe, Server};
use host::OpenedBy;
use host::doors::mcp::servers::{
    Command, StartedBy, folder_that_counts, line_of_address, line_of_command,
};
use host::doors::mcp::{CAGE, LINE, REACHED, RUNS};
use host::tool_servers::{Fetched, Template};
use sandbox::{Piped, Pipes, Said};
use serde_json::json;

use super::cage::CageArgs;
use super::environment;
use super::gate::DaemonGate;
use super::remote::{self, Named};
use crate::failure::Failure;
use crate::output;

/// A server that can be started or reached, again for each session.
pub(super) struct Spec {
    pub(super) name: String,
    pub(super) way: Way,
}

/// How a server is reached.
pub(super) enum Way {
    Started(Program),
    Named { url: String, headers: Vec<(String, Template)>, by: OpenedBy },
}

/// A server that is started.
pub(super) struct Program {
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// Variables of ours that it gets.
    pub(super) env: Vec<String>,
    /// Variables with their values, or with secrets of the vault.
    pub(super) variables: Vec<(String, String)>,
    pub(super) cage: CageArgs,
}

/// What a cage's program ends with, as shells do, if its command cannot be run or is not there.
pub(super) const NOT_RUN: [i32; 2] = [126, 127];

/// Servers that run.
#[derive(Default)]
pub(super) struct Running {
    programs: Vec<(String, Piped)>,
    remotes: Vec<Remote>,
}

/// Starts or prepares every server. If one cannot be, the others end.
pub(super) fn start(
    specs: &[Spec],
    home: &Path,
    gate: &Arc<DaemonGate>,
) -> Result<(Running, Vec<Server>), Failure> {
    let (mut running, mut servers) = (Running::default(), Vec::new());
    for spec in specs {
        match running.add(spec, home, gate) {
            Ok(server) => servers.push(server),
            Err(failure) => {
                running.end();
                return Err(failure);
            }
        }
    }
    Ok((running, servers))
}

impl Running {
    fn add(&mut self, spec: &Spec, home: &Path, gate: &Arc<DaemonGate>) -> Result<Server, Failure> {
        let name = &spec.name;
        match &spec.way {
            Way::Started(program) => {
                let (program, server) = program.start(name, home, gate)?;
                self.programs.push((name.clone(), program));
                Ok(server)
            }
            Way::Named { url, headers, by } => {
                let line = line_of_address(url);
                gate.lifecycle(name, REACHED, &json!({ LINE: line.sha256, RUNS: line.runs }));
                let named = Named { name, url, headers: headers.clone(), by: *by };
                let (remote, server) = remote::connect(home, gate, named)?;
                self.remotes.push(remote);
                Ok(server)
            }
        }
    }

    /// Ends all of them, and says which programs had ended with an error, and with which status. Those that are far away are told at
    /// once: one that does not answer keeps no other waiting.
    pub(super) fn end(self) -> Vec<(String, i32)> {
        let mut failed = Vec::new();
        for (name, mut program) in self.programs {
            let before = program.ended().ok().flatten().filter(|it| *it != 0);
            let after = program.end().filter(|it| NOT_RUN.contains(it));
            failed.extend(before.or(after).map(|status| (name, status)));
        }
        let remotes = self.remotes.into_iter();
        let ending: Vec<_> = remotes.map(|it| thread::spawn(move || it.end())).collect();
        ending.into_iter().for_each(|it| drop(it.join()));
        failed
    }
}

impl Program {
    fn start(
        &self,
        name: &str,
        home: &Path,
        gate: &DaemonGate,
    ) -> Result<(Piped, Server), Failure> {
        let variables = remote::variables(gate, name, self.variables.iter().cloned())?;
        let Some((program, rest)) = self.words.split_first() else {
            return Err(Failure::usage("name the server's program behind `--`"));
        };
        let is_caged = !self.cage.no_cage;
        let (program, rest) = match is_caged {
            true => {
                // What it is to have and we have not, it does without.
                let given = self.env.iter().filter(|it| std::env::var_os(it).is_some());
                let given = given.chain(variables.iter().map(|it| &it.0)).map(String::as_str);
                self.cage.command(&self.words, &given.collect::<Vec<_>>(), home)?
            }
            false => (program.clone(), rest.to_vec()),
        };
        let mut env = environment(&self.env);
        env.extend(variables);
        let line = self.line(&env, home);
        let detail = json!({
            "caged": is_caged, "network": self.cage.network, LINE: line.sha256, RUNS: line.runs,
        });
        gate.lifecycle(name, CAGE, &detail);
        let (child, pipes) =
            Piped::start(&program, &rest, &env, Said::WithOurs).map_err(|error| {
                Failure::unable(format!("{name}: `{}`: {error}", program.to_string_lossy()))
            })?;
        let Pipes { input, output } = pipes;
        let (name, input) = (name.to_owned(), Box::new(Pipe::new(input)));
        Ok((child, Server { name, input, output: Box::new(output) }))
    }
}

impl Program {
    /// By what it is known.
    fn line(&self, env: &[(String, OsString)], home: &Path) -> StartedBy {
        let cage = &self.cage;
        let opened = (cage.network.as_slice(), cage.readable.as_slice());
        // What was fetched before is run from where it lies, in a cage without a network.
        let is_kept =
            !cage.no_cage && cage.network.is_empty() && Fetched::read(&self.words).is_some();
        let here = std::env::current_dir().unwrap_or_default();
        let folder = if is_kept { None } else { folder_that_counts(home, &here) };
        line_of_command(&Command {
            words: &self.words,
            env,
            cage: (!cage.no_cage).then_some(opened),
            folder: folder.as_deref(),
        })
    }
}

/// Says how servers are caged, once for all sessions.
pub(super) fn tell_of_cages(specs: &[Spec]) {
    for Spec { name, way } in specs {
        let Way::Started(program) = way else { continue };
        let reach = match program.cage.network.is_empty() {
            true => "no network",
            false => "the hosts that you named",
        };
        if !program.cage.no_cage {
            output::hint(&format!(
                "{name} runs in a cage: this directory, and {reach}. If it needs more: --network HOST, --read PATH, or --no-cage",
            ));
        }
    }
}
