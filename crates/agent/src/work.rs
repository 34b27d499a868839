//! The worker: the process that the loop runs in. It has one socket, and nothing else of the world.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use llm::{Answer, Message, Usage};
use serde_json::Value;

use crate::frame::{Frame, Status};
use crate::message::{FromWorker, Hooks, Purpose, Said, SessionName, ToWorker};
use crate::query::{Conversation, Done, Parent, Stopped};
use crate::wire;

/// The first argument by which a program is asked to be a worker.
pub const WORKER: &str = "__worker";

/// The socket is where other programs have their standard output: what is left of the descriptors leads nowhere.
#[must_use]
pub fn worker() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    let stdout = io::stdout();
    let mut input = File::from(stdout.as_fd().try_clone_to_owned()?);
    let output = File::from(stdout.as_fd().try_clone_to_owned()?);
    let link = Arc::new(Link::new(output));
    let Some(ToWorker::Init { config, .. }) = hear(&mut input)? else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "nobody said who it is for"));
    };
    let (says, heard) = mpsc::channel();
    let work = Arc::clone(&link);
    let turns = thread::Builder::new().name("turns".to_owned());
    turns.spawn(move || turns_of(&work, &heard, config.hooks))?;
    link.say(&FromWorker::Ready {})?;
    while let Some(said) = hear(&mut input)? {
        match said {
            ToWorker::Message { content, resume_session_id, history } => {
                link.interrupted.store(false, Ordering::Release);
                let asked = Asked { content, session: resume_session_id, history };
                // If the turns have ended, so does this.
                if says.send(asked).is_err() {
                    break;
                }
            }
            ToWorker::Interrupt {} => link.interrupt(),
            ToWorker::Shutdown {} => break,
            ToWorker::ToolApprovalResponse { tool_id, approved } => {
                link.answered(&tool_id, approved)
            }
            ToWorker::Piece { id, piece } => link.deliver(id, Event::Piece(piece)),
            ToWorker::Answer { id, answer } => link.deliver(id, Event::Answer(answer)),
            ToWorker::NoAnswer { id, code, message } => {
                link.deliver(id, Event::None { code, message });
            }
            ToWorker::Called { id, answer } => link.deliver(id, Event::Called(answer)),
            // Who it works for is said once.
            ToWorker::Init { .. } => break,
        }
    }
    Ok(())
}

fn hear(input: &mut File) -> io::Result<Option<ToWorker>> {
    let Some(bytes) = wire::read(input)? else { return Ok(None) };
    Ok(Some(serde_json::from_slice(&bytes)?))
}

struct Asked {
    content: String,
    session: Option<String>,
    history: Vec<Message>,
}

fn turns_of(link: &Link, asked: &Receiver<Asked>, hooks: Hooks) {
    let mut conversation = Conversation::new(hooks);
    while let Ok(Asked { content, session, history }) = asked.recv() {
        let Some(session) = session.and_then(|it| SessionName::try_from(it).ok()) else { return };
        let first_message = content.chars().take(FIRST_CHARS_MAX).collect();
        let said = FromWorker::SessionId { session_id: session.clone(), first_message };
        if link.say(&said).is_err() {
            return;
        }
        conversation.resume(history);
        let (ended, done) = conversation.turn(&content, link);
        let interrupted = ended == Err(Stopped::Interrupted);
        let status = if interrupted { Status::Interrupted } else { Status::Idle };
        link.show(&Frame::Status { status });
        let said = match ended {
            Err(Stopped::Failed { code, message }) => FromWorker::Error { code, message },
            Ok(()) | Err(Stopped::Interrupted) => result(session, interrupted, done),
        };
        if link.say(&said).is_err() {
            return;
        }
    }
}

/// Characters of the first message that name a session.
const FIRST_CHARS_MAX: usize = 200;

fn result(session_id: SessionName, interrupted: bool, done: Done) -> FromWorker {
    // The parent counts for itself.
    let usage = Usage::default();
    let Done { content: response_content, calls: tool_calls } = done;
    FromWorker::Result { session_id, interrupted, usage, response_content, tool_calls }
}

enum Event {
    Piece(Said),
    Answer(Answer),
    None { code: String, message: String },
    Called(Value),
}

