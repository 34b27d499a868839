//! Sessions with the real taint and confirmations; memory rows that are labelled as the host must.

use std::collections::BTreeMap;

use aegx::Digest;
use model::{SessionId, Source, Taint, TaintTag, UserId};
use monitor::confirm::{ConfirmDelta, Confirmation, Confirmations, Message, Pending};
use monitor::taint::{
    Rules, SessionTaint, TaintDelta, Turn, inherited_by_fact, label, tokens, worse,
};
use serde_json::Value;

use crate::taint::corpus::{prose, text};

pub(crate) struct World {
    rules: Rules,
    sessions: BTreeMap<String, Session>,
    memory: BTreeMap<String, (String, Option<TaintTag>)>,
    contents: usize,
}

#[derive(Default)]
struct Session {
    taint: SessionTaint,
    confirmations: Confirmations,
    turns: Vec<Turn>,
    /// The changes as a store keeps them.
    changes: Vec<String>,
    confirmed: Vec<String>,
}

impl Session {
    fn change(&mut self, delta: &TaintDelta) {
        self.changes.push(serde_json::to_string(delta).unwrap());
        self.taint.apply(delta);
    }

    fn confirm(&mut self, delta: &ConfirmDelta) {
        self.confirmed.push(serde_json::to_string(delta).unwrap());
        self.confirmations.apply(delta);
    }

    /// As a process that starts anew finds it.
    fn restart(&mut self) {
        self.taint = SessionTaint::default();
        self.confirmations = Confirmations::default();
        for change in &self.changes {
            self.taint.apply(&serde_json::from_str(change).unwrap());
        }
        for change in &self.confirmed {
            self.confirmations.apply(&serde_json::from_str(change).unwrap());
        }
    }
}

impl World {
    pub(crate) fn new(rules: Rules) -> Self {
        let (sessions, memory) = (BTreeMap::new(), BTreeMap::new());
        Self { rules, sessions, memory, contents: 0 }
    }

    pub(crate) fn run(&mut self, steps: &Value) -> Vec<String> {
        let steps = steps.as_array().unwrap();
        steps.iter().flat_map(|step| self.step(step)).collect()
    }

    fn step(&mut self, step: &Value) -> Vec<String> {
        match text(step, "op") {
            "repeat" => {
                let times = step["times"].as_u64().unwrap();
                return (0..times).flat_map(|_| self.step(&step["step"])).collect();
            }
            "restart" => self.sessions.values_mut().for_each(Session::restart),
            "end" => self.session(step).taint = SessionTaint::default(),
            "resume" => self.session(step).restart(),
            "compact" => {
                let session = self.session(step);
                let snapshot = serde_json::to_string(&session.taint.snapshot()).unwrap();
                session.changes = vec![snapshot];
            }
            "content" => self.content(step),
            "delegate" => {
                let delta = self.session(step).taint.for_child();
                self.of(text(step, "child")).change(&delta);
            }
            "child_done" => {
                let delta = self.of(text(step, "child")).taint.for_parent();
                self.session(step).change(&delta);
            }
            "turn" => {
                let session = self.session(step);
                let source = Source::parse(text(step, "source")).unwrap();
                let turn = Turn::new(source, text(step, "text").to_owned(), &session.taint);
                session.turns.push(turn);
            }
            "fact" => {
                let (fact, quoted) = (text(step, "text"), text(step, "quoted"));
                let tag = inherited_by_fact(fact, quoted, &self.session(step).turns);
                self.memory.insert(text(step, "id").to_owned(), (fact.to_owned(), tag));
            }
            "memory_write" => self.memory_write(step),
            "memory_read" => self.memory_read(text(step, "session"), text(step, "id")),
            "ipc" => {
                let message = step["message"].to_string();
                let refused = model::ipc::parse(message.as_bytes()).is_err();
                return vec![if refused { "message rejected" } else { "accepted" }.to_owned()];
            }
            "say" => return vec![self.say(step).to_owned()],
            "check" => return vec![self.check(step).to_owned()],
            other => panic!("no step `{other}`"),
        }
        vec![]
    }

    fn session(&mut self, step: &Value) -> &mut Session {
        self.of(text(step, "session"))
    }

    fn of(&mut self, name: &str) -> &mut Session {
        self.sessions.entry(name.to_owned()).or_default()
    }

