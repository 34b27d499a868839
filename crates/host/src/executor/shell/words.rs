//! Whose words the answer to a command is made of, and what label they carry.
//!
//! A command without a network says what it made of what it could read: its own line, the workspace and the system. So its
//! words carry the labels of the session and of the files in the workspace, and none of their own: what the user's own
//! build prints came from nobody outside. One with a network may say whatever somebody told it.

use model::{Source, TaintTag};
use monitor::{Words, taint};
use sandbox::cage::{Held, Rung};
use sandbox::runner::{Ran, RunError};

use super::super::net::Net;
use super::ORIGIN;

/// Where the words of an answer come from.
pub(super) struct Origin {
    pub(super) words: Words,
    /// The label of the session, with what the command had from the network.
    pub(super) session: Option<TaintTag>,
    /// The label of what lay in the workspace before the command and after it.
    pub(super) there: Option<TaintTag>,
    /// What the command had from the network.
    pub(super) web: Option<TaintTag>,
}

impl Origin {
    /// The label as the agent is told of it. Hosts that were reached were named by the command: they stand in the label
    /// that is kept, and not here.
    pub(super) fn shown(&self, now: i64) -> Option<TaintTag> {
        let unknown = taint::label(Source::Tool, ORIGIN, now);
        let label = match self.words {
            Words::Theirs => self.web.as_ref().or(Some(&unknown)).cloned(),
            Words::Read => taint::worse(self.session.as_ref(), self.there.as_ref()),
            Words::Ours => self.web.clone(),
        };
        label.map(|it| TaintTag { origin: ORIGIN.to_owned(), ..it })
    }
}

/// How a command ended and how long it took are the host's words; all else that is told of it is the command's. One
/// without a way to the network, that could read nothing but the workspace and the system, has its words from there.
pub(super) fn words(ran: &Result<Ran, RunError>, net: &Net) -> Words {
    let is_confined = match ran {
        Ok(ran) => !net.was_there && reads_only_what_is_shown(&ran.held),
        // Nobody knows what held.
        Err(_) => false,
    };
    let said_something = ran.as_ref().map_or(true, |ran| {
        let printed = [&ran.stdout, &ran.stderr].iter().any(|it| it.bytes > 0);
        printed || net.refused_text().is_some() || !ran.aside.is_empty()
    });
    match (said_something, is_confined) {
        (false, _) => Words::Ours,
        (true, true) => Words::Read,
        (true, false) => Words::Theirs,
    }
}

/// Did a rung hold that keeps a command from the files around its workspace?
fn reads_only_what_is_shown(held: &Held) -> bool {
    [Rung::Namespaces, Rung::Landlock, Rung::Seatbelt].iter().any(|it| held.holds(*it))
}
