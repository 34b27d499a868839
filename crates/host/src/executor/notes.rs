//! Things to do, and notes of a session. They come back as memory does: with their labels, and between marks if somebody
//! outside may have written them.

use aegx::timestamp;
use model::TaintTag;
use model::ipc::{ScratchList, ScratchRead, ScratchWrite, TaskAdd, TaskClose, TaskList};
use monitor::{Output, Permit, Status};
use serde_json::{Map, Value, json};
use store::{Memory, NoteError, NoteRow, TaskRow, Written};

use super::memory::{marked, tag, unmarked};

/// The word for what is still to be done.
const OPEN: &str = "open";

pub(super) fn list_tasks(memory: &dyn Memory, permit: Permit<TaskList>) -> Output {
    let found = memory.tasks(permit).map(|it| it.into_iter().map(Shown::from).collect());
    found.map_or_else(|error| failed(&error), |found| rows("tasks", found))
}

pub(super) fn add_task(memory: &dyn Memory, permit: Permit<TaskAdd>, now: i64) -> Output {
    let own = permit.tag().cloned();
    match memory.add_task(permit, now) {
        Ok(it) => {
            let body = json!({ "id": it.id.to_string(), "duplicate": it.is_duplicate });
            written(it, own.as_ref(), &body)
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn close_task(memory: &dyn Memory, permit: Permit<TaskClose>, now: i64) -> Output {
    match memory.close_task(permit, now) {
        // Its words are not said again, so that nobody is tainted by them.
        Ok(it) => {
            let status = it.end.map_or(OPEN, |it| it.as_str());
            Output::text(json!({ "id": it.id.to_string(), "status": status }).to_string())
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn write_note(memory: &dyn Memory, permit: Permit<ScratchWrite>, now: i64) -> Output {
    let own = permit.tag().cloned();
    let name = permit.effect().name.as_str().to_owned();
    match memory.write_note(permit, now) {
        Ok(it) => written(it, own.as_ref(), &json!({ "name": name })),
        Err(error) => failed(&error),
    }
}

pub(super) fn read_note(memory: &dyn Memory, permit: Permit<ScratchRead>) -> Output {
    let found = match memory.read_note(permit) {
        Ok(found) => Shown::from(found),
        Err(error) => return failed(&error),
    };
    match found.value() {
        Ok(shown) => {
            let body = json!({ "note": shown }).to_string();
            Output { tags: found.tag.into_iter().collect(), ..Output::text(body) }
        }
        Err(error) => unmarked(&error),
    }
}

pub(super) fn list_notes(memory: &dyn Memory, permit: Permit<ScratchList>) -> Output {
    let without_content = |it: NoteRow| {
        let bytes = it.content.len();
        let mut shown = Shown::from(it);
        shown.text = None;
        shown.fields.push(("bytes", json!(bytes)));
        shown
    };
    let found = memory.notes(permit).map(|it| it.into_iter().map(without_content).collect());
    found.map_or_else(|error| failed(&error), |found| rows("notes", found))
}

/// A row as it is told.
struct Shown {
    fields: Vec<(&'static str, Value)>,
    /// What somebody wrote, and under which name it is told.
    text: Option<(&'static str, String)>,
    tag: Option<TaintTag>,
}

impl From<TaskRow> for Shown {
    fn from(it: TaskRow) -> Self {
        let status = it.end.map_or(OPEN, |it| it.as_str());
        let fields = vec![
            ("id", json!(it.id.to_string())),
            ("status", json!(status)),
            ("time", json!(timestamp::from_unix(it.at))),
        ];
        Self { fields, text: Some(("text", it.text)), tag: it.tag }
    }
}

impl From<NoteRow> for Shown {
    fn from(it: NoteRow) -> Self {
        let time = json!(timestamp::from_unix(it.at));
        let fields = vec![("name", json!(it.name)), ("time", time)];
        Self { fields, text: Some(("content", it.content)), tag: it.tag }
    }
}

impl Shown {
    fn value(&self) -> Result<Value, getrandom::Error> {
        let fields = self.fields.iter().map(|(name, it)| ((*name).to_owned(), it.clone()));
        let mut shown: Map<String, Value> = fields.collect();
        if let Some((name, text)) = &self.text {
            shown.insert((*name).to_owned(), json!(marked(text, self.tag.as_ref())?));
        }
        if let Some(it) = &self.tag {
            shown.insert("taint".to_owned(), tag(it));
        }
        Ok(Value::Object(shown))
    }
}

fn rows(name: &str, found: Vec<Shown>) -> Output {
    let shown: Result<Vec<Value>, getrandom::Error> = found.iter().map(Shown::value).collect();
    match shown {
        Ok(shown) => {
            // Names are content, too.
            let tags = found.into_iter().filter_map(|it| it.tag).collect();
            Output { tags, ..Output::text(json!({ name: shown }).to_string()) }
        }
        Err(error) => unmarked(&error),
    }
}

/// Who writes what is known to be from outside has it from outside, whatever the way.
fn written(it: Written, own: Option<&TaintTag>, body: &Value) -> Output {
    let tags = it.tag.filter(|it| own != Some(it)).into_iter().collect();
    Output { tags, ..Output::text(body.to_string()) }
}

fn failed(error: &NoteError) -> Output {
    Output { status: Status::Failed, ..Output::text(error.to_string()) }
}
