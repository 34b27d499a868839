//! The words by which people call an action.

use std::collections::BTreeSet;

use model::EffectKind;
use model::ipc::ActionName;

/// Parts of a name that are shorter say nothing.
const PART_CHARS_MIN: usize = 3;

/// The words for an action: the parts of its name, and what people say for it.
pub(super) fn of(action: &str) -> BTreeSet<String> {
    let action = action.to_ascii_lowercase();
    let parts = action.split(|it: char| !it.is_ascii_alphanumeric());
    let mut words: BTreeSet<String> =
        parts.filter(|it| it.len() >= PART_CHARS_MIN).map(str::to_owned).collect();
    words.extend(said(&action).iter().map(|it| (*it).to_owned()));
    words.insert(action);
    words
}

/// What people say for actions that are none of ours.
const OF_OTHERS: &[(&str, &[&str])] = &[
    ("identity_propose", &["change", "propose"]),
    ("identity_write", &["save", "update"]),
    ("image_generate", &["create", "draw", "make", "picture"]),
    ("sandbox_bash", &["command", "execute", "run", "script", "shell"]),
    ("user_write", &["profile", "save", "update"]),
    ("workspace_write", &["file", "save"]),
];

/// What people say for an action beside the parts of its name.
fn said(action: &str) -> &'static [&'static str] {
    let own = EffectKind::parse(action).or(ActionName::parse(action).map(ActionName::kind));
    let other = || OF_OTHERS.iter().find(|(name, _)| *name == action).map_or(&[][..], |(_, it)| it);
    own.map_or_else(other, EffectKind::said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_called_by_its_parts_and_by_what_people_say() {
        let words = of("oauth_call");
        assert!(["oauth", "call", "oauth_call", "email"].iter().all(|it| words.contains(*it)));
        let own = of("mcp:Mail.forward_to");
        assert!(own.contains("mail") && own.contains("forward") && !own.contains("to"));
        assert!(OF_OTHERS.is_sorted_by_key(|(name, _)| *name));
        // A job that comes once is called as one that comes again.
        assert!(
            of("scheduler_run_at").contains("reminder") && of("sandbox_bash").contains("shell")
        );
    }
}
