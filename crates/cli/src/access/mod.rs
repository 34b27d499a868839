//! `lazaret access …`: tokens for who comes over the network.

use aegx::timestamp;
use clap::Subcommand;
use evidence::{Clock, SystemClock};
use model::{AgentId, Taint, UserId};
use policy::access::KnownTools;
use serde_json::json;
use vault::access::{AccessError, AccessToken, Issued, Tokens};

use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Give out access tokens, and take them back.
///
/// A token says for whom a program asks. It is shown once, when it is made; what is kept is its SHA-256, in access.json
/// in the state directory. Lists name a token by the beginning of that hash.
///
/// Try it:
///   lazaret access create --user ann --agent main --days 30
///   lazaret access list
///   lazaret access rotate ID
///   lazaret access revoke ID
///
/// What is done is in the journal before it counts.
///
/// Exit codes: 0 done, 1 refused (no such token), 2 wrong usage, 3 could not work.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Create(CreateArgs),
    Rotate(RotateArgs),
    Revoke(RevokeArgs),
    List(ListArgs),
}

/// Make a token, and show it once.
#[derive(clap::Args)]
struct CreateArgs {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    by: By,
    /// Whose it is.
    #[arg(long, value_parser = UserId::parse)]
    user: UserId,
    /// An agent that may be used with it; again for more [default: all that the user may use]
    #[arg(long = "agent", value_name = "AGENT", value_parser = AgentId::parse)]
    agents: Vec<AgentId>,
    /// In how many days it ends.
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,
    /// It never ends.
    #[arg(long, conflicts_with = "days")]
    forever: bool,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

/// Make a token in the place of another, which is revoked at the same time.
#[derive(clap::Args)]
struct RotateArgs {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    by: By,
    /// The token, as `lazaret access list` names it.
    id: String,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

/// Revoke a token: nobody gets in with it any more.
#[derive(clap::Args)]
struct RevokeArgs {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    by: By,
    /// The token, as `lazaret access list` names it.
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Take it off the list altogether.
    #[arg(long)]
    remove: bool,
}

/// List tokens, never the tokens themselves.
#[derive(clap::Args)]
struct ListArgs {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per token.
    #[arg(long)]
    json: bool,
}

/// A day, in seconds.
const DAY: i64 = 86_400;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let now = SystemClock.unix_seconds();
    match &args.command {
        Command::Create(args) => {
            let home = args.home.dir()?;
            files::private::create_dir(&home).map_err(Failure::unable)?;
            let expires = (!args.forever).then(|| now.saturating_add(i64::from(args.days) * DAY));
            let agents = (!args.agents.is_empty()).then_some(args.agents.as_slice());
            let (token, issued) = recorded(&args.home, &args.by, "access_created", |first| {
                Tokens::in_home(&home).create(&args.user, agents, (now, expires), first)
            })?;
            show_once(&token, &issued, args.json);
            let users = host::users(&home, &KnownTools::default()).map_err(Failure::usage)?;
            if !users.is_some_and(|it| it.iter().any(|it| it.name == args.user)) {
                output::note(&format!(
                    "users.yaml has no user `{}`: the token opens nothing until it has",
                    args.user
                ));
            }
        }
        Command::Rotate(args) => {
            let tokens = Tokens::in_home(&args.home.dir()?);
            let rotate = |first: First<'_>| tokens.rotate(&args.id, now, first);
            let (token, issued) = recorded(&args.home, &args.by, "access_rotated", rotate)?;
            show_once(&token, &issued, args.json);
        }
        Command::Revoke(args) => {
            let tokens = Tokens::in_home(&args.home.dir()?);
            let revoke = |first: First<'_>| tokens.revoke(&args.id, now, args.remove, first);
            recorded(&args.home, &args.by, "access_revoked", revoke)?;
            let told = json!({ "id": args.id, "outcome": "revoked" });
            output::done(args.json, &told, "revoked");
        }
        Command::List(args) => list(args, now)?,
    }
    Ok(Exit::Done)
}

/// Called with what is about to be kept.
type First<'a> = &'a mut dyn FnMut(&Issued) -> Result<(), Failure>;

/// Does `work`, which has it recorded first what it does: whose token, and its name in lists.
fn recorded<T>(
    home: &Home,
    by: &By,
    kind: &'static str,
    work: impl FnOnce(First<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let by = by.user()?;
    let mut begun = None;
    let done = work(&mut |issued: &Issued| {
        let content = json!({
            "agents": issued.agents,
            "expires": issued.expires,
            "id": issued.id,
            "user": issued.user,
        });
        begun = Some(Act::begin(home, kind, &by, Taint::NONE, content)?);
        Ok(())
    });
    match begun {
        Some(act) => act.end(done, "access_not_changed").map(|(done, _)| done),
        None => done,
    }
}

fn list(args: &ListArgs, now: i64) -> Result<(), Failure> {
    for issued in Tokens::in_home(&args.home.dir()?).list()? {
        let state = match (issued.revoked, issued.is_in_force(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "in force",
            (None, false) => "ended",
        };
        let until = issued.expires.map(timestamp::from_unix);
        let shown = if args.json {
            output::json(&json!({
                "agents": issued.agents,
                "created": timestamp::from_unix(issued.created),
                "expires": until,
                "id": issued.id,
                "state": state,
                "user": issued.user,
            }))
        } else {
            let until = until.unwrap_or_else(|| "never ends".to_owned());
            let agents = issued.agents.map_or_else(|| "all agents".to_owned(), |it| it.join(" "));
            output::line(&format!(
                "{}  {:<16} {state:<8}  {until:<20}  {agents}",
                issued.id, issued.user
            ))
        };
        if !shown {
            break;
        }
    }
    Ok(())
}

fn show_once(token: &AccessToken, issued: &Issued, json: bool) {
    if json {
        output::json(&json!({
            "expires": issued.expires.map(timestamp::from_unix),
            "id": issued.id,
            "token": token.shown_once(),
            "user": issued.user,
        }));
        return;
    }
    output::note(&format!("token {} of {}; it is shown this once", issued.id, issued.user));
    output::line(token.shown_once());
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        let refused =
            matches!(error, AccessError::NoSuch(_) | AccessError::Over(_) | AccessError::TooMany);
        if refused { Self::refused(error) } else { Self::unable(error) }
    }
}
