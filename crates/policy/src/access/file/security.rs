//! How careful the host is: `config.yaml`, `securityProfile` and the parts under `taintBudget`, `risk` and `files`.

use model::ipc::ActionName;
use model::{EffectKind, Profile};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Label, Number, text};
use crate::access::Glob;

/// The most actions that can be named as sensitive.
pub const ACTIONS_MAX: usize = 256;
/// The longest name of one, in bytes.
pub const ACTION_BYTES_MAX: usize = 128;
/// The most patterns in a list.
pub const PATTERNS_MAX: usize = 64;
/// The most turns that the sentinel looks back on.
pub const RISK_TURNS_MAX: usize = 32;
/// The fewest turns after which a critical session may be forgiven.
pub const RECOVER_TURNS_MIN: u32 = 4;
/// The most turns that a critical session may be asked to wait.
const RECOVER_TURNS_MAX: u32 = 100_000;

/// What is always sensitive, whatever list the operator writes.
pub const ALWAYS_SENSITIVE: &[&str] =
    &["browser_navigate", "oauth_call", "scheduler_add_cron", "skill_propose"];

/// What is sensitive by default, and no action of ours: names by which other hosts call theirs.
const OF_OTHERS: &[&str] = &[
    "identity_propose",
    "identity_write",
    "image_generate",
    "proposal_review",
    "sandbox_bash",
    "skill_import",
    "user_write",
    "workspace_write",
];

/// What outside content can stop by default: what a misled agent could do most harm with. Of our own actions their
/// rows say it, see [`EffectKind::is_budgeted`].
pub fn sensitive_actions() -> impl Iterator<Item = &'static str> {
    let kinds = EffectKind::ALL.iter().filter(|it| it.is_budgeted()).map(|it| it.as_str());
    let actions = ActionName::ALL.iter().filter(|it| it.kind().is_budgeted());
    kinds.chain(actions.map(|it| it.as_str())).chain(OF_OTHERS.iter().copied())
}

/// Is this the name of an effect or an action of ours, or one that is sensitive by default?
#[must_use]
pub fn is_known_action(name: &str) -> bool {
    EffectKind::parse(name).is_some()
        || ActionName::ALL.iter().any(|it| it.as_str() == name)
        || OF_OTHERS.contains(&name)
}

/// How careful the host is. What is not said is as it is by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Security {
    /// How careful sessions are; nobody opens one that is less so.
    pub profile: Option<Profile>,
    /// What outside content stops.
    pub taint_budget: TaintBudget,
    /// How the sentinel weighs.
    pub risk: RiskSettings,
    /// Files.
    pub files: FileSettings,
}

/// What outside content stops, and from which share on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TaintBudget {
    /// The share from outside above which it does, in place of that of the profile. A profile that is stricter than the
    /// host's keeps its own, if that is less.
    #[serde(default, deserialize_with = "share")]
    pub threshold: Option<f64>,
    /// These actions and [`ALWAYS_SENSITIVE`], in place of [`sensitive_actions`].
    #[serde(default, deserialize_with = "actions")]
    pub sensitive_actions: Option<Vec<String>>,
}

/// How the sentinel of risk weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RiskSettings {
    /// Turns that count, the present one included.
    #[serde(default, deserialize_with = "window")]
    pub window_turns: Option<usize>,
    /// What is left of a weight a turn later.
    #[serde(default, deserialize_with = "decay")]
    pub decay_per_turn: Option<f64>,
    /// Turns in a row that begin critical until the session is forgiven.
    #[serde(default, deserialize_with = "recover")]
    pub recover_after_turns: Option<u32>,
}

/// Files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileSettings {
    /// No agent reads these, whatever else is allowed.
    #[serde(default, deserialize_with = "paths")]
    pub deny_read: Vec<Glob>,
}

/// The profile that a file names.
pub(super) fn profile<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Profile>, D::Error> {
    text(input, |it| {
        Profile::parse(it).map(Some).map_err(|error| format!("`securityProfile`: {error}"))
    })
}

fn share<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    let Number(share) = Number::deserialize(input)?;
    if (0.0..=1.0).contains(&share) {
        return Ok(Some(share));
    }
    let why = format!("`taintBudget.threshold` is a share between 0 and 1, not `{share}`");
    Err(D::Error::custom(why))
}

fn actions<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    const KEY: &str = "`taintBudget.sensitiveActions`";
    let names: Vec<Label> = Vec::deserialize(input)?;
    if names.is_empty() || names.len() > ACTIONS_MAX {
        let why = format!("{KEY} has 1 to {ACTIONS_MAX} names, not {}", names.len());
        return Err(D::Error::custom(why));
    }
    let names: Vec<String> = names.into_iter().map(|it| it.0).collect();
    match names.iter().find(|it| !is_known_action(it)) {
        None => Ok(Some(names)),
        Some(bad) => {
            let bad = bad.chars().take(ACTION_BYTES_MAX).collect::<String>();
            Err(D::Error::custom(format!("{KEY}: `{}` is no action", bad.escape_debug())))
        }
    }
}

