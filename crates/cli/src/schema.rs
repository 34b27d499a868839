//! `lazaret schema`.

use model::ipc::ActionName;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output;

/// Show what messages from agents may look like.
///
/// Without ACTION, lists the actions; with --json, prints {"action", "schema"} for each. With
/// ACTION, prints its JSON Schema; with --json, on one line.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// An action, or `all`.
    action: Option<String>,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match args.action.as_deref() {
        None if !args.json => {
            for name in ActionName::ALL {
                output::line(&format!("{:<24} {}", name.as_str(), name.about()));
            }
        }
        None | Some("all") => ActionName::ALL.iter().for_each(|name| print_named(*name, args.json)),
        Some(text) => {
            let name = ActionName::parse(text).ok_or_else(|| unknown(text))?;
            print(&name.schema(), args.json);
        }
    }
    Ok(Exit::Done)
}

fn print_named(name: ActionName, on_one_line: bool) {
    print(&json!({"action": name.as_str(), "schema": name.schema()}), on_one_line);
}

fn print(value: &serde_json::Value, on_one_line: bool) {
    if on_one_line {
        output::json(value);
    } else {
        output::line(&format!("{:#}", aegx::Sorted(value)));
    }
}

fn unknown(text: &str) -> Failure {
    let text = aegx::verify::printable(text);
    Failure::usage(format!("there is no action `{text}`; `lazaret schema` lists them"))
}
