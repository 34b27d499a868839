//! What a person does with the state directory: their word is in the journal before anything changes.
//!
//! A gate that runs has the journal, and records for us by its control socket. Else it is opened here; whoever else
//! has it, another command of a person, is waited for a moment.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use aegx::Digest;
use evidence::{Config, Journal, Reader, Receipt};
use host::control::{self, AskError, Deed, DeedError, Request};
use model::{SessionId, Taint, UserId};
use serde_json::{Map, Value};

use crate::evidence::open;
use crate::failure::Failure;
use crate::gate::setup::policy_of;
use crate::home::Home;

/// How long another command may have the journal.
const WAIT: Duration = Duration::from_secs(5);
/// How often it is looked whether it is free.
const LOOK: Duration = Duration::from_millis(20);

/// Who does it, and why.
#[derive(clap::Args)]
pub(crate) struct By {
    /// Who you are, for the record [env: USER]
    // Read below, as `home::Home` reads its own.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

impl By {
    pub(crate) fn user(&self) -> Result<UserId, Failure> {
        let by = match self.by.clone().or_else(|| std::env::var("USER").ok()) {
            Some(by) => by,
            // Where nobody is named, who the system says it is.
            None => format!("uid-{}", rustix::process::getuid().as_raw()),
        };
        UserId::parse(&by).map_err(|error| Failure::usage(format!("--by: {error}")))
    }
}

/// An act that was recorded and is about to be done.
pub(crate) struct Act {
    ledger: Ledger,
    by: UserId,
    pub(crate) receipt: Receipt,
}

/// Who writes the journal.
enum Ledger {
    /// This command.
    Own(Box<Journal>),
    /// The gate whose door is here.
    Gate { door: PathBuf, journal: PathBuf },
}

impl Act {
    /// Records a person's word.
    ///
    /// INVARIANT (RecordThenAct): whoever does it wants the receipt.
    pub(crate) fn begin(
        home: &Home,
        kind: &'static str,
        by: &UserId,
        taint: Taint,
        content: Value,
    ) -> Result<Self, Failure> {
        Self::begin_about(home, kind, by, (taint, None), content)
    }

    /// The same, about a session.
    pub(crate) fn begin_about(
        home: &Home,
        kind: &'static str,
        by: &UserId,
        (taint, session): (Taint, Option<SessionId>),
        content: Value,
    ) -> Result<Self, Failure> {
        let content = content.as_object().cloned().unwrap_or_default();
        let deed = Deed { kind, by: by.clone(), taint, session, after: None, content };
        let (journal, door) = (home.journal()?, control::socket_path(&home.dir()?));
        let end = Instant::now() + WAIT;
        let (ledger, receipt) = loop {
            let gate = Ledger::Gate { door: door.clone(), journal: journal.clone() };
            if let Some(receipt) = gate.record(&deed)? {
                break (gate, receipt);
            }
            match open::writer_unless_busy(&Config::new(&journal))? {
                Ok(own) => {
                    let policy = || policy_of(&home.dir()?, None);
                    let policy = deed.by_hand().map(|_| policy()).transpose()?;
                    let judged = deed.by_hand().zip(policy).map(|(it, policy)| it.judge(&policy));
                    let receipt = deed.record(&own, judged).map_err(not_recorded)?;
                    break (Ledger::Own(Box::new(own)), receipt);
                }
                // A gate that is just starting has the journal before it has a door.
                Err(busy) if Instant::now() >= end => {
                    let why =
                        "and does not answer; nothing was changed, try again when it has ended";
                    return Err(Failure::unable(format!("{busy} {why}")));
                }
                Err(_) => thread::sleep(LOOK),
            }
        };
        Ok(Self { ledger, by: by.clone(), receipt })
    }

    /// Ends it. What came to nothing is on record as well.
    pub(crate) fn end<T>(
        self,
        done: Result<T, Failure>,
        failed: &'static str,
    ) -> Result<(T, String), Failure> {
        let Self { ledger, by, receipt } = self;
        if let Err(failure) = &done {
            let error = Value::String(failure.message().to_owned());
            let content = Map::from_iter([("error".to_owned(), error)]);
            let after = Some(receipt.id());
            let deed = Deed { kind: failed, by, taint: Taint::NONE, session: None, after, content };
            ledger.record(&deed)?.ok_or_else(|| Failure::unable("the gate has gone away"))?;
        }
        if let Ledger::Own(journal) = ledger {
            journal.close().map_err(Failure::unable)?;
        }
        done.map(|it| (it, receipt.id().to_string()))
    }

    /// Both, around what is done. The text of a failure must name nothing but names.
    pub(crate) fn around<T>(
        home: &Home,
        by: &By,
        (kind, failed): (&'static str, &'static str),
        content: Value,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let act = Self::begin(home, kind, &by.user()?, Taint::NONE, content)?;
        act.end(work(), failed).map(|(done, _)| done)
    }
}

impl Ledger {
    /// Records a deed; none if no gate is there.
    fn record(&self, deed: &Deed) -> Result<Option<Receipt>, Failure> {
        let (door, journal) = match self {
            Self::Own(journal) => {
                return deed.record(journal, None).map(Some).map_err(not_recorded);
            }
            Self::Gate { door, journal } => (door, journal),
        };
        let answer = match control::ask(door, &Request::Act(deed.clone())) {
            Ok(answer) => answer,
            Err(AskError::Nobody) => return Ok(None),
            Err(AskError::Refused(error)) => return Err(Failure::refused(error)),
            Err(error) => return Err(Failure::unable(error)),
        };
        let idx = answer.get("idx").and_then(Value::as_u64);
        let id = answer.get("record").and_then(Value::as_str);
        let id = id.and_then(|it| Digest::from_hex(it.as_bytes()));
        let found = match idx.zip(id) {
            // The gate's word is believed when its record is seen.
            Some((idx, id)) => Reader::open(journal).and_then(|it| it.receipt(idx, id)),
            None => Ok(None),
        };
        let missing = || Failure::unable("the gate says that it is recorded, and it is not there");
        found.map_err(open::failure)?.map(Some).ok_or_else(missing)
    }
}

fn not_recorded(error: DeedError) -> Failure {
    match error {
        DeedError::Denied(_) => Failure::refused(error),
        DeedError::NotRecorded(error) => Failure::unable(error),
    }
}