/// The socket, and who waits for what.
struct Link {
    output: Mutex<File>,
    waiting: Mutex<HashMap<u64, Sender<Event>>>,
    approvals: Mutex<HashMap<String, Sender<bool>>>,
    interrupted: AtomicBool,
    next: AtomicU64,
}

impl Link {
    fn new(output: File) -> Self {
        Self {
            output: Mutex::new(output),
            waiting: Mutex::default(),
            approvals: Mutex::default(),
            interrupted: AtomicBool::new(false),
            next: AtomicU64::new(0),
        }
    }

    fn say(&self, said: &FromWorker) -> io::Result<()> {
        wire::write(&mut *held(&self.output), &serde_json::to_vec(said)?)
    }

    /// Nobody waits any longer: those who do find their answer gone.
    fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
        held(&self.waiting).clear();
        held(&self.approvals).clear();
    }

    fn deliver(&self, id: u64, event: Event) {
        if let Some(waits) = held(&self.waiting).get(&id) {
            // Whoever waited may have gone.
            let _ = waits.send(event);
        }
    }

    fn answered(&self, tool_id: &str, approved: bool) {
        if let Some(waits) = held(&self.approvals).remove(tool_id) {
            let _ = waits.send(approved);
        }
    }

    /// Asks for something and waits; the number is forgotten when that ends.
    fn begin(&self) -> (u64, Receiver<Event>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (says, hears) = mpsc::channel();
        held(&self.waiting).insert(id, says);
        (id, hears)
    }

    fn stopped(&self) -> Result<(), Stopped> {
        if self.interrupted.load(Ordering::Acquire) { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}

impl Parent for Link {
    fn ask(
        &self,
        purpose: Purpose,
        messages: &[Message],
        on_piece: &mut dyn FnMut(Said),
    ) -> Result<Answer, Stopped> {
        let (id, hears) = self.begin();
        self.stopped()?;
        self.say(&FromWorker::Ask { id, purpose, messages: messages.to_vec() }).map_err(gone)?;
        let answer = loop {
            match hears.recv() {
                Ok(Event::Piece(piece)) => on_piece(piece),
                Ok(Event::Answer(answer)) => break Ok(answer),
                Ok(Event::None { code, message }) => {
                    break Err(Stopped::Failed { code, message });
                }
                Ok(Event::Called(_)) => {}
                Err(_) => break Err(Stopped::Interrupted),
            }
        };
        held(&self.waiting).remove(&id);
        answer
    }

    fn call(&self, messages: &[Value]) -> Result<Vec<Value>, Stopped> {
        let mut begun = Vec::new();
        for message in messages {
            let (id, hears) = self.begin();
            self.stopped()?;
            self.say(&FromWorker::Call { id, message: message.clone() }).map_err(gone)?;
            begun.push((id, hears));
        }
        let mut answers = Vec::new();
        for (id, hears) in begun {
            match hears.recv() {
                Ok(Event::Called(answer)) => answers.push(answer),
                Ok(Event::Piece(_) | Event::Answer(_) | Event::None { .. }) => {
                    answers.push(Value::Null);
                }
                Err(_) => return Err(Stopped::Interrupted),
            }
            held(&self.waiting).remove(&id);
        }
        Ok(answers)
    }

    fn approve(&self, tool_id: &str, name: &str, input: &Value) -> Result<bool, Stopped> {
        let (says, hears) = mpsc::channel();
        held(&self.approvals).insert(tool_id.to_owned(), says);
        self.stopped()?;
        let asked = FromWorker::ToolApprovalRequest {
            tool_id: tool_id.to_owned(),
            tool_name: name.to_owned(),
            tool_input: input.clone(),
        };
        self.say(&asked).map_err(gone)?;
        hears.recv().map_err(|_| Stopped::Interrupted)
    }

    fn show(&self, frame: &Frame) {
        // A person who sees less of it is no reason to stop.
        if let Ok(frame) = serde_json::to_value(frame) {
            let _ = self.say(&FromWorker::Frame { frame });
        }
    }
}

fn gone(error: io::Error) -> Stopped {
    Stopped::Failed { code: "gone".to_owned(), message: error.to_string() }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
