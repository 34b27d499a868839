//! `lazaret scheduler add`: a person's act.

use aegx::timestamp;
use evidence::{Clock, SystemClock};
use host::scheduler::{Added, Cron, Delivery, NewJob, Owner, Settings, When};
use model::{AgentId, Taint, UserId};
use serde_json::json;

use super::failure;
use crate::act::{Act, By};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Schedule a job.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// For whom.
    #[arg(long, value_parser = UserId::parse)]
    user: UserId,
    /// Which agent is told.
    #[arg(long, value_parser = AgentId::parse)]
    agent: AgentId,
    /// Again and again: minute, hour, day of the month, month, day of the week.
    #[arg(long, value_name = "SCHEDULE", required_unless_present = "at", conflicts_with = "at")]
    cron: Option<String>,
    /// Once: a date and a time, by the clocks of the time zone of jobs unless it ends with Z or an offset.
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// How many tokens each run may use, where the host carries jobs out.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Where answers go, where `lazaret serve` carries jobs out: `last` (where the user wrote last), or an address of
    /// the user, such as telegram:dm:12345.
    #[arg(long, value_name = "ADDRESS", value_parser = Delivery::parse)]
    deliver: Option<Delivery>,
    /// What the agent is told.
    prompt: String,
    #[command(flatten)]
    by: By,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let by = args.by.user()?;
    let settings = host::settings(&args.home.dir()?).map_err(Failure::usage)?;
    let raw = settings.map(|it| it.scheduler().clone()).unwrap_or_default();
    let when = when(args, &Settings::new(&raw).map_err(Failure::usage)?)?;
    let content = json!({
        "user": args.user.as_str(),
        "agent": args.agent.as_str(),
        "schedule": args.cron.as_ref().or(args.at.as_ref()),
        "prompt": args.prompt,
        "max_tokens": args.max_tokens,
        "delivery": args.deliver.as_ref().map(ToString::to_string),
    });
    let act = Act::begin(&args.home, "job_added", &by, Taint::NONE, content)?;
    let new = NewJob {
        owner: Owner { user: args.user.clone(), agent: args.agent.clone() },
        session: String::new(),
        record: act.receipt.id().to_string(),
        tag: None,
        prompt: args.prompt.clone(),
        token_budget: args.max_tokens,
        when,
        delivery: args.deliver.clone(),
    };
    let done = super::of_person(&args.home).and_then(|scheduler| {
        scheduler.add(new, SystemClock.unix_seconds()).map_err(|error| failure(&error))
    });
    let (Added { id, next }, record) = act.end(done, "job_not_added")?;
    let next = timestamp::from_unix(next);
    if args.json {
        output::json(&json!({ "job": id.to_string(), "next": next, "record": record }));
    } else {
        output::line(&format!("added {id}, first at {next}"));
    }
    Ok(Exit::Done)
}

fn when(args: &Args, settings: &Settings) -> Result<When, Failure> {
    match (&args.cron, &args.at) {
        (Some(text), _) => {
            let cron = Cron::parse(text).map_err(|it| Failure::usage(format!("--cron: {it}")))?;
            Ok(When::Cron { cron, zone: settings.zone_name.clone() })
        }
        (None, Some(text)) => {
            let at = settings.moment(text);
            Ok(When::Once(at.map_err(|it| Failure::usage(format!("--at: {it}")))?))
        }
        (None, None) => Err(Failure::usage("say when: --cron SCHEDULE or --at TIME")),
    }
}
