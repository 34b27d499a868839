//! `lazaret plugins add`: a person's act.

use std::path::PathBuf;

use aegx::verify::printable;
use evidence::{Clock, SystemClock};
use host::plugins::{FileAccess, Prepared};
use model::Taint;
use serde_json::json;

use super::{failure, plugins};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::person;

/// Add a plugin from a folder. You are shown what it says of itself first.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The folder.
    folder: PathBuf,
    #[command(flatten)]
    by: By,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (plugins, by) = (plugins(&args.home)?, args.by.user()?);
    let prepared = plugins.prepare(&args.folder).map_err(|error| failure(&error))?;
    if !args.yes && !person::says_yes(&lines(&prepared), "add it")? {
        return Err(Failure::refused("nothing was added"));
    }
    let manifest = &prepared.manifest;
    let content = json!({
        "plugin": manifest.name,
        "provides": [manifest.kind.as_str(), manifest.provides],
        "digest": prepared.inventory.digest().to_string(),
        "files": prepared.inventory.files(),
        "network": manifest.capabilities.network,
        "credentials": manifest.capabilities.credentials,
        "tools": manifest.tools.iter().map(|it| manifest.tool_name(it)).collect::<Vec<_>>(),
    });
    let act = Act::begin(&args.home, "plugin_added", &by, Taint::NONE, content)?;
    let done = plugins.add(prepared, &act.receipt, SystemClock.unix_seconds());
    let (entry, record) = act.end(done.map_err(|error| failure(&error)), "plugin_not_added")?;
    if args.json {
        output::json(
            &json!({ "plugin": entry.name, "digest": entry.digest.to_string(), "record": record }),
        );
    } else {
        output::line(&format!("added {} with digest {}", entry.name, entry.digest));
    }
    Ok(Exit::Done)
}

fn lines(it: &Prepared) -> Vec<String> {
    let manifest = &it.manifest;
    let list = |all: &[String]| if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let files = match manifest.capabilities.filesystem {
        FileAccess::None => "none",
        FileAccess::Read => "reading",
        FileAccess::Write => "reading and writing",
    };
    let mut lines = vec![
        format!(
            "plugin {} {}",
            manifest.name,
            manifest.version.as_deref().map_or(String::new(), |it| printable(it).to_string())
        ),
        format!("provides {} `{}`", manifest.kind.as_str(), manifest.provides),
        printable(manifest.description.as_deref().unwrap_or("no description")).to_string(),
        format!(
            "says it needs: network {}; files {files}; secrets {}",
            list(&manifest.capabilities.network),
            list(&manifest.capabilities.credentials)
        ),
        format!(
            "{}, digest {}",
            output::count(it.inventory.files() as u64, "file"),
            it.inventory.digest()
        ),
    ];
    if !manifest.tools.is_empty() {
        lines.push(format!("runs `{}` in a cage, with these hosts and secrets", manifest.main));
    }
    lines.extend(manifest.tools.iter().map(|tool| {
        let flag = match manifest.definition(tool) {
            Ok((_, true)) => " (gives orders: shown to agents without them)",
            Ok((_, false)) => "",
            Err(_) => " (not offered to agents)",
        };
        let (name, about) = (manifest.tool_name(tool), printable(&tool.description).to_string());
        format!("tool {name}{flag}: {about}")
    }));
    lines
}