    fn content(&mut self, step: &Value) {
        let source = Source::parse(text(step, "source")).unwrap();
        let mut label = label(source, "corpus", 0);
        if let Some(flags) = step["taint"].as_str() {
            let flags = flags.split('|').filter(|it| !it.is_empty());
            label.taint = flags.map(|it| Taint::parse(it).unwrap()).fold(Taint::NONE, Taint::union);
        }
        self.contents += 1;
        if let Some(tokens) = step["tokens"].as_u64() {
            let delta = self.session(step).taint.delta_tokens(&label, tokens);
            return self.session(step).change(&delta);
        }
        if let Some(bytes) = step["bytes"].as_u64() {
            let tokens = tokens::tainted_bytes(bytes);
            let delta = self.session(step).taint.delta_tokens(&label, tokens);
            return self.session(step).change(&delta);
        }
        let mut content = match step["letter"].as_bool() {
            // One letter, another each time.
            Some(_) => {
                char::from_u32(0x400 + u32::try_from(self.contents).unwrap()).unwrap().into()
            }
            None => self.text_of(step),
        };
        if step["numbered"] == true {
            content.push_str(&self.contents.to_string());
        }
        let delta = self.session(step).taint.delta(&label, &content);
        self.session(step).change(&delta);
    }

    fn text_of(&self, step: &Value) -> String {
        match step["text"].as_str() {
            Some(text) => text.to_owned(),
            None => {
                let words = step["words"].as_u64().or(step["chars"].as_u64().map(|it| it / 4));
                prose(usize::try_from(words.unwrap() * 4).unwrap(), self.contents)
            }
        }
    }

    /// A row keeps the worse of its own label and of the session that writes it.
    fn memory_write(&mut self, step: &Value) {
        let tag = self.session(step).taint.tag();
        let id = text(step, "id").to_owned();
        let old = self.memory.get(&id).and_then(|(_, tag)| tag.clone());
        self.memory.insert(id, (self.text_of(step), worse(old.as_ref(), tag.as_ref())));
    }

    fn memory_read(&mut self, session: &str, id: &str) {
        let (content, tag) = self.memory[id].clone();
        let tag = tag.unwrap_or_else(|| label(Source::Memory, id, 0));
        let delta = self.of(session).taint.delta(&tag, &content);
        self.of(session).change(&delta);
    }

    fn say(&mut self, step: &Value) -> &'static str {
        let (session, user) = ids(text(step, "session"), text(step, "user"));
        let source = Source::parse(text(step, "source")).unwrap();
        let at = step["at"].as_i64().unwrap();
        let message =
            Message { text: text(step, "text"), session: &session, source, user: &user, at };
        let (understood, delta) = self.session(step).confirmations.hear(&message);
        if let Some(delta) = delta {
            self.session(step).confirm(&delta);
        }
        match understood {
            Confirmation::Yes(_) => "yes",
            Confirmation::No => "no",
            Confirmation::Ambiguous => "ambiguous",
            Confirmation::None => "none",
        }
    }

    /// As the gate does it: the budget objects, a person's yes lifts it, a block waits for one.
    fn check(&mut self, step: &Value) -> &'static str {
        let rules = self.rules.clone();
        let action = text(step, "action");
        let call = Digest::of(step["call"].as_str().unwrap_or("call").as_bytes());
        let now = step["at"].as_i64().unwrap_or(0);
        let session = self.session(step);
        if session.taint.check(&rules, action).is_ok() {
            return "allow";
        }
        if let Some(spent) = session.confirmations.take(action, call, now) {
            session.confirm(&spent);
            return "allow";
        }
        let call = (step["bound"] == true).then_some(call);
        let (id, owner) = ids(text(step, "session"), "ann");
        let action = action.to_owned();
        session.confirmations.stopped(Pending {
            action,
            call,
            session: id,
            owner,
            blocked_at: now,
            grounds: Default::default(),
        });
        "block"
    }

    pub(crate) fn peak_and_ratio(&self, session: &str) -> (u32, u32) {
        let budget = self.sessions[session].taint.budget();
        (budget.peak_millionths(), budget.ratio_millionths())
    }
}

fn ids(session: &str, user: &str) -> (SessionId, UserId) {
    (SessionId::parse(session).unwrap(), UserId::parse(user).unwrap())
}
