//! `lazaret models list`.

use host::models::status::{ModelStatus, status};
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// List the models that config.yaml names, where their keys are, and what is missing. Nothing is sent.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per model.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let found = status(&args.home.dir()?).map_err(Failure::usage)?;
    let Some(models) = found else {
        return Err(Failure::usage(super::session::NONE_CHOSEN));
    };
    for model in &models {
        let shown = if args.json { output::json(&value(model)) } else { lines(model) };
        if !shown {
            break;
        }
    }
    Ok(Exit::Done)
}

fn value(model: &ModelStatus) -> serde_json::Value {
    let tasks: serde_json::Map<_, _> =
        model.tasks.iter().map(|(task, at)| ((*task).to_owned(), (*at).into())).collect();
    json!({
        "key": model.key,
        "missing": model.missing,
        "model": model.model,
        "priced": model.is_priced,
        "tasks": tasks,
        "url": model.url,
    })
}

fn lines(model: &ModelStatus) -> bool {
    let paint = Paint::for_stdout();
    let tasks: Vec<_> = model.tasks.iter().map(|(task, at)| format!("{task} {at}")).collect();
    let state = match &model.missing {
        Some(_) => paint.bad("missing"),
        None => paint.good("ready"),
    };
    let tasks = if tasks.is_empty() { "by name".to_owned() } else { tasks.join(", ") };
    let price = if model.is_priced { "" } else { "  no price" };
    let mut shown =
        output::line(&format!("{}  {state}  {tasks}{price}", paint.strong(&model.model)));
    if let Some(url) = &model.url {
        let key = model.key.as_ref().map_or("no key".to_owned(), |it| format!("key {it}"));
        shown = shown && output::line(&format!("  {url}  {key}"));
    }
    if let Some(missing) = &model.missing {
        shown = shown && output::line(&format!("  {missing}"));
    }
    shown
}
