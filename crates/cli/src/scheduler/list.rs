//! `lazaret scheduler list`.

use aegx::timestamp;
use aegx::verify::printable;
use host::scheduler::{Came, Job, When};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use crate::taint::tag_value;

/// List all jobs, and the runs that wait for their agents.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object per job and per run.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let (jobs, waiting) = host::scheduler::look(&home).map_err(|error| super::failure(&error))?;
    let _ = if args.json {
        jobs.iter().all(|it| output::json(&job(it)))
            && waiting.iter().all(|it| output::json(&value(it)))
    } else {
        jobs.iter().all(line) && waiting.iter().all(run_line)
    };
    if !args.json && jobs.is_empty() {
        output::note("there are no jobs");
    }
    Ok(Exit::Done)
}

fn job(it: &Job) -> Value {
    json!({
        "job": it.id.to_string(),
        "kind": it.when.kind(),
        "schedule": schedule(it),
        "user": it.user.as_str(),
        "agent": it.agent.as_str(),
        "session": it.session,
        "prompt": it.prompt,
        "next": it.next.map(timestamp::from_unix),
        "skipped": it.skipped,
        "missed": it.missed,
        "maxTokenBudget": it.token_budget,
        "delivery": it.delivery.as_ref().map(ToString::to_string),
        "remote": it.made_in.remote,
        "sub_agents": it.made_in.sub_agents,
        "record": it.record,
        "tag": it.tag.as_ref().map(tag_value),
    })
}

/// A run for programs.
pub(super) fn value(it: &Came) -> Value {
    json!({
        "run": it.run.id.to_string(),
        "job": it.run.job.to_string(),
        "kind": it.job.when.kind(),
        "due": timestamp::from_unix(it.run.due),
        "user": it.job.user.as_str(),
        "agent": it.job.agent.as_str(),
        "prompt": it.job.prompt,
        "given_to": it.run.given.as_ref().map(|it| it.session.as_str()),
        "record": it.run.record,
        "tag": it.job.tag.as_ref().map(tag_value),
        "status": it.run.ended.as_ref().map(|it| it.status.as_str()),
        "answer": it.run.ended.as_ref().map(|it| it.text.as_str()),
        "answer_tag": it.run.ended.as_ref().and_then(|it| it.tag.as_ref()).map(tag_value),
        "tokens": it.run.ended.as_ref().map(|it| it.tokens),
        "ended": it.run.ended.as_ref().map(|it| timestamp::from_unix(it.at)),
        "delivered_to": it.run.handed.as_ref().and_then(|it| it.outcome.as_ref().ok()),
        "undelivered": it.run.handed.as_ref().and_then(|it| it.outcome.as_ref().err()),
    })
}

/// Characters of an answer that a line shows; `--json` has all that is kept.
const ANSWER_CHARS: usize = 200;

fn schedule(it: &Job) -> String {
    match &it.when {
        When::Cron { cron, zone } => format!("{cron} {zone}"),
        When::Once(at) => timestamp::from_unix(*at),
        When::Heartbeat { seconds } => format!("every {} minutes", seconds / 60),
    }
}

fn line(it: &Job) -> bool {
    let paint = Paint::for_stdout();
    let prompt: String = it.prompt.chars().take(60).collect();
    let taint =
        it.tag.as_ref().map_or_else(String::new, |it| paint.bad(&format!(" [{}]", it.taint)));
    output::line(&format!(
        "{} {:<28} next {:<20} {} for {}, skipped {}, missed {}: {}{taint}",
        it.id,
        schedule(it),
        it.next.map_or_else(|| "never".to_owned(), timestamp::from_unix),
        it.agent,
        it.user,
        it.skipped,
        it.missed,
        printable(&prompt),
    ))
}

/// A run for people.
pub(super) fn run_line(it: &Came) -> bool {
    let prompt: String = it.job.prompt.chars().take(60).collect();
    let due = timestamp::from_unix(it.run.due);
    let state = it.run.given.as_ref().map_or_else(
        || format!("waits since {due}"),
        |it| format!("of {due} was given to session {}", it.session),
    );
    let state = match &it.run.ended {
        None => state,
        Some(ended) => {
            let answer: String = ended.text.chars().take(ANSWER_CHARS).collect();
            let went = match it.run.handed.as_ref().map(|it| &it.outcome) {
                None => String::new(),
                Some(Ok(to)) => format!(" (delivered to {})", printable(to)),
                Some(Err(why)) => format!(" (not delivered: {})", printable(why)),
            };
            format!("of {due} {}{went}: {};", ended.status.as_str(), printable(&answer))
        }
    };
    let (agent, user) = (&it.job.agent, &it.job.user);
    output::line(&format!("{} {state} for {agent} of {user}: {}", it.run.id, printable(&prompt)))
}
