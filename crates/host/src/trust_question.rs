//! The question whether the user trusts a folder: put into the queue of approvals when an agent first works in one that is
//! not known, once, and answered as any other. A yes is trust, as `lazaret trust DIR` gives it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use aegx::{Digest, Principal, RecordType};
use evidence::{Clock as _, Journal, NewRecord, SystemClock};
use model::ipc::Uuid;
use model::{AgentId, EffectKind, Kind, SessionId, UserId};
use monitor::approvals::{
    Approval, ApprovalState, Approvals as _, ExactCall, LIFE_SECONDS_MAX, Question,
};
use monitor::{Grounds, Reason, Shown, ShownArg};
use serde_json::json;

use crate::fetched::Fetched;
use crate::gate::Gate;
use crate::trust::{Trust, Trusted};

/// What is asked for. No tool and no action has a name with a space in it.
const ASKED_FOR: &str = "trust folder";
/// The session of such questions, which nobody works in.
const SESSION: &str = "folders";
/// The argument that names the folder.
const FOLDER: &str = "folder";
/// Folders that were asked about, in the state directory.
const FILE: &str = "trust-asked.json";
/// Folders that are asked about; beyond that `lazaret trust DIR` is the way.
const ASKED_MAX: usize = 2000;
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// The longest name of a folder that is asked about, in bytes.
const NAME_BYTES_MAX: usize = 2000;

/// Asks about a folder, unless that was done before; gives the question if it is new. Nothing here is an error: a folder that
/// nobody can be asked about is simply not trusted.
pub(crate) fn ask(
    gate: &Gate,
    home: &Path,
    folder: &Path,
    user: (&UserId, &AgentId, Option<&Path>),
) -> Option<Uuid> {
    let (user, agent, user_home) = user;
    let name = folder.to_str().filter(|it| it.len() <= NAME_BYTES_MAX)?;
    let now = SystemClock.unix_seconds();
    let trusted = Trusted { path: folder.to_owned(), by: String::new(), since: now };
    // What is too much to trust is not asked about.
    Trust::default().add(trusted, user_home).ok()?;
    let path = home.join(FILE);
    let kept = files::private::read_if_there(&path, FILE_BYTES_MAX).ok()?;
    let kept = kept.map_or_else(|| Ok(BTreeSet::new()), |it| serde_json::from_slice(&it));
    let mut asked: BTreeSet<String> = kept.ok()?;
    if asked.len() >= ASKED_MAX || !asked.insert(name.to_owned()) {
        return None;
    }
    let call = ExactCall {
        session: SessionId::parse(SESSION).ok()?,
        action: EffectKind::ControlPlaneChange,
        digest: Digest::of(name.as_bytes()),
    };
    let why = "an agent works in it, and it is not known: what its files say counts as outside content until you trust it";
    let shown = Shown {
        tool: ASKED_FOR.to_owned(),
        args: vec![ShownArg {
            name: FOLDER.to_owned(),
            value: name.to_owned(),
            is_text: true,
            hidden_chars: 0,
            tail: String::new(),
        }],
        reasons: vec![Reason { rule: "folder-unknown".to_owned(), why: why.to_owned() }],
        grounds: Grounds::objection("folder-unknown", name),
        ..Shown::default()
    };
    let expires = now.saturating_add(LIFE_SECONDS_MAX);
    let (user, agent) = (user.clone(), agent.clone());
    let id = gate.store.ask(&Question { call, user, agent, shown, created: now, expires }).ok()?;
    let text = serde_json::to_vec(&asked).ok()?;
    files::private::replace(&path, &text).ok()?;
    Some(id)
}

/// The folder that a question is about, if it is one of these.
#[must_use]
pub fn folder_of(question: &Question) -> Option<PathBuf> {
    let call = &question.call;
    let is_ours = call.session.as_str() == SESSION
        && call.action == EffectKind::ControlPlaneChange
        && question.shown.tool == ASKED_FOR;
    let arg = question.shown.args.first().filter(|it| is_ours && it.name == FOLDER)?;
    let is_it = call.digest == Digest::of(arg.value.as_bytes());
    is_it.then(|| PathBuf::from(&arg.value))
}

/// Does what a person's yes to such a question says: the folder is trusted. Others are none of its business.
///
/// # Errors
/// If the folder is not what it was, or trust cannot be recorded or kept.
pub fn answered(journal: &Journal, home: &Path, done: &Approval) -> Result<(), String> {
    let Some(folder) = folder_of(&done.question) else { return Ok(()) };
    let Some((answer, _)) =
        done.answered.as_ref().filter(|_| done.state == ApprovalState::Approved)
    else {
        return Ok(());
    };
    let shown = folder.display().to_string();
    let real = files::resolved(&folder).map_err(|error| format!("`{shown}`: {error}"))?;
    if real != folder || !folder.is_dir() {
        return Err(format!("`{shown}` is no folder any more"));
    }
    let text = |it: &dyn std::fmt::Display| it.to_string();
    let mut trust = Trust::of(home).map_err(|it| text(&it))?;
    let trusted =
        Trusted { path: folder.clone(), by: answer.by.as_str().to_owned(), since: answer.at };
    trust.add(trusted, std::env::home_dir().as_deref()).map_err(|it| text(&it))?;
    let content =
        json!({ "folder": shown, "by": answer.by.as_str(), "approval": done.id.to_string() });
    let kind = Kind::of_static("folder_trusted");
    let record = NewRecord {
        principal: Principal::User,
        ..NewRecord::of_host(RecordType::GuardDecision, kind, content)
    };
    journal.append(record).map_err(|it| text(&it))?;
    trust.keep(home).map_err(|it| text(&it))?;
    Fetched::change(home, |it| it.remove_below(&folder)).map_err(|it| text(&it))
}
