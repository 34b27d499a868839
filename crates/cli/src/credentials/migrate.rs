//! `lazaret credentials migrate`.

use model::AgentId;
use policy::access::Manifest;
use serde_json::json;

use super::kept;
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Propose grants for an agent of the old kind, or write them into its manifest.
///
/// Each key that is kept becomes a grant of its own for `web`; take away those that the agent does not need. Everything
/// else in the manifest stays as it is, letter for letter. What is written is in the journal first.
///
/// Exit codes: 0 done, 1 the agent has grants already or there is nothing to grant, 2 broken files.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: Home,
    /// The agent.
    #[arg(value_parser = AgentId::parse)]
    agent: AgentId,
    /// Write them into the manifest.
    #[arg(long)]
    write: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

const FENCE: &str = "---\n";

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let (text, manifest) = host::manifest(&home, &args.agent).map_err(Failure::usage)?;
    if manifest.grants.is_some() {
        return Err(Failure::refused(format!("`{}` has grants already", args.agent)));
    }
    let contents = kept(&home).map_err(Failure::unable)?;
    let keys: Vec<&str> = contents.iter().map(|(name, _)| name.as_str()).collect();
    let block = block(&keys);
    if !args.write {
        let told =
            json!({ "agent": args.agent.as_str(), "keys": keys, "written": false, "text": block });
        output::result(args.json, &told, block.trim_end());
        output::note("nothing was written; --write puts it into the manifest");
        return Ok(Exit::Done);
    }
    let new = with_block(&text, &block);
    // Nothing but the grants may be another.
    let read = Manifest::parse(&args.agent, &new).ok().filter(|it| it.grants.is_some());
    let same = read.is_some_and(|it| Manifest { grants: None, ..it } == manifest);
    if !same {
        let why = "the manifest's front matter is written in a way that cannot be added to; put this into it by hand";
        return Err(Failure::usage(format!("{why}:\n{block}")));
    }
    let path = host::manifest_path(&home, &args.agent);
    let content = json!({ "agent": args.agent.as_str(), "keys": keys });
    Act::around(&args.home, &args.by, ("grants_written", "grants_not_written"), content, || {
        let written = files::private::replace(&path, new.as_bytes());
        written.map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))
    })?;
    let said = format!("{}: {} granted", args.agent, output::count(keys.len() as u64, "key"));
    let told = json!({ "agent": args.agent.as_str(), "keys": keys, "written": true });
    output::done(args.json, &told, &said);
    Ok(Exit::Done)
}

fn block(keys: &[&str]) -> String {
    if keys.is_empty() {
        return "credentials:\n  grants: {}\n".to_owned();
    }
    let grants = keys.iter().map(|key| {
        let name = key.to_ascii_lowercase().replace('_', "-");
        format!("    \"{name}\":\n      keys: [{key}]\n      tools: [web]\n")
    });
    format!("credentials:\n  grants:\n{}", grants.collect::<String>())
}

/// The manifest with the block at the end of its front matter.
fn with_block(text: &str, block: &str) -> String {
    let Some(inner) = text.strip_prefix(FENCE) else {
        return format!("{FENCE}{block}{FENCE}{text}");
    };
    let closing = inner.find("\n---").map_or(0, |at| at.saturating_add(1));
    let (front, rest) = inner.split_at(closing);
    format!("{FENCE}{front}{block}{rest}")
}
