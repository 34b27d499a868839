//! `lazaret plugins reload`: the gate that runs looks again.

use aegx::verify::printable;
use host::control::{self, AskError, Request};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// Let the gate that runs look through all plugins anew, and record what it refuses.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per plugin.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let found = match control::ask(&control::socket_path(&home), &Request::Plugins) {
        Ok(found) => found,
        Err(AskError::Nobody) => {
            return Err(Failure::unable(format!(
                "no gate is running in `{}`; one that starts looks by itself, and `lazaret plugins verify` looks \
                 without one",
                home.display()
            )));
        }
        Err(AskError::Refused(error)) => return Err(Failure::refused(error)),
        Err(error) => return Err(Failure::unable(error)),
    };
    let list = |name: &str| found.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (sound, unsound) = (list("sound"), list("unsound"));
    let paint = Paint::for_stdout();
    for name in &sound {
        let _ = if args.json {
            output::json(&json!({ "plugin": name, "ok": true, "error": null }))
        } else {
            output::line(&format!("{} {}", paint.good("sound  "), told(Some(name))))
        };
    }
    for it in &unsound {
        let (name, why) = (it.get("plugin"), it.get("error"));
        let _ = if args.json {
            output::json(&json!({ "plugin": name, "ok": false, "error": why }))
        } else {
            output::line(&format!("{} {}: {}", paint.bad("refused"), told(name), told(why)))
        };
    }
    Ok(if unsound.is_empty() { Exit::Done } else { Exit::Refused })
}

fn told(value: Option<&Value>) -> String {
    printable(value.and_then(Value::as_str).unwrap_or_default()).to_string()
}
