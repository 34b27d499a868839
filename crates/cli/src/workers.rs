//! `lazaret workers …`: the workers of a server.

use clap::Subcommand;
use host::doors::client::Connection;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// List the workers of `lazaret serve`, those too that wait for the next turn, or end one that has a turn. One that waits ends
/// with `lazaret sessions end`.
///
/// Exit codes: 0 done, 1 refused (no such worker, or no server runs), 3 could not work.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List them.
    List(ListArgs),
    /// End one: its turn is interrupted, and its worker ended.
    Kill(KillArgs),
}

#[derive(clap::Args)]
struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per worker.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct KillArgs {
    #[command(flatten)]
    home: Home,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// The worker, as `lazaret workers list` numbers it.
    id: u64,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list(args),
        Command::Kill(args) => {
            ask(&args.home, &format!("kill {}", args.id))?;
            output::done(args.json, &json!({ "id": args.id, "outcome": "ended" }), "ended");
            Ok(Exit::Done)
        }
    }
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let answer = ask(&args.home, "workers")?;
    let all = answer.get("workers").and_then(Value::as_array).cloned().unwrap_or_default();
    for worker in &all {
        let text = |name: &str| worker.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| worker.get(name).and_then(Value::as_u64).unwrap_or_default();
        let shown = if args.json {
            output::json(worker)
        } else {
            let (id, seconds) = (worker.get("id").and_then(Value::as_u64), number("seconds"));
            let id = id.map_or_else(|| "-".to_owned(), |it| it.to_string());
            let line = format!(
                "{id:<6} {:<5} {:<16} {:<16} {}  {seconds} s",
                text("state"),
                text("user"),
                text("agent"),
                text("session")
            );
            output::line(&aegx::verify::printable(&line).to_string())
        };
        if !shown {
            break;
        }
    }
    if all.is_empty() && !args.json {
        output::told(false, "there are no workers");
    }
    Ok(Exit::Done)
}

/// Asks the server that runs on the state directory.
pub(crate) fn ask(home: &Home, words: &str) -> Result<Value, Failure> {
    let home = home.dir()?;
    let connection = Connection::open(&home, &format!("serve {words}"), &[]);
    let Some(mut connection) = connection.map_err(Failure::unable)? else {
        return Err(Failure::refused("no server runs there; start one with `lazaret serve`"));
    };
    // A worker that is ended may take its time.
    let answer = connection.hear_the_end().map_err(Failure::unable)?;
    if answer.get("ok") == Some(&json!(true)) {
        return Ok(answer);
    }
    let why = answer.get("error").and_then(Value::as_str).unwrap_or("it did not say why");
    Err(Failure::refused(why))
}
