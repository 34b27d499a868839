//! `lazaret agents`.

use std::path::Path;

use agent::AgentCard;
use clap::Subcommand;
use host::agents::DEFAULT_AGENT;
use model::AgentId;
use serde_json::json;

use super::bench;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// List, show or make agents.
///
/// An agent is a folder of agents/ in the state directory with a file IDENTITY.md: what it may use and who may use it,
/// then its instructions. Where there is no folder, there is one agent, `main`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the agents.
    List {
        #[command(flatten)]
        home: Home,
        /// Print one JSON object per agent.
        #[arg(long)]
        json: bool,
    },
    /// Show what an agent is.
    Show {
        #[command(flatten)]
        home: Home,
        /// Which.
        #[arg(value_parser = AgentId::parse)]
        agent: AgentId,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure how long a worker takes until it can be spoken to.
    Bench {
        #[command(flatten)]
        home: Home,
        /// Workers one after the other.
        #[arg(long, default_value_t = 20)]
        count: usize,
        /// Workers side by side.
        #[arg(long, default_value_t = 20)]
        at_once: usize,
    },
    /// Make an agent, with a file to be written on.
    ///
    /// Where there is no users.yaml or config.yaml yet, they are made too, for you alone: as soon as there are agents
    /// in files, everybody is admitted by files.
    Create {
        #[command(flatten)]
        home: Home,
        /// Its name: 2 to 64 letters, digits, `-` and `_`.
        #[arg(value_parser = name)]
        agent: AgentId,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The shortest and the longest name, in characters.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 2..=64;

fn name(text: &str) -> Result<AgentId, String> {
    let legal = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    if !NAME_CHARS.contains(&text.len()) || !text.chars().all(legal) {
        return Err("2 to 64 letters, digits, `-` and `_`".to_owned());
    }
    AgentId::parse(text).map_err(|it| it.to_string())
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::List { home, json } => list(&home.dir()?, *json),
        Command::Show { home, agent, json } => show(&home.dir()?, agent, *json),
        Command::Create { home, agent, json } => create(&home.dir()?, agent, *json),
        Command::Bench { home, count, at_once } => bench::run(&home.dir()?, *count, *at_once),
    }
}

fn list(home: &Path, is_json: bool) -> Result<Exit, Failure> {
    for card in host::agents::cards(home) {
        let AgentCard { id, name, description, .. } = &card;
        let shown = match is_json {
            true => output::json(&json!({ "id": id, "name": name, "description": description })),
            false => {
                let line = description.lines().next().unwrap_or_default();
                output::line(&format!("{id:<24} {}", agent::clean(line, 100)))
            }
        };
        if !shown {
            break;
        }
    }
    for agent in host::agents(home).map_err(Failure::usage)? {
        if let Err(why) = host::manifest(home, &agent) {
            output::note(&format!(
                "{agent} is not understood, and is not there until it is: {why}"
            ));
        }
    }
    Ok(Exit::Done)
}

fn show(home: &Path, agent: &AgentId, is_json: bool) -> Result<Exit, Failure> {
    let is_default = agent.as_str() == DEFAULT_AGENT;
    if is_default && host::agents(home).map_err(Failure::usage)?.is_empty() {
        let said = "the default agent: it has no file, and may use what the policy grants";
        match is_json {
            true => output::json(&json!({ "id": agent.as_str(), "file": null })),
            false => output::line(said),
        };
        output::hint("`lazaret agents create main` makes a file for it");
        return Ok(Exit::Done);
    }
    let (text, _) = host::manifest(home, agent).map_err(Failure::usage)?;
    let path = host::manifest_path(home, agent).display().to_string();
    match is_json {
        true => output::json(&json!({ "id": agent.as_str(), "file": path, "text": text })),
        false => output::line(&agent::clean(&text, usize::MAX)),
    };
    Ok(Exit::Done)
}

fn create(home: &Path, agent: &AgentId, is_json: bool) -> Result<Exit, Failure> {
    let made = host::agents::create(home, agent).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            return Failure::usage(format!("there is an agent `{agent}`"));
        }
        Failure::unable(error)
    })?;
    let made: Vec<String> = made.iter().map(|it| it.display().to_string()).collect();
    let said: Vec<String> = made.iter().map(|it| format!("made {it}")).collect();
    output::done(is_json, &json!({ "id": agent.as_str(), "made": made }), &said.join("\n"));
    Ok(Exit::Done)
}
