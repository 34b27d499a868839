//! How careful a session is: what the host's settings say, and its agent's manifest, which may only be stricter.

use std::sync::Arc;

use model::Profile;
use policy::access::{Glob, Security};
use shell::Blocklist;

use crate::admission::Admission;
use crate::risk::Tuning;
use crate::taint::Rules;

/// What a session is judged by beside the policy.
#[derive(Clone, Debug)]
pub(crate) struct Posture {
    /// When outside content stops something.
    pub(crate) rules: Arc<Rules>,
    /// How the sentinel weighs.
    pub(crate) tuning: Tuning,
    /// What must not run.
    pub(crate) blocked: Blocked,
    /// What is not read.
    pub(crate) deny_read: Arc<[Glob]>,
}

/// What must not run, by where it would run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocked {
    pub(crate) on_the_machine: Blocklist,
    pub(crate) in_a_cage: Blocklist,
}

impl Posture {
    /// Of a session with this profile.
    pub(crate) fn of(admission: &Admission, profile: Profile) -> Self {
        let usual = Security::default();
        let (security, blocked) = match admission {
            Admission::OnePerson => (&usual, &[][..]),
            Admission::Layered { global, .. } => {
                (global.security(), global.shell().blocked.as_slice())
            }
        };
        Self {
            rules: Arc::new(Rules::under(profile, security)),
            tuning: Tuning::under(&security.risk),
            blocked: Blocked {
                on_the_machine: Blocklist::default().and(blocked),
                in_a_cage: Blocklist::in_a_cage().and(blocked),
            },
            deny_read: security.files.deny_read.as_slice().into(),
        }
    }
}

impl Admission {
    /// How careful a session is where whoever opens it does not say.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.no_less_than(match self {
            Self::OnePerson => Profile::default(),
            Self::Layered { global, .. } => global.security().profile.unwrap_or_default(),
        })
    }

    /// The strictest of `profile`, the host's settings and the manifest.
    pub(crate) fn no_less_than(&self, profile: Profile) -> Profile {
        let Self::Layered { global, manifest, .. } = self else { return profile };
        let said = [global.security().profile, manifest.security_profile];
        said.into_iter().flatten().fold(profile, Profile::min)
    }
}
