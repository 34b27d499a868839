//! What is asked, in one sentence.

use model::EffectKind;
use monitor::ShownArg;
use monitor::approvals::Approval;

use super::text::{self, quoted};

/// How long a value in a sentence is, in characters.
const VALUE_CHARS: usize = 72;

/// Deeds that have a word of their own, and the argument that says of what.
const DEEDS: &[(EffectKind, &str, &str)] = &[
    (EffectKind::ShellExec, "run", "command"),
    (EffectKind::FileRead, "read", "path"),
    (EffectKind::FileWrite, "write", "path"),
    (EffectKind::WebFetch, "open", "url"),
    (EffectKind::BrowserNavigate, "open", "url"),
    (EffectKind::WebSearch, "search the web for", "query"),
    (EffectKind::OauthCall, "call the service", "service"),
    (EffectKind::SkillPropose, "propose the skill", "skill"),
    (EffectKind::SchedulerAdd, "have this done later:", "prompt"),
];

/// The deed, fit for a terminal.
pub(super) fn sentence(it: &Approval) -> String {
    let shown = &it.question.shown;
    let tool = text::name(&shown.tool);
    let value = |names: &[&str]| {
        let arg = names.iter().find_map(|name| shown.args.iter().find(|it| it.name == *name));
        arg.map(part)
    };
    let of = |verb: &str, names: &[&str]| value(names).map(|it| format!("{verb} {it}"));
    let row = DEEDS.iter().find(|row| row.0 == it.question.call.action);
    let own = match row {
        Some((kind, verb, param)) => of(verb, &[param]).map(|deed| {
            let more = MORE.iter().filter(|it| it.0 == *kind);
            let more = more.filter_map(|(_, joint, param)| of(joint, &[param]));
            [deed].into_iter().chain(more).collect::<Vec<_>>().join(" ")
        }),
        None => of("run", &["command", "cmd"]).map(|it| format!("{it} by {tool}")),
    };
    own.unwrap_or_else(|| {
        let to = destinations(&shown.destinations);
        let first = shown.args.iter().find(|_| to.is_empty());
        let with = first.map(|it| format!(" with {} {}", text::name(&it.name), part(it)));
        format!("use {tool}{to}{}", with.unwrap_or_default())
    })
}

/// Arguments that make it another deed: where a command starts, what is done at a service.
const MORE: &[(EffectKind, &str, &str)] = &[
    (EffectKind::ShellExec, "in", "dir"),
    (EffectKind::OauthCall, "with", "method"),
    (EffectKind::OauthCall, "at", "path"),
];

fn part(arg: &ShownArg) -> String {
    let piece: String = arg.value.chars().take(VALUE_CHARS).collect();
    let is_cut = piece.len() < arg.value.len() || arg.hidden_chars > 0;
    let piece = if arg.is_text { quoted(&piece) } else { text::seen(&piece) };
    if is_cut { piece + "…" } else { piece }
}

/// Who gets something; how many they are, if there are several.
fn destinations(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [only] => format!(", to {}", quoted(only)),
        [first, rest @ ..] => format!(", to {} and {} more", quoted(first), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_nothing_acts_on_a_terminal() {
        let arg = |value: &str| ShownArg {
            name: "command".to_owned(),
            value: value.to_owned(),
            is_text: true,
            hidden_chars: 0,
            tail: String::new(),
        };
        assert_eq!(part(&arg("a\u{1b}[2J")), r#""a\u{1b}[2J""#);
        let long = part(&arg(&"x".repeat(VALUE_CHARS + 1)));
        assert_eq!(long, format!("\"{}\"…", "x".repeat(VALUE_CHARS)));
    }
}
