//! Seccomp profiles as container engines read them (the OCI runtime's format), as far as they refuse calls.

use std::collections::BTreeSet;

use serde::Deserialize;

/// No profile is longer.
pub const PROFILE_BYTES_MAX: usize = 1 << 20;

/// What a profile refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Calls that are refused whatever their arguments are.
    pub denied: BTreeSet<String>,
    /// Calls that are refused for some arguments.
    pub denied_sometimes: BTreeSet<String>,
}

/// Why a profile is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is too long.
    #[error("a profile has at most {PROFILE_BYTES_MAX} bytes")]
    TooLong,
    /// It is no profile.
    #[error("it is no seccomp profile: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It allows by name, so that what it refuses is no list.
    #[error(
        "its default is `{0}` and not to allow: only profiles that refuse by name are understood"
    )]
    Default(String),
    /// An action that neither allows nor refuses.
    #[error("`{0}` neither allows nor refuses")]
    Action(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Text {
    default_action: String,
    #[serde(default)]
    default_errno_ret: Option<u32>,
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    syscalls: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    names: Vec<String>,
    action: String,
    #[serde(default)]
    errno_ret: Option<u32>,
    #[serde(default)]
    args: Vec<Argument>,
    #[serde(default)]
    comment: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Argument {
    index: u32,
    value: u64,
    #[serde(default)]
    value_two: u64,
    op: String,
}

impl Profile {
    /// Reads the text of a profile.
    ///
    /// # Errors
    /// If it is none, or one that does not say what it refuses.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        if text.len() > PROFILE_BYTES_MAX {
            return Err(ProfileError::TooLong);
        }
        let read: Text = serde_json::from_str(text)?;
        if read.default_action != "SCMP_ACT_ALLOW" || read.default_errno_ret.is_some() {
            return Err(ProfileError::Default(read.default_action));
        }
        // On machines that are not named a profile refuses nothing.
        if read.architectures.iter().any(|it| !it.starts_with("SCMP_ARCH_")) {
            return Err(ProfileError::Action(read.architectures.join(" ")));
        }
        let mut profile = Self { denied: BTreeSet::new(), denied_sometimes: BTreeSet::new() };
        for rule in read.syscalls {
            profile.take(rule)?;
        }
        Ok(profile)
    }

    fn take(&mut self, rule: Rule) -> Result<(), ProfileError> {
        let refuses = match rule.action.as_str() {
            "SCMP_ACT_ERRNO"
            | "SCMP_ACT_KILL"
            | "SCMP_ACT_KILL_PROCESS"
            | "SCMP_ACT_KILL_THREAD" => true,
            "SCMP_ACT_ALLOW" => false,
            other => return Err(ProfileError::Action(other.to_owned())),
        };
        // An error that is none would let the call seem to succeed.
        if rule.errno_ret == Some(0) {
            return Err(ProfileError::Action("errnoRet 0".to_owned()));
        }
        let _said_to_people = rule.comment;
        for it in &rule.args {
            let (known, _) = (it.op.starts_with("SCMP_CMP_"), (it.index, it.value, it.value_two));
            if !known {
                return Err(ProfileError::Action(it.op.clone()));
            }
        }
        if refuses {
            let list =
                if rule.args.is_empty() { &mut self.denied } else { &mut self.denied_sometimes };
            list.extend(rule.names);
        }
        Ok(())
    }
}
