//! `lazaret plugins remove`: a person's act.

use host::plugins::PluginError;
use model::Taint;
use serde_json::json;

use super::{failure, plugins};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Remove a plugin, sound or not.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Its name.
    name: String,
    #[command(flatten)]
    by: By,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let (plugins, by) = (plugins(&args.home)?, args.by.user()?);
    let found = plugins.list().map_err(|error| failure(&error))?;
    let Some(found) = found.into_iter().find(|it| it.name == args.name) else {
        return Err(failure(&PluginError::NotThere(args.name.escape_debug().to_string())));
    };
    let content = json!({ "plugin": found.name, "digest": found.digest.to_string() });
    let act = Act::begin(&args.home, "plugin_removed", &by, Taint::NONE, content)?;
    let done = plugins.remove(&found.name, &act.receipt);
    let ((), record) = act.end(done.map_err(|error| failure(&error)), "plugin_not_removed")?;
    if args.json {
        output::json(&json!({ "plugin": found.name, "record": record }));
    } else {
        output::line(&format!("removed {}", found.name));
    }
    Ok(Exit::Done)
}
