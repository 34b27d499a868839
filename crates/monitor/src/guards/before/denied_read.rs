//! Objects to a call that would read a file which the host's settings close to all agents (`files.denyRead`).
//!
//! Threat: an agent, misled or not, reads keys or papers that lie where it works, and what it has read leaves with it.

use model::{Decision, Objection};

use crate::guards::Guard;
use crate::preview::preview;
use crate::proposed::Proposed;
use crate::rule::Rule;

/// How much of a path is shown, in characters.
const PATH_CHARS_SHOWN: usize = 120;

pub(crate) struct DeniedRead;

impl Guard<Proposed> for DeniedRead {
    fn id(&self) -> Rule {
        Rule::DeniedRead
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let Some(denied) = proposed.denied_read() else { return Vec::new() };
        let path = preview(&denied.path, PATH_CHARS_SHOWN);
        let why = format!("`{path}` is not read here: the settings close `{}`", denied.pattern);
        vec![
            Objection::new(self.id(), Decision::Deny, "denied_read", why)
                .with_remedy("do without this file, or have the operator change `files.denyRead`"),
        ]
    }
}