/// A whole number between two.
fn whole<E: Error>(number: f64, key: &str, from: u32, to: u32) -> Result<u32, E> {
    let is_whole = number.fract() == 0.0 && (f64::from(from)..=f64::from(to)).contains(&number);
    if !is_whole {
        return Err(E::custom(format!(
            "`risk.{key}` is a whole number from {from} to {to}, not `{number}`"
        )));
    }
    Ok(number as u32)
}

fn window<'de, D: Deserializer<'de>>(input: D) -> Result<Option<usize>, D::Error> {
    let Number(turns) = Number::deserialize(input)?;
    let turns = whole(turns, "window_turns", 1, RISK_TURNS_MAX as u32)?;
    Ok(Some(turns as usize))
}

fn recover<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    let Number(turns) = Number::deserialize(input)?;
    whole(turns, "recover_after_turns", RECOVER_TURNS_MIN, RECOVER_TURNS_MAX).map(Some)
}

fn decay<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    let Number(decay) = Number::deserialize(input)?;
    if decay > 0.0 && decay <= 1.0 {
        return Ok(Some(decay));
    }
    let why = format!("`risk.decay_per_turn` is more than 0 and at most 1, not `{decay}`");
    Err(D::Error::custom(why))
}

fn paths<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Glob>, D::Error> {
    patterns(input, "files.denyRead", Glob::path)
}

/// A list of patterns; `key` names it.
pub(super) fn patterns<'de, D: Deserializer<'de>, Why: std::fmt::Display>(
    input: D,
    key: &str,
    read: impl Fn(&str) -> Result<Glob, Why>,
) -> Result<Vec<Glob>, D::Error> {
    let all: Vec<Label> = Vec::deserialize(input)?;
    if all.len() > PATTERNS_MAX {
        return Err(D::Error::custom(format!("`{key}` has at most {PATTERNS_MAX} patterns")));
    }
    let all = all.iter().map(|it| read(it.0.trim()));
    all.collect::<Result<_, _>>().map_err(|why| D::Error::custom(format!("`{key}`: {why}")))
}

#[cfg(test)]
mod tests {
    use super::super::Global;
    use super::*;

    #[test]
    fn each_setting_is_read_and_none_is_assumed() {
        let text = "securityProfile: paranoid\n\
            taintBudget: {threshold: 0.2, sensitiveActions: [memory_write, tool_send]}\n\
            risk: {window_turns: 4, decay_per_turn: 0.5, recover_after_turns: 8}\n\
            files: {denyRead: [\"*.key\"]}\n";
        let read = Global::parse(text).unwrap();
        let security = read.security();
        assert_eq!(security.profile, Some(Profile::Paranoid));
        assert_eq!(security.taint_budget.threshold, Some(0.2));
        assert_eq!(security.taint_budget.sensitive_actions.as_ref().unwrap().len(), 2);
        assert_eq!(security.risk.window_turns, Some(4));
        assert_eq!(security.risk.decay_per_turn, Some(0.5));
        assert_eq!(security.risk.recover_after_turns, Some(8));
        assert!(security.files.deny_read[0].fits_path("/a.key"));
        assert_eq!(*Global::parse("tools: {}").unwrap().security(), Security::default());
    }

    #[test]
    fn a_value_that_is_not_understood_refuses_the_file_and_names_its_key() {
        for (text, key) in [
            ("securityProfile: relaxed", "securityProfile"),
            ("taintBudget: {threshold: 1.5}", "taintBudget.threshold"),
            ("taintBudget: {sensitiveActions: []}", "taintBudget.sensitiveActions"),
            ("taintBudget: {sensitiveActions: [oauth_cal]}", "oauth_cal"),
            ("taintBudget: {enabled: false}", "enabled"),
            ("risk: {window_turns: 0}", "risk.window_turns"),
            ("risk: {window_turns: 33}", "risk.window_turns"),
            ("risk: {decay_per_turn: 0}", "risk.decay_per_turn"),
            ("risk: {recover_after_turns: 3}", "risk.recover_after_turns"),
            ("files: {denyRead: [\"**\"]}", "files.denyRead"),
            ("shell: {blocked: [\"a;b\"]}", "shell.blocked"),
            ("egress: {flagPatterns: [\"*\"]}", "egress.flagPatterns"),
        ] {
            let error = Global::parse(text).unwrap_err().to_string();
            assert!(error.contains(key), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_always_sensitive_is_known_and_is_so_by_default() {
        for name in ALWAYS_SENSITIVE {
            assert!(is_known_action(name) && sensitive_actions().any(|it| it == *name), "{name}");
        }
    }
}
