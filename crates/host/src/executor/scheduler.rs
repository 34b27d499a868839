//! Work at set times, as an agent sees it: its own jobs, and the runs that wait for it.

use aegx::timestamp;
use model::ipc::{
    self, DeliveryMode, SchedulerAddCron, SchedulerGetHeartbeat, SchedulerListCron,
    SchedulerListTriggers, SchedulerRemoveCron, SchedulerRunAt,
};
use model::{Caller, TaintTag};
use monitor::{Output, Permit, Status};
use serde_json::{Map, Value, json};

use crate::scheduler::{Came, Cron, Delivery, Job, NewJob, Owner, Scheduler, SchedulerError, When};

pub(super) fn add_cron(
    scheduler: &Scheduler,
    permit: Permit<SchedulerAddCron>,
    now: i64,
) -> Output {
    let made = maker(&permit);
    let asked = permit.spend();
    let zone = scheduler.settings().zone_name.clone();
    let when = match Cron::parse(asked.schedule.as_str()) {
        Ok(cron) => When::Cron { cron, zone },
        Err(error) => return failed(&error.into()),
    };
    let budget = asked.max_token_budget.map(|it| it.get());
    let told = (asked.prompt.as_str(), budget, asked.delivery.as_ref());
    add(scheduler, made, told, when, now)
}

pub(super) fn run_at(scheduler: &Scheduler, permit: Permit<SchedulerRunAt>, now: i64) -> Output {
    let made = maker(&permit);
    let asked = permit.spend();
    let when = match scheduler.settings().moment(asked.datetime.as_str()) {
        Ok(at) => When::Once(at),
        Err(error) => return failed(&error.into()),
    };
    let budget = asked.max_token_budget.map(|it| it.get());
    let told = (asked.prompt.as_str(), budget, asked.delivery.as_ref());
    add(scheduler, made, told, when, now)
}

/// The agent's own jobs.
pub(super) fn list(scheduler: &Scheduler, permit: Permit<SchedulerListCron>) -> Output {
    let owner = owner(permit.who());
    let SchedulerListCron { .. } = permit.spend();
    match scheduler.jobs(Some(&owner)) {
        Ok(jobs) => {
            let shown: Vec<Value> = jobs.iter().map(job).collect();
            // A prompt is as tainted as the session that made the job.
            let tags = jobs.into_iter().filter_map(|it| it.tag).collect();
            Output { tags, ..Output::text(json!({ "jobs": shown }).to_string()) }
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn heartbeat(scheduler: &Scheduler, permit: Permit<SchedulerGetHeartbeat>) -> Output {
    let owner = owner(permit.who());
    let SchedulerGetHeartbeat { .. } = permit.spend();
    let own = scheduler.settings().heartbeat.as_ref();
    let own = own.filter(|it| it.user == owner.user && it.agent == owner.agent);
    let shown = own.map(|it| json!({ "everyMinutes": it.every_minutes, "prompt": it.prompt }));
    Output::text(json!({ "heartbeat": shown }).to_string())
}

/// The runs that wait for this agent. They are this session's from now on.
pub(super) fn triggers(
    scheduler: &Scheduler,
    permit: Permit<SchedulerListTriggers>,
    now: i64,
) -> Output {
    let (owner, session) = (owner(permit.who()), permit.who().session.clone());
    let SchedulerListTriggers { .. } = permit.spend();
    match scheduler.tick(now).and_then(|_| scheduler.take(&owner, session.as_str(), now)) {
        Ok(waiting) => {
            let shown: Vec<Value> = waiting.iter().map(run).collect();
            let tags: Vec<TaintTag> = waiting.into_iter().filter_map(|it| it.job.tag).collect();
            Output { tags, ..Output::text(json!({ "triggers": shown }).to_string()) }
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn remove(scheduler: &Scheduler, permit: Permit<SchedulerRemoveCron>) -> Output {
    let owner = owner(permit.who());
    match scheduler.remove(permit.spend().id.as_str(), Some(&owner)) {
        Ok(()) => Output::text("{}"),
        Err(error) => failed(&error),
    }
}

struct Maker {
    who: Caller,
    record: String,
    tag: Option<TaintTag>,
}

fn maker<T>(permit: &Permit<T>) -> Maker {
    let record = permit.record().to_string();
    Maker { who: permit.who().clone(), record, tag: permit.tag().cloned() }
}

fn add(
    scheduler: &Scheduler,
    made: Maker,
    (prompt, token_budget, delivery): (&str, Option<u64>, Option<&ipc::Delivery>),
    when: When,
    now: i64,
) -> Output {
    let wanted = delivery.filter(|it| it.mode == DeliveryMode::Channel);
    let wanted =
        wanted.map(|it| it.target.as_ref().map_or(Ok(Delivery::Last), Delivery::of_target));
    let delivery = match wanted.transpose() {
        Ok(delivery) => delivery,
        Err(error) => return failed(&SchedulerError::Delivery(error.to_string())),
    };
    let new = NewJob {
        owner: owner(&made.who),
        session: made.who.session.to_string(),
        record: made.record,
        tag: made.tag,
        prompt: prompt.to_owned(),
        token_budget,
        when,
        delivery,
    };
    match scheduler.add(new, now) {
        Ok(added) => {
            let id = added.id.to_string();
            let body = json!({ "id": id, "jobId": id, "next": timestamp::from_unix(added.next) });
            Output::text(body.to_string())
        }
        Err(error) => failed(&error),
    }
}

fn owner(who: &Caller) -> Owner {
    Owner { user: who.user.clone(), agent: who.agent.clone() }
}

fn job(job: &Job) -> Value {
    let mut shown = Map::from_iter([
        ("id".to_owned(), json!(job.id.to_string())),
        ("kind".to_owned(), json!(job.when.kind())),
        ("prompt".to_owned(), json!(job.prompt)),
        ("skipped".to_owned(), json!(job.skipped)),
        ("missed".to_owned(), json!(job.missed)),
    ]);
    if let When::Cron { cron, zone } = &job.when {
        shown.insert("schedule".to_owned(), json!(cron.as_str()));
        shown.insert("timezone".to_owned(), json!(zone));
    }
    if let Some(next) = job.next {
        shown.insert("next".to_owned(), json!(timestamp::from_unix(next)));
    }
    if let Some(budget) = job.token_budget {
        shown.insert("maxTokenBudget".to_owned(), json!(budget));
    }
    if let Some(delivery) = &job.delivery {
        shown.insert("delivery".to_owned(), json!(delivery.to_string()));
    }
    if job.tag.is_some() {
        shown.insert("tainted".to_owned(), json!(true));
    }
    Value::Object(shown)
}

fn run(it: &Came) -> Value {
    let mut shown = Map::from_iter([
        ("id".to_owned(), json!(it.run.id.to_string())),
        ("job".to_owned(), json!(it.run.job.to_string())),
        ("kind".to_owned(), json!(it.job.when.kind())),
        ("due".to_owned(), json!(timestamp::from_unix(it.run.due))),
        ("prompt".to_owned(), json!(it.job.prompt)),
    ]);
    if let Some(budget) = it.job.token_budget {
        shown.insert("maxTokenBudget".to_owned(), json!(budget));
    }
    if it.job.tag.is_some() {
        shown.insert("tainted".to_owned(), json!(true));
    }
    Value::Object(shown)
}

fn failed(error: &SchedulerError) -> Output {
    Output { status: Status::Failed, ..Output::text(error.to_string()) }
}
