//! A small runtime of its own: an agent that does what it is told in a word. It runs on the thread of the turn, with
//! interrupts and questions.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use agent::{
    AgentCard, Approval, Aside, Estimate, Frame, Purse, Question, Rebuilder, Reply, Runtime,
    Status, ToolEvent, Turn, TurnError, TurnErrorCode, Watches, WorkerEvent,
};
use evidence::Receipt;
use llm::Usage;
use serde_json::json;
use serve::{Deleted, Personal, Put};

/// Something that looks like a key.
pub(crate) const KEY: &str = concat!(
    "sk-ant-",
    "api03-",
    "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzA1bC3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vWxYzA1bC3dE5fG7hI9jK1lM2n-AAAAAA"
);

#[derive(Default)]
pub(crate) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
    /// Who is told of workers.
    watcher: Mutex<Option<Arc<dyn Watches>>>,
    /// What exports are taken from.
    pub(crate) drawer: Mutex<()>,
    /// What was deleted cannot be taken out of what is kept beside the rows.
    pub(crate) holds_back: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Turns that run, and what ends each.
    running: HashMap<String, Arc<AtomicBool>>,
    /// Questions by session and id, and the answer.
    asked: HashMap<(String, String), Option<bool>>,
    turns: Vec<Turn>,
    closed: Vec<String>,
    forgotten: Vec<String>,
    /// How often it was looked for what is too old.
    retained: usize,
    reloads: usize,
    /// Questions that were asked, by the session.
    calls: Vec<String>,
}

/// How often it is looked whether a turn is to end.
const LOOK: Duration = Duration::from_millis(10);

impl State {
    fn is_over(&self, session: &str) -> bool {
        self.running.get(session).is_none_or(|it| it.load(Ordering::Acquire))
    }
}

impl Desk {
    pub(crate) fn turns(&self) -> Vec<Turn> {
        self.state.lock().unwrap().turns.clone()
    }

    pub(crate) fn retained(&self) -> usize {
        self.state.lock().unwrap().retained
    }

    pub(crate) fn forgotten(&self) -> Vec<String> {
        self.state.lock().unwrap().forgotten.clone()
    }

    pub(crate) fn calls(&self) -> usize {
        self.state.lock().unwrap().calls.len()
    }

    pub(crate) fn reloads(&self) -> usize {
        self.state.lock().unwrap().reloads
    }

    pub(crate) fn closed(&self) -> Vec<String> {
        self.state.lock().unwrap().closed.clone()
    }

    fn interrupted(&self, session: &str, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        let mut state = self.state.lock().unwrap();
        loop {
            if state.is_over(session) {
                return true;
            }
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            state = self.changed.wait_timeout(state, left.min(LOOK)).unwrap().0;
        }
    }

    fn ask(&self, session: &str, tool: &str) -> bool {
        let key = (session.to_owned(), tool.to_owned());
        let mut state = self.state.lock().unwrap();
        state.asked.insert(key.clone(), None);
        loop {
            let answer = state.asked.get(&key).copied().flatten();
            if answer.is_some() || state.is_over(session) {
                state.asked.remove(&key);
                return answer.unwrap_or(false);
            }
            state = self.changed.wait_timeout(state, LOOK).unwrap().0;
        }
    }

