//! The memory of agents. What is read back brings its label along: from the output it joins the
//! session before the agent sees a byte; and what others wrote stands between marks, so that nobody takes it for the user's.

use aegx::timestamp;
use model::TaintTag;
use model::ipc::{MemoryDelete, MemoryList, MemoryQuery, MemoryRead, MemoryWrite};
use monitor::{Output, Permit, Status, taint};
use scan::boundary::{self, Boundary, Nonce};
use serde_json::{Map, Value, json};
use store::{Memory, MemoryError, MemoryRow};

pub(super) fn write(memory: &dyn Memory, permit: Permit<MemoryWrite>, now: i64) -> Output {
    let own = permit.tag().cloned();
    match memory.write(permit, now) {
        Ok(written) => {
            let id = written.id.to_string();
            let body = json!({ "id": id, "duplicate": written.is_duplicate });
            // Who writes what is known to be from outside has it from outside, whatever the way.
            let tags = written.tag.filter(|it| own.as_ref() != Some(it)).into_iter().collect();
            Output { tags, ..Output::text(body.to_string()) }
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn query(memory: &dyn Memory, permit: Permit<MemoryQuery>) -> Output {
    memory.query(permit).map_or_else(|error| failed(&error), |found| rows("results", &found))
}

pub(super) fn list(memory: &dyn Memory, permit: Permit<MemoryList>) -> Output {
    memory.list(permit).map_or_else(|error| failed(&error), |found| rows("entries", &found))
}

pub(super) fn read(memory: &dyn Memory, permit: Permit<MemoryRead>) -> Output {
    match memory.read(permit) {
        Ok(found) => match row(&found) {
            Ok(shown) => {
                let body = json!({ "entry": shown }).to_string();
                Output { tags: found.tag.into_iter().collect(), ..Output::text(body) }
            }
            Err(error) => unmarked(&error),
        },
        Err(error) => failed(&error),
    }
}

pub(super) fn delete(memory: &dyn Memory, permit: Permit<MemoryDelete>) -> Output {
    match memory.delete(permit) {
        Ok(()) => Output::text("{}"),
        Err(error) => failed(&error),
    }
}

fn rows(name: &str, found: &[MemoryRow]) -> Output {
    let shown: Result<Vec<Value>, getrandom::Error> = found.iter().map(row).collect();
    let shown = match shown {
        Ok(shown) => shown,
        Err(error) => return unmarked(&error),
    };
    let tags = found.iter().filter_map(|it| it.tag.clone()).collect();
    Output { tags, ..Output::text(json!({ name: shown }).to_string()) }
}

/// What was kept: between marks, if somebody outside may have written it.
pub(super) fn marked(content: &str, tag: Option<&TaintTag>) -> Result<String, getrandom::Error> {
    let Some(tag) = tag.filter(|it| taint::is_outside(it.taint)) else {
        return Ok(content.to_owned());
    };
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    let nonce = Nonce::new(random);
    Ok(boundary::wrap(Boundary::Memory, &tag.origin, content, &nonce))
}

fn row(row: &MemoryRow) -> Result<Value, getrandom::Error> {
    let mut shown = Map::from_iter([
        ("id".to_owned(), json!(row.id.to_string())),
        ("scope".to_owned(), json!(row.scope)),
        ("type".to_owned(), json!(row.kind.as_str())),
        ("content".to_owned(), json!(marked(&row.content, row.tag.as_ref())?)),
        ("created".to_owned(), json!(timestamp::from_unix(row.created))),
    ]);
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            shown.insert(name.to_owned(), value);
        }
    };
    add("source", row.source.as_ref().map(|it| json!(it)));
    add("relatedId", row.related_id.map(|it| json!(it.to_string())));
    add("taint", row.tag.as_ref().map(tag));
    Ok(Value::Object(shown))
}

/// What is told of a tag.
pub(super) fn tag(tag: &TaintTag) -> Value {
    let external = taint::is_outside(tag.taint);
    json!({
        "source": tag.origin,
        "trust": if external { "external" } else { "internal" },
        "flags": tag.taint.iter_names().collect::<Vec<_>>(),
        "timestamp": timestamp::from_unix(tag.unix_seconds),
    })
}

/// INVARIANT (FailClosed): what cannot be marked is not shown.
pub(super) fn unmarked(error: &getrandom::Error) -> Output {
    Output::unanswered(format!("there is no randomness for marks: {error}"))
}

fn failed(error: &MemoryError) -> Output {
    Output { status: Status::Failed, ..Output::text(error.to_string()) }
}
