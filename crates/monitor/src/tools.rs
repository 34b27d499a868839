//! The tools of a session. Sessions with the same tools share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use aegx::Digest;
use model::{Flow, TOOLS_MAX, ToolDef, ToolName};

use crate::deed::Job;
use crate::provenance::{Act, Catalogue};

/// One tool: what its server says of it, what we hold of it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) flow: Arc<Flow>,
    pub(crate) act: Act,
    job: Job,
    is_note_anywhere: bool,
}

/// The tools of a session.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    all: HashMap<ToolName, Tool>,
    /// One of them runs commands: the agent works in a folder of this machine.
    run_commands: bool,
}

impl Tools {
    pub(crate) fn get(&self, name: &ToolName) -> Option<&Tool> {
        self.all.get(name)
    }

    /// What a tool is for, to an agent that works in a folder. To any other, files may be anybody's, and lie anywhere.
    pub(crate) fn job(&self, tool: &Tool) -> Job {
        match self.run_commands || tool.is_note_anywhere {
            true => tool.job,
            false => Job::Other,
        }
    }
}

/// Why a list of tools is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// Too many.
    #[error("a session has at most {TOOLS_MAX} tools, this one wants {count}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Two of the same name: a call would not say which is meant.
    #[error("the tool `{name}` stands twice in the list")]
    Twice {
        /// The name.
        name: String,
    },
}

/// Lists of tools that are in use, by the hash of the list.
#[derive(Debug, Default)]
pub(crate) struct Toolboxes(Mutex<HashMap<Digest, Weak<Tools>>>);

impl Toolboxes {
    /// The tools of a list, classified once for all sessions that have the same list.
    pub(crate) fn of(
        &self,
        defs: &[ToolDef],
        catalogue: &Catalogue,
    ) -> Result<Arc<Tools>, ToolsError> {
        let key = digest(defs);
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tools) = boxes.get(&key).and_then(Weak::upgrade) {
            return Ok(tools);
        }
        let tools = Arc::new(classify(defs, catalogue)?);
        boxes.retain(|_, tools| tools.strong_count() > 0);
        boxes.insert(key, Arc::downgrade(&tools));
        Ok(tools)
    }
}

fn classify(defs: &[ToolDef], catalogue: &Catalogue) -> Result<Tools, ToolsError> {
    if defs.len() > TOOLS_MAX {
        return Err(ToolsError::TooMany { count: defs.len() });
    }
    let mut tools = HashMap::with_capacity(defs.len());
    for def in defs {
        let flow = Arc::new(catalogue.flow(def));
        let (job, is_note_anywhere) = (Job::of(def), Job::is_note_anywhere(def.name.as_str()));
        let tool = Tool { act: Act::of(def, &flow), flow, job, is_note_anywhere };
        if tools.insert(def.name.clone(), tool).is_some() {
            return Err(ToolsError::Twice { name: def.name.as_str().to_owned() });
        }
    }
    let run_commands = tools.values().any(|it| it.job == Job::Run);
    Ok(Tools { all: tools, run_commands })
}

fn digest(defs: &[ToolDef]) -> Digest {
    let mut hasher = aegx::Hasher::new();
    for def in defs {
        let parts = [
            def.name.as_str().to_owned(),
            def.description.clone(),
            serde_json::Value::Object(def.input_schema.clone()).to_string(),
            serde_json::Value::Object(def.annotations.clone()).to_string(),
        ];
        for part in parts {
            hasher.update(&part.len().to_be_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finish()
}
