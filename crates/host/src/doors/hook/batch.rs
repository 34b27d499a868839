//! The last look at what tools gave, before the model reads it: a result whose own hook did not arrive is taken in here.

use hooks::{Event, Reply};

use super::HookDoor;
use super::call::{Came, warning};
use super::session::{Hooked, key_of};

impl HookDoor<'_> {
    /// Takes in what the calls of a batch gave back that nothing was heard of since they began. Nothing can be replaced any more: what
    /// the model must not read stops the session.
    pub(super) fn batch(&self, session: &mut Hooked, calls: &[Event]) -> Result<Reply, String> {
        let mut told = Reply::Pass;
        for call in calls {
            let Event::After { tool, output, failed, shape } = call else { continue };
            if !session.waits_for(&key_of(tool)) {
                continue;
            }
            match self.after(session, tool, Came { output, failed: *failed, shape })? {
                Reply::Pass => {}
                // All of them are heard, whatever is said of one.
                reply @ Reply::Context { .. } => told = first(told, reply),
                // With marks around it, and nothing taken out.
                Reply::Replace { text } if text.contains(output.as_str()) => {
                    told = first(told, Reply::Context { text: warning(tool) });
                }
                Reply::Deny { reason } | Reply::Ask { reason } | Reply::Withhold { reason } => {
                    told = Reply::Withhold { reason };
                }
                Reply::Replace { .. } => {
                    let reason =
                        format!("what {} gave back must not be read as it came", tool.name);
                    told = Reply::Withhold { reason };
                }
            }
        }
        Ok(told)
    }
}

/// What is told first stays.
fn first(told: Reply, reply: Reply) -> Reply {
    if told == Reply::Pass { reply } else { told }
}