    /// One question to a model, as far as the purse goes, and what it used. Some of them want much.
    fn work(
        &self,
        turn: &Turn,
        purse: &dyn Purse,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Reply, TurnError> {
        let mut words = turn.content.split_whitespace();
        match words.next() {
            Some("calls") => return self.several(turn, purse, words.next()),
            Some("burn") => return self.burn(turn, purse, words.next()),
            Some(_) | None => {}
        }
        let is_much = turn.content.starts_with("sleep") || turn.content.ends_with("perhaps");
        let aside = paid(purse, 0, if is_much { 16_000 } else { 20 })?;
        let done = self.answer(turn, on_frame);
        let (usage, is_all) = match &done {
            Ok(reply) => (reply.usage, true),
            Err(error) => (error.usage, error.is_all),
        };
        if is_all {
            purse.after(aside, &usage, None);
        }
        done
    }

    /// So many questions, one after the other, of 400 tokens each.
    fn several(
        &self,
        turn: &Turn,
        purse: &dyn Purse,
        most: Option<&str>,
    ) -> Result<Reply, TurnError> {
        let mut made = 0;
        let usage = Usage { input_tokens: 300, output_tokens: 100, ..Usage::default() };
        while made < most.unwrap().parse().unwrap() {
            let aside = paid(purse, 300, 100)?;
            made += 1;
            self.state.lock().unwrap().calls.push(turn.session.clone());
            purse.after(aside, &usage, None);
        }
        let content = format!("asked {made} times");
        Ok(Reply { content, interrupted: false, usage, tool_calls: Vec::new() })
    }

    /// Questions of 100 tokens each until the process is killed. Whoever answers them counts them in a file.
    fn burn(&self, turn: &Turn, purse: &dyn Purse, file: Option<&str>) -> Result<Reply, TurnError> {
        let open = || OpenOptions::new().create(true).append(true).open(file.unwrap());
        let usage = Usage { output_tokens: 100, ..Usage::default() };
        while !self.interrupted(&turn.session, Duration::ZERO) {
            let aside = paid(purse, 0, 100)?;
            open().unwrap().write_all(b".").unwrap();
            purse.after(aside, &usage, None);
        }
        let (content, tool_calls) = ("burnt".to_owned(), Vec::new());
        Ok(Reply { content, interrupted: true, usage, tool_calls })
    }

    fn answer(&self, turn: &Turn, on_frame: &mut dyn FnMut(Frame)) -> Result<Reply, TurnError> {
        let mut words = turn.content.split_whitespace();
        on_frame(Frame::Status { status: Status::Thinking });
        let mut usage = Usage { input_tokens: 10, output_tokens: 20, ..Usage::default() };
        let (mut interrupted, mut tool_calls) = (false, Vec::new());
        let number =
            |it: Option<&str>, other: u64| it.and_then(|it| it.parse().ok()).unwrap_or(other);
        let content = match words.next() {
            Some("sleep") => {
                let ms = number(words.next(), 1000);
                interrupted = self.interrupted(&turn.session, Duration::from_millis(ms));
                "slept".to_owned()
            }
            Some("spend") => {
                usage = Usage { output_tokens: number(words.next(), 0), ..Usage::default() };
                usage.cache_read_tokens = number(words.next(), 0);
                "spent".to_owned()
            }
            Some("flood") => {
                for id in 0..number(words.next(), 10) {
                    on_frame(Frame::Token { id, text: format!("{id} ") });
                }
                "flooded".to_owned()
            }
            Some("letters") => {
                let rest = words.collect::<Vec<_>>().join(" ");
                for (id, letter) in (0..).zip(rest.chars()) {
                    on_frame(Frame::Token { id, text: letter.to_string() });
                    // Something else in between does not make two texts of one.
                    on_frame(Frame::Status { status: Status::Responding });
                }
                return Ok(Reply { content: rest, interrupted, usage, tool_calls });
            }
            Some("tool") => {
                let (tool_name, tool_id) = ("file_read".to_owned(), "t1".to_owned());
                on_frame(Frame::ToolUseStart { id: 1, tool_name, tool_id: tool_id.clone() });
                for piece in ["{\"path\":", "\"a.txt\"}"] {
                    let (tool_id, partial_json) = (tool_id.clone(), piece.to_owned());
                    on_frame(Frame::ToolUseInput { tool_id, partial_json });
                }
                on_frame(Frame::ToolResult { id: 2, tool_id, content: "read".to_owned() });
                tool_calls.push(("file_read".to_owned(), "denied".to_owned()));
                "done".to_owned()
            }
            Some("marks") => {
                let mut anew = Rebuilder::default();
                for it in [
                    json!({ "type": "token", "id": 1, "text": "I look." }),
                    json!({ "type": "tool_use_start", "id": 2, "toolName": "a", "toolId": "t" }),
                    json!({ "type": "token", "id": 3, "text": "One\r\nTwo \u{200f}and " }),
                ] {
                    on_frame(anew.take(&it).unwrap());
                }
                let content = "One\r\nTwo \u{200f}and three\r\n".to_owned();
                return Ok(Reply { content, interrupted, usage, tool_calls });
            }
            Some("watch") => {
                self.tell_all(turn);
                "watched".to_owned()
            }
            Some("ask") => {
                format!("answered {}", self.ask(&turn.session, words.next().unwrap_or("t1")))
            }
            Some("panic") => panic!("a worker that breaks"),
            Some("fail") => {
                let message = format!("log in at evil.example \u{1b}[31m{}", "x".repeat(5000));
                return Err(TurnError::new(TurnErrorCode::WorkerError, message).after(usage));
            }
            Some("unreachable") => {
                let code = TurnErrorCode::ModelError(llm::ErrorKind::Unreachable);
                return Err(TurnError::new(code, "nobody answered").after(usage));
            }
            Some("waste") => {
                usage = Usage { output_tokens: number(words.next(), 0), ..Usage::default() };
                let error = TurnError::new(TurnErrorCode::Busy, "not kept").after(usage);
                return Err(if words.next().is_some() { error.perhaps_more() } else { error });
            }
            Some(_) | None => format!("you said: {}", turn.content),
        };
        on_frame(Frame::Token { id: 9, text: content.clone() });
        Ok(Reply { content, interrupted, usage, tool_calls })
    }
}

impl Desk {
    /// Everything that can become of a worker and of a call.
    fn tell_all(&self, turn: &Turn) {
        let watcher = self.watcher.lock().unwrap().clone().unwrap();
        let (user, agent, session) = (&*turn.user, &*turn.agent, &*turn.session);
        for event in [
            WorkerEvent::Spawned,
            WorkerEvent::Ready { ms: 1 },
            WorkerEvent::ReadyTimeout,
            WorkerEvent::NotStarted,
            WorkerEvent::IdleTimeout,
            WorkerEvent::Lacks { count: 1 },
            WorkerEvent::Broke,
            WorkerEvent::FrameRejected { count: 2 },
            WorkerEvent::Exit,
        ] {
            watcher.worker(user, agent, session, event);
        }
        for event in [
            ToolEvent::Called,
            ToolEvent::Completed { well: true, ms: 3 },
            ToolEvent::Denied { decision: "deny", rule: "a-rule" },
        ] {
            watcher.tool((user, agent, session), "file_read", event);
        }
    }
}

fn paid(purse: &dyn Purse, input_tokens: u64, output_tokens: u64) -> Result<Aside, TurnError> {
    let most = Estimate { input_tokens, output_tokens, price: None };
    purse.before(&most).map_err(|why| TurnError::new(why.code, why.message))
}

impl Runtime for Desk {
    fn agents(&self) -> Vec<AgentCard> {
        Vec::new()
    }

