//! The events that are wired are those that crate `hooks` understands, and none that decides or carries content is left
//! out unsaid.

use hooks::{Dialect, Kind, dialect};

use super::*;

/// Events that are not wired though they are of a kind that is, and why. This list should only shrink.
const LEFT_OUT: &[(Host, &str, &str)] = &[
    (
        Host::Claude,
        "UserPromptExpansion",
        "its text is that of a command's file and not the user's; what the user typed comes by UserPromptSubmit",
    ),
    (Host::Cursor, "beforeTabFileRead", "completion of code is no agent: it calls no tools"),
    (Host::Cursor, "afterTabFileEdit", "completion of code is no agent: it calls no tools"),
    (Host::Cursor, "afterShellExecution", "postToolUse says the same and can be answered"),
    (Host::Cursor, "afterMCPExecution", "postToolUse says the same and can be answered"),
    (Host::Cursor, "afterFileEdit", "postToolUse says the same and can be answered"),
    (Host::Copilot, "PreToolUse", "another name of preToolUse"),
    (Host::Copilot, "PostToolUse", "another name of postToolUse"),
    (Host::Copilot, "PostToolUseFailure", "another name of postToolUseFailure"),
    (Host::Copilot, "PermissionRequest", "another name of permissionRequest"),
    (Host::Copilot, "UserPromptSubmit", "another name of userPromptSubmitted"),
    (Host::Copilot, "SessionStart", "another name of sessionStart"),
    (Host::Copilot, "SessionEnd", "another name of sessionEnd"),
    (Host::Copilot, "SubagentStart", "another name of subagentStart"),
    (Host::Copilot, "SubagentStop", "another name of subagentStop"),
];

fn is_needed(kind: Kind) -> bool {
    match kind {
        Kind::SessionStart
        | Kind::SessionEnd
        | Kind::Prompt
        | Kind::Before
        | Kind::Permission
        | Kind::After
        | Kind::Failed
        | Kind::Batch
        | Kind::SubagentStart
        | Kind::SubagentStop
        | Kind::Instructions => true,
        Kind::Compact | Kind::Stop | Kind::Other => false,
    }
}

/// The events that a host's installer wires: from the table, or out of the text of the plugin.
fn wired(host: Host) -> Vec<&'static str> {
    if host != Host::OpenCode {
        return events(host).to_vec();
    }
    let asked = PLUGIN.split("ask(\"").skip(1).filter_map(|it| it.split('"').next());
    let watched = PLUGIN.lines().find_map(|it| it.strip_prefix("const WATCHED = "));
    let watched = watched.into_iter().flat_map(|it| it.split('"').skip(1).step_by(2));
    asked.chain(watched).collect()
}

fn needed(dialect: &'static Dialect) -> impl Iterator<Item = &'static str> {
    dialect.events().filter(|it| dialect.kind(it).is_some_and(is_needed))
}

#[test]
fn every_event_that_is_wired_is_understood() {
    for host in Host::ALL {
        let wired = wired(host);
        assert!(wired.len() >= 6, "{host}: {wired:?}");
        for (at, event) in wired.iter().enumerate() {
            assert!(dialect(host).kind(event).is_some(), "{host} {event} has no row");
            assert!(!wired.iter().take(at).any(|it| it == event), "{host} {event} twice");
        }
    }
}

#[test]
fn every_event_that_matters_is_wired_or_left_out_with_a_reason() {
    for host in Host::ALL {
        let wired = wired(host);
        for event in needed(dialect(host)) {
            let is_left_out = LEFT_OUT.iter().any(|it| (it.0, it.1) == (host, event));
            let is_wired = wired.contains(&event);
            assert!(is_wired != is_left_out, "{host} {event}: wired or left out, not both");
        }
    }
    for (host, event, why) in LEFT_OUT {
        let is_there = needed(dialect(*host)).any(|it| it == *event);
        assert!(is_there && !why.is_empty(), "{host} {event} need not be left out");
    }
}

/// A list of events that decide, or need a matcher, names only events that are wired.
#[test]
fn special_events_are_wired() {
    for (host, some) in [
        (Host::Claude, CLAUDE_DECIDING),
        (Host::Gemini, GEMINI_MATCHED),
        (Host::Cursor, CURSOR_DECIDING),
    ] {
        assert!(some.iter().all(|it| wired(host).contains(it)), "{host}");
    }
    // What a host lets pass when the hook fails is closed for everything that is asked before it happens.
    for (host, closed) in [(Host::Claude, CLAUDE_DECIDING), (Host::Cursor, CURSOR_DECIDING)] {
        for event in wired(host) {
            let kind = dialect(host).kind(event);
            let is_asked = matches!(kind, Some(Kind::Prompt | Kind::Before | Kind::Permission));
            assert!(!is_asked || closed.contains(&event), "{host} {event}");
        }
    }
}
