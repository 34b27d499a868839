//! `lazaret mcp token`: tokens for clients that reach the gateway by HTTP.

use clap::Subcommand;
use evidence::{Clock as _, SystemClock};
use serde_json::json;

use super::http_tokens::{Named, OPEN_FILE, OPEN_NAME, has_open};
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Make, list and take back tokens for clients of `lazaret mcp --http`.
///
/// Each client that has a token of its own has sessions, labels and records of its own. A token is shown once, when it
/// is made; only its digest is kept. One that is taken back counts at once for nobody, also where a gateway runs.
///
/// Try it:
///   lazaret mcp token create laptop
///   lazaret mcp token list
///   lazaret mcp token revoke laptop
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Create(CreateArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

/// Make a token, and print it once.
#[derive(clap::Args)]
struct CreateArgs {
    #[command(flatten)]
    home: Home,
    /// What the client is called in records.
    #[arg(value_name = "NAME", value_parser = name)]
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// List the names of tokens.
#[derive(clap::Args)]
struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per token.
    #[arg(long)]
    json: bool,
}

/// Take a token back.
#[derive(clap::Args)]
struct RevokeArgs {
    #[command(flatten)]
    home: Home,
    /// Which; `local` is the one whose text is kept in the state directory.
    #[arg(value_name = "NAME")]
    name: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    by: By,
}

/// The longest name of a token, in characters.
const NAME_CHARS_MAX: usize = 64;

fn name(text: &str) -> Result<String, String> {
    let fits = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"._-".contains(&it);
    if text.is_empty() || text.len() > NAME_CHARS_MAX || !text.bytes().all(fits) {
        return Err(format!("1 to {NAME_CHARS_MAX} of a-z, 0-9, `.`, `_` and `-`"));
    }
    if text == OPEN_NAME {
        return Err(format!("`{OPEN_NAME}` is the token in `{OPEN_FILE}`"));
    }
    Ok(text.to_owned())
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Create(args) => create(args),
        Command::List(args) => list(args),
        Command::Revoke(args) => revoke(args),
    }
}

fn create(args: &CreateArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let kinds = ("mcp_token_made", "mcp_not_changed");
    let content = json!({ "token": args.name });
    let text = Act::around(&args.home, &args.by, kinds, content, || {
        let made = SystemClock.unix_seconds();
        Named::create(&home, &args.name, made).map_err(Failure::refused)
    })?;
    if args.json {
        output::json(&json!({ "token": args.name, "text": text }));
        return Ok(Exit::Done);
    }
    output::line(&text);
    output::hint("it is shown this once; clients send it in the field `Authorization`");
    Ok(Exit::Done)
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let named = Named::of(&home).map_err(Failure::unable)?;
    let is_open = has_open(&home).map_err(Failure::unable)?;
    if is_open {
        let file = home.join(OPEN_FILE).display().to_string();
        match args.json {
            true => drop(output::json(&json!({ "token": OPEN_NAME, "file": file }))),
            false => drop(output::line(&format!("{OPEN_NAME}  kept as a text in {file}"))),
        }
    }
    for (name, kept) in &named.tokens {
        match args.json {
            true => drop(output::json(&json!({ "token": name, "made": kept.made }))),
            false => drop(output::line(&format!(
                "{name}  made at {}",
                aegx::timestamp::from_unix(kept.made)
            ))),
        }
    }
    if named.tokens.is_empty() && !is_open && !args.json {
        output::hint("there is none: `lazaret mcp token create NAME`");
    }
    Ok(Exit::Done)
}

fn revoke(args: &RevokeArgs) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let kinds = ("mcp_token_revoked", "mcp_not_changed");
    let content = json!({ "token": args.name });
    Act::around(&args.home, &args.by, kinds, content, || {
        match Named::revoke(&home, &args.name).map_err(Failure::unable)? {
            true => Ok(()),
            false => Err(Failure::refused(format!("there is no token `{}`", args.name))),
        }
    })?;
    if args.json {
        output::json(&json!({ "token": args.name, "revoked": true }));
    }
    output::told(args.json, &format!("{} counts for nobody any more", args.name));
    Ok(Exit::Done)
}
