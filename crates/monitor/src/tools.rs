//! The tools of a session. Sessions with the same tools share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use aegx::Digest;
use model::{Flow, Intent, IntentReader, Reach, TOOLS_MAX, ToolCall, ToolDef, ToolName, ToolText};

use crate::deed::Job;
use crate::monitor::Monitor;
use crate::provenance::{Act, Catalogue, Ledger};

/// The start of a description that readers of intent are shown, in letters.
const DESCRIPTION_LETTERS: usize = 240;

/// One tool: what its server says of it, what we hold of it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) flow: Arc<Flow>,
    pub(crate) act: Act,
    description: String,
    job: Job,
    is_note_anywhere: bool,
}

impl Tool {
    fn text<'a>(&'a self, name: &'a ToolName) -> ToolText<'a> {
        ToolText { name: name.as_str(), description: &self.description }
    }
}

/// The tools of a session.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    all: HashMap<ToolName, Tool>,
    /// One of them runs commands: the agent works in a folder of this machine.
    run_commands: bool,
    /// Who reads the user's words, beside the tables.
    reader: Option<Arc<dyn IntentReader>>,
    /// What their servers say of them, and the catalogue by which they were classified.
    defs: Arc<[ToolDef]>,
    by: Arc<Catalogue>,
}

impl Tools {
    pub(crate) fn get(&self, name: &ToolName) -> Option<&Tool> {
        self.all.get(name)
    }

    /// What the reader of the user's words says of a call, where it may matter: an act, after something came from outside.
    pub(crate) fn intent(&self, ledger: &Ledger, call: &ToolCall) -> Intent {
        match Act::is_done(&call.flow) && ledger.is_untrusted() {
            true => ledger.intent(|words| self.read(words, call.call.tool())),
            false => Intent::Unread,
        }
    }

    /// Do the user's `words` ask for this tool, rather than for another that acts?
    fn read(&self, words: &str, name: &ToolName) -> Intent {
        let (Some(reader), Some(tool)) = (&self.reader, self.all.get(name)) else {
            return Intent::Unread;
        };
        let is_other = |it: &ToolName, tool: &Tool| it != name && tool.flow.reach != Reach::Read;
        let others = self.all.iter().filter(|(it, tool)| is_other(it, tool));
        let others: Vec<ToolText<'_>> = others.map(|(it, tool)| tool.text(it)).collect();
        reader.read(words, tool.text(name), &others)
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
        catalogue: &Arc<Catalogue>,
        reader: Option<&Arc<dyn IntentReader>>,
    ) -> Result<Arc<Tools>, ToolsError> {
        let key = digest(defs);
        let mut boxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = boxes.get(&key).and_then(Weak::upgrade);
        if let Some(tools) = known.filter(|it| Arc::ptr_eq(&it.by, catalogue)) {
            return Ok(tools);
        }
        let (reader, by) = (reader.map(Arc::clone), Arc::clone(catalogue));
        let tools = Arc::new(Tools { reader, by, defs: defs.into(), ..classify(defs, catalogue)? });
        boxes.retain(|_, tools| tools.strong_count() > 0);
        boxes.insert(key, Arc::downgrade(&tools));
        Ok(tools)
    }

    /// The same tools as they are known by this catalogue; none if they are those already.
    pub(crate) fn again(
        &self,
        tools: &Tools,
        catalogue: &Arc<Catalogue>,
        reader: Option<&Arc<dyn IntentReader>>,
    ) -> Option<Arc<Tools>> {
        // A list that was taken is taken again.
        (!Arc::ptr_eq(&tools.by, catalogue))
            .then(|| self.of(&tools.defs, catalogue, reader).ok())?
    }
}

impl Monitor {
    /// The same with somebody who reads the user's words, beside the tables.
    #[must_use]
    pub fn with_reader(mut self, reader: Arc<dyn IntentReader>) -> Self {
        self.reader = Some(reader);
        self
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
        let description = def.description.chars().take(DESCRIPTION_LETTERS).collect();
        let tool = Tool { act: Act::of(def, &flow), flow, description, job, is_note_anywhere };
        if tools.insert(def.name.clone(), tool).is_some() {
            return Err(ToolsError::Twice { name: def.name.as_str().to_owned() });
        }
    }
    let run_commands = tools.values().any(|it| it.job == Job::Run);
    Ok(Tools { all: tools, run_commands, ..Tools::default() })
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
