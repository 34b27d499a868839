//! The words by which people call an action.

use std::collections::BTreeSet;

/// Parts of a name that are shorter say nothing.
const PART_CHARS_MIN: usize = 3;

/// The words for an action: the parts of its name, and what people say for it.
pub(super) fn of(action: &str) -> BTreeSet<String> {
    let action = action.to_ascii_lowercase();
    let parts = action.split(|it: char| !it.is_ascii_alphanumeric());
    let mut words: BTreeSet<String> =
        parts.filter(|it| it.len() >= PART_CHARS_MIN).map(str::to_owned).collect();
    let spoken = SPOKEN.iter().find(|(name, _)| *name == action).map_or(&[][..], |(_, it)| it);
    words.extend(spoken.iter().map(|it| (*it).to_owned()));
    words.insert(action);
    words
}

const SPOKEN: &[(&str, &[&str])] = &[
    ("agent_delegate", &["task"]),
    ("browser_click", &["button", "link", "page"]),
    ("browser_navigate", &["link", "open", "page", "site", "url", "visit", "website"]),
    ("browser_type", &["field", "fill", "form", "text"]),
    ("control_plane_change", &["apply", "config", "configuration", "setting", "settings"]),
    ("identity_propose", &["change", "propose"]),
    ("identity_write", &["save", "update"]),
    ("image_generate", &["create", "draw", "make", "picture"]),
    (
        "oauth_call",
        &["api", "email", "mail", "make", "message", "post", "reply", "request", "send"],
    ),
    ("sandbox_bash", &["command", "execute", "run", "script", "shell"]),
    ("scheduler_add_cron", &["job", "reminder", "schedule", "task"]),
    ("scheduler_run_at", &["job", "reminder", "schedule", "task"]),
    ("shell_exec", &["command", "execute", "run", "script"]),
    ("skill_propose", &["proposal"]),
    ("tool_destroy", &["delete", "remove"]),
    ("tool_send", &["email", "mail", "message"]),
    ("user_write", &["profile", "save", "update"]),
    ("workspace_write", &["file", "save"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_called_by_its_parts_and_by_what_people_say() {
        let words = of("oauth_call");
        assert!(["oauth", "call", "oauth_call", "email"].iter().all(|it| words.contains(*it)));
        let own = of("mcp:Mail.forward_to");
        assert!(own.contains("mail") && own.contains("forward") && !own.contains("to"));
        assert!(SPOKEN.is_sorted_by_key(|(name, _)| *name));
    }
}
