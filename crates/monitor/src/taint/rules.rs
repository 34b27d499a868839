//! Which actions outside content may stop, and from which share of it on.

use std::collections::BTreeSet;

use model::Profile;
use model::ipc::ActionName;
use policy::access::{Security, TaintBudget};

pub use policy::access::{
    ACTION_BYTES_MAX, ACTIONS_MAX, ALWAYS_SENSITIVE, is_known_action, sensitive_actions,
};

/// The budget's settings, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    threshold: Threshold,
    sensitive: BTreeSet<Box<str>>,
}

/// A share of outside content, between none and all, in millionths. More than it is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Threshold(u32);

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// Not a share.
    #[error("the threshold is a share between 0 and 1, not `{share}`")]
    Threshold {
        /// What was said.
        share: f64,
    },
    /// No action at all would be watched.
    #[error("at least one sensitive action must be named")]
    NoActions,
    /// Over [`ACTIONS_MAX`].
    #[error("at most {ACTIONS_MAX} sensitive actions can be named")]
    TooManyActions,
    /// A name that no action has, so that it would protect nothing.
    #[error("`{name}` is no action")]
    UnknownAction {
        /// The name, escaped.
        name: String,
    },
}

impl Rules {
    /// The rules of a profile, with the actions of [`sensitive_actions`].
    #[must_use]
    pub fn of(profile: Profile) -> Self {
        let sensitive = sensitive_actions().map(Box::from).collect();
        Self { threshold: profile.into(), sensitive }
    }

    /// Rules of the operator. `known` says which actions there are; [`is_known_action`] knows ours.
    ///
    /// # Errors
    /// If no action is named, too many are, or one that is not known.
    pub fn new<'a>(
        threshold: Threshold,
        actions: impl IntoIterator<Item = &'a str>,
        known: impl Fn(&str) -> bool,
    ) -> Result<Self, RulesError> {
        let mut sensitive = BTreeSet::new();
        for name in actions {
            if !is_plain(name) || !known(name) {
                let name = name.chars().take(ACTION_BYTES_MAX).collect::<String>();
                return Err(RulesError::UnknownAction { name: name.escape_debug().to_string() });
            }
            sensitive.insert(Box::from(name));
            if sensitive.len() > ACTIONS_MAX {
                return Err(RulesError::TooManyActions);
            }
        }
        if sensitive.is_empty() {
            return Err(RulesError::NoActions);
        }
        Ok(Self { threshold, sensitive })
    }

    /// The rules of a session with this profile on a host with these settings. What the operator writes stands in place of
    /// the default; a profile that is stricter than the host's keeps its own threshold, if that is less. What is in
    /// [`ALWAYS_SENSITIVE`] stays so.
    #[must_use]
    pub fn under(profile: Profile, host: &Security) -> Self {
        let TaintBudget { threshold, sensitive_actions: named } = &host.taint_budget;
        let own = Self::of(profile);
        let said = threshold.and_then(|it| Threshold::from_share(it).ok());
        let threshold = match said {
            Some(said) if profile < host.profile.unwrap_or_default() => said.min(own.threshold),
            Some(said) => said,
            None => own.threshold,
        };
        let Some(named) = named else { return Self { threshold, ..own } };
        // A call is judged by the kind of its effect: an action means its kind.
        let kind = |name: &str| {
            let action = ActionName::ALL.iter().find(|it| it.as_str() == name);
            action.map(|it| it.kind().as_str())
        };
        let named = named.iter().map(String::as_str).chain(ALWAYS_SENSITIVE.iter().copied());
        let sensitive =
            named.flat_map(|it| [Some(it), kind(it)]).flatten().map(Box::from).collect();
        Self { threshold, sensitive }
    }

    /// Can outside content stop this action?
    #[must_use]
    pub fn is_sensitive(&self, action: &str) -> bool {
        self.sensitive.contains(action)
    }

    /// The share from which on it does.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }
}

impl Threshold {
    /// One, in our unit.
    pub const ALL_MILLIONTHS: u32 = 1_000_000;

    /// A share as settings say it: `0.35`.
    ///
    /// # Errors
    /// If it is not between 0 and 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was checked; whole millionths are exact"
    )]
    pub fn from_share(share: f64) -> Result<Self, RulesError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(RulesError::Threshold { share });
        }
        Ok(Self((share * f64::from(Self::ALL_MILLIONTHS)).round() as u32))
    }

    /// In thousandths, rounded down.
    #[must_use]
    pub fn permille(self) -> u16 {
        u16::try_from(self.0 / 1000).unwrap_or(u16::MAX)
    }

    /// In millionths.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }
}

impl From<Profile> for Threshold {
    fn from(profile: Profile) -> Self {
        Self(u32::from(profile.taint_permille_max()) * 1000)
    }
}

fn is_plain(name: &str) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || b"-_.:/".contains(&it);
    (1..=ACTION_BYTES_MAX).contains(&name.len()) && name.bytes().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_share() {
        for bad in [-0.1, 1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Threshold::from_share(bad).is_err(), "{bad}");
        }
        assert_eq!(Threshold::from_share(0.35).unwrap().millionths(), 350_000);
        assert_eq!(Threshold::from_share(1.0).unwrap().millionths(), Threshold::ALL_MILLIONTHS);
        assert_eq!(Threshold::from_share(0.3).unwrap(), Profile::Standard.into());
    }

    #[test]
    fn a_name_that_protects_nothing_is_an_error() {
        let rules = |names: &[&str]| {
            Rules::new(Profile::Standard.into(), names.iter().copied(), is_known_action)
        };
        assert!(rules(&["oauth_call", "skill_propose"]).is_ok());
        assert!(rules(&["tool_send"]).is_ok(), "an effect that is not sensitive by default");
        assert!(rules(&["sandbox_bash"]).is_ok(), "an action that is no effect here");
        assert_eq!(rules(&[]), Err(RulesError::NoActions));
        for bad in ["oauth_cal", "OAUTH_CALL", "", "oauth_call ", "a\u{202e}b"] {
            assert!(matches!(rules(&[bad]), Err(RulesError::UnknownAction { .. })), "{bad:?}");
        }
    }

    #[test]
    fn a_name_that_cannot_be_one_is_an_error_whoever_knows_it() {
        let rules = |name: &str| Rules::new(Profile::Standard.into(), [name], |_| true);
        assert!(rules("mcp:mail.forward_to/all-2").is_ok());
        assert!(rules(&"a".repeat(ACTION_BYTES_MAX)).is_ok());
        for bad in ["", "a b", "a\nb", "é", &"a".repeat(ACTION_BYTES_MAX + 1)] {
            assert!(matches!(rules(bad), Err(RulesError::UnknownAction { .. })), "{bad:?}");
        }
    }

    #[test]
    fn too_many_names_are_refused() {
        let names: Vec<String> = (0..=ACTIONS_MAX).map(|it| format!("tool_{it}")).collect();
        let rules = Rules::new(Profile::Yolo.into(), names.iter().map(String::as_str), |_| true);
        assert_eq!(rules, Err(RulesError::TooManyActions));
    }
}
