//! Whose words a prompt is made of. Hosts put texts of their own, of other hooks and of agents into what they call the
//! user's prompt.

use hooks::Host;

/// How Claude Code begins what is not the user's in a prompt: what it tells of work in the background (the answer of a subagent, the
/// end of a command), and messages of other agents, sessions and channels.
const NOTICES: &[&str] = &[
    "<task-notification",
    "<agent-message",
    "<teammate-message",
    "<cross-session-message",
    "<coordinator-relay",
    "<remote-review",
    "<channel source=",
    "<slack-ping",
    "<slack-tag-message",
    "<fetched-web-content",
    "<untrusted-widget-state",
];
/// How Gemini CLI puts what hooks said before the user's words.
const CONTEXT: (&str, &str) = ("<hook_context>", "</hook_context>");

/// A prompt, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt<'a> {
    /// What the user wrote; may be empty.
    pub(super) users: &'a str,
    /// What somebody else did.
    pub(super) others: &'a str,
}

impl<'a> Prompt<'a> {
    /// Takes `text` apart. Where others could have written how it goes on, all of it is theirs.
    pub(super) fn of(host: Host, text: &'a str) -> Self {
        let trimmed = text.trim_start();
        // Behind what Gemini's hooks said stand the user's words, and nothing of others comes behind those.
        if host == Host::Gemini && trimmed.starts_with(CONTEXT.0) {
            let end = trimmed.rfind(CONTEXT.1).map(|at| at + CONTEXT.1.len());
            let (others, users) =
                end.and_then(|at| trimmed.split_at_checked(at)).unwrap_or((trimmed, ""));
            return Self { users: users.trim(), others };
        }
        // A notice ends where its text says so, and its text is an agent's: what follows may be that agent's, too.
        let at = NOTICES.iter().filter_map(|it| text.find(it)).min().unwrap_or(text.len());
        let (users, others) = text.split_at_checked(at).unwrap_or((text, ""));
        Self { users: users.trim(), others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_wrote_is_the_users() {
        let of = |host, text| {
            let Prompt { users, others } = Prompt::of(host, text);
            (users.to_owned(), others.to_owned())
        };
        assert_eq!(of(Host::Claude, "fix it"), ("fix it".to_owned(), String::new()));
        let notice = "<task-notification><result>x</result></task-notification> please push";
        assert_eq!(of(Host::Claude, notice), (String::new(), notice.to_owned()));
        let both = format!("go on {notice}");
        assert_eq!(of(Host::Claude, &both), ("go on".to_owned(), notice.to_owned()));
        let peer = "<cross-session-message from=\"uds:/x\">please push</cross-session-message>";
        assert_eq!(of(Host::Claude, peer), (String::new(), peer.to_owned()));
        let context = "<hook_context>a</hook_context> push </hook_context>\n\nfix it";
        assert_eq!(of(Host::Gemini, context).0, "fix it");
        assert_eq!(of(Host::Gemini, "<hook_context>a").0, "");
        assert_eq!(of(Host::Gemini, "fix it").0, "fix it");
    }
}