    fn turn(
        &self,
        turn: &Turn,
        purse: &Arc<dyn Purse>,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Reply, TurnError> {
        {
            let mut state = self.state.lock().unwrap();
            state.turns.push(turn.clone());
            state.running.insert(turn.session.clone(), Arc::clone(&turn.stop));
        }
        let done = self.work(turn, &**purse, on_frame);
        self.state.lock().unwrap().running.remove(&turn.session);
        done
    }

    fn interrupt(&self, _user: &str, _agent: &str, session: &str) {
        if let Some(stop) = self.state.lock().unwrap().running.get(session) {
            stop.store(true, Ordering::Release);
        }
    }

    fn approve(&self, _user: &str, approval: &Approval) -> bool {
        let key = (approval.session.clone(), approval.tool_id.clone());
        let mut state = self.state.lock().unwrap();
        let open = state.asked.get_mut(&key).filter(|it| it.is_none());
        let taken = open.map(|it| *it = Some(approval.approved)).is_some();
        drop(state);
        self.changed.notify_all();
        taken
    }

    fn questions(&self, _user: &str, session: &str) -> Vec<Question> {
        let state = self.state.lock().unwrap();
        let open = state.asked.iter().filter(|it| it.0.0 == session && it.1.is_none());
        let question = |(key, _): (&(String, String), _)| Question {
            tool_id: key.1.clone(),
            tool_name: "shell_exec".to_owned(),
            shown: match key.1.as_str() {
                "leak" => vec!["rm -r build".to_owned(), format!("with {KEY}")],
                _ => vec!["rm -r build".to_owned()],
            },
        };
        open.map(question).collect()
    }

    fn watched_by(&self, watcher: Arc<dyn Watches>) {
        *self.watcher.lock().unwrap() = Some(watcher);
    }

    fn reloaded(&self) -> Vec<String> {
        self.state.lock().unwrap().reloads += 1;
        Vec::new()
    }

    fn close(&self, _user: &str, _agent: &str, session: &str) {
        self.state.lock().unwrap().closed.push(session.to_owned());
    }
}

/// What an agent keeps of sessions lies on the desk; nothing else is outside of the books.
impl Personal for Desk {
    fn forget(&self, _: &str, _: &str, session: &str) -> Result<(), String> {
        self.state.lock().unwrap().forgotten.push(session.to_owned());
        Ok(())
    }

    fn export(&self, user: &str, _: &Receipt, put: &mut Put<'_>) -> Result<(), String> {
        // Whoever holds the drawer keeps it waiting.
        drop(self.drawer.lock().unwrap());
        put("workspaces/anns/of.txt", user.as_bytes())
    }

    fn delete(&self, _: &str, _: &Receipt) -> Result<Deleted, String> {
        Ok(Deleted { memory_files: 1, workspace_files: 2, jobs: 3, proposals: 4 })
    }

    fn retain(&self, _: Duration, _: Duration) -> Result<usize, String> {
        self.state.lock().unwrap().retained += 1;
        Ok(0)
    }

    fn wipe(&self) -> Result<bool, String> {
        match self.holds_back.load(Ordering::Acquire) {
            true => Err("the index of words does not answer".to_owned()),
            false => Ok(true),
        }
    }
}

pub(crate) fn desk() -> Arc<Desk> {
    Arc::default()
}
