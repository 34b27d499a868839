//! What happens to memory, as a line of the log says it. A line is one change, whole or not at all.

use aegx::Digest;
use model::ipc::{MemoryKind, Uuid};
use model::{AgentId, TaintTag, UserId};
use serde_json::{Map, Value, json};

use crate::memory::MemoryRow;
use crate::tag::{tag_from_json, tag_to_json};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A row was written. Its tag is that of its labels.
    Written(Box<MemoryRow>),
    /// Content of a user became known as tainted.
    Labelled { user: UserId, content: Digest, tag: TaintTag },
    /// A row was forgotten. Its labels stay.
    Deleted { id: Uuid },
    /// A person cleared content.
    Cleared { user: UserId, contents: [Digest; 2] },
}

impl Event {
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Written(row) => written(row),
            Self::Labelled { user, content, tag } => json!({
                "event": "labelled",
                "user": user.as_str(),
                "content": content.to_string(),
                "tag": tag_to_json(tag),
            }),
            Self::Deleted { id } => json!({ "event": "deleted", "id": id.to_string() }),
            Self::Cleared { user, contents } => json!({
                "event": "cleared",
                "user": user.as_str(),
                "contents": contents.map(|it| it.to_string()),
            }),
        }
    }

    /// `None` if nobody here wrote it.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let user = || UserId::parse(text("user")?).ok();
        match text("event")? {
            "written" => row(value).map(|it| Self::Written(Box::new(it))),
            "labelled" => Some(Self::Labelled {
                user: user()?,
                content: Digest::from_hex(text("content")?.as_bytes())?,
                tag: tag_from_json(value.get("tag")?)?,
            }),
            "deleted" => Some(Self::Deleted { id: Uuid::parse(text("id")?)? }),
            "cleared" => {
                let digest = |at: usize| {
                    let hex = value.get("contents")?.get(at)?.as_str()?;
                    Digest::from_hex(hex.as_bytes())
                };
                Some(Self::Cleared { user: user()?, contents: [digest(0)?, digest(1)?] })
            }
            _ => None,
        }
    }
}

fn written(row: &MemoryRow) -> Value {
    let mut fields = Map::from_iter([
        ("event".to_owned(), json!("written")),
        ("id".to_owned(), json!(row.id.to_string())),
        ("user".to_owned(), json!(row.user.as_str())),
        ("agent".to_owned(), json!(row.agent.as_str())),
        ("scope".to_owned(), json!(row.scope)),
        ("type".to_owned(), json!(row.kind.as_str())),
        ("content".to_owned(), json!(row.content)),
        ("created".to_owned(), json!(row.created)),
        ("record".to_owned(), json!(row.record)),
    ]);
    if let Some(source) = &row.source {
        fields.insert("source".to_owned(), json!(source));
    }
    if let Some(related) = row.related_id {
        fields.insert("related".to_owned(), json!(related.to_string()));
    }
    Value::Object(fields)
}

fn row(value: &Value) -> Option<MemoryRow> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let optional = |key: &str| match value.get(key) {
        None => Some(None),
        Some(found) => found.as_str().map(Some),
    };
    let related_id = match optional("related")? {
        None => None,
        Some(id) => Some(Uuid::parse(id)?),
    };
    Some(MemoryRow {
        id: Uuid::parse(text("id")?)?,
        user: UserId::parse(text("user")?).ok()?,
        agent: AgentId::parse(text("agent")?).ok()?,
        scope: text("scope")?.to_owned(),
        kind: MemoryKind::parse(text("type")?)?,
        content: text("content")?.to_owned(),
        source: optional("source")?.map(str::to_owned),
        related_id,
        created: value.get("created")?.as_i64()?,
        record: text("record")?.to_owned(),
        tag: None,
    })
}
