//! Agents that are given more than a person gave them, and commands against us.

use super::{has_unknown, option};
use crate::{Call, Engine, Rule, Words, names};

/// Programs that run commands for a model.
static AGENTS: Words = Words::named("judge.agents.AGENTS");
/// Options that take the questions away, or give tools and servers.
static WIDENING: Words = Words::named("judge.agents.WIDENING");
/// Values of these options that ask no less.
static HARMLESS: Words = Words::named("judge.agents.HARMLESS");
/// Kinds of things that agents are given, and words that give them.
static KINDS: Words = Words::named("judge.agents.KINDS");
static GIVING: Words = Words::named("judge.agents.GIVING");
/// What this program is called.
const OURSELVES: &str = "lazaret";
/// Commands of ours that only tell, or run others in a cage.
const TELLING: [&str; 12] = [
    "--help",
    "--version",
    "-V",
    "-h",
    "check",
    "demo",
    "doctor",
    "exec",
    "help",
    "replay",
    "schema",
    "status",
];
/// Groups of commands, and which of each only tell. Of others, such a word is the value of an option, or a name.
const TOLD: [(&str, &[&str]); 18] = [
    ("access", &["list"]),
    ("agents", &["list", "show"]),
    ("approvals", &["grants", "list", "show"]),
    ("credentials", &["check"]),
    ("daemon", &["status"]),
    ("evidence", &["query", "stats", "verify"]),
    ("gate", &["explain"]),
    ("mcp", &["list"]),
    ("models", &["list"]),
    ("observe", &["status"]),
    ("plugins", &["list", "verify"]),
    ("policy", &["check", "explain", "schema", "test"]),
    ("scheduler", &["list"]),
    ("sessions", &["show"]),
    ("skills", &["list", "show"]),
    ("taint", &["show"]),
    ("vault", &["list"]),
    ("workers", &["list"]),
];
/// The program that speaks for an agent's host: what it says counts as the user's words, or as what a tool gave back.
const HOOK: &str = "lazaret-hook";
/// A pattern for names of processes that is longer is not looked into, in bytes.
const PATTERN_BYTES_MAX: usize = 64;

impl Engine {
    pub(super) fn judge_agents(&mut self, call: &Call<'_>) {
        if (AGENTS.contains(&call.name.as_str()) && widens(call)) || is_told_so(call) {
            self.ask(Rule::Agent, "an agent is given more than it was given before");
        }
        if changes_ourselves(call) {
            self.ask(Rule::Agent, "it changes what stands between an agent and the machine");
        }
        // Whose child it is, asked of the system.
        let names_parent = |it: &String| it.to_lowercase().contains("ppid");
        let looks = matches!(call.name.as_str(), "ps" | "awk" | "grep" | "sed" | "cut");
        self.names_parent |= looks && call.plain().iter().any(names_parent);
        let ends_us = match call.name.as_str() {
            "pkill" | "killall" | "skill" => {
                call.words().iter().any(|it| names_us(it) || is_shell_of_ours(call, it))
            }
            "kill" => has_unknown(call) && (self.names_parent || self.looked_up(names_us)),
            _ => false,
        };
        // The same in another language.
        let is_code = |it: &String| {
            it.contains("kill")
                && ["getppid", "process.ppid", "Process.ppid"].iter().any(|name| it.contains(name))
        };
        let by_code = names::interpreter(&call.name).is_some() && call.plain().iter().any(is_code);
        if ends_us || by_code {
            self.ask(Rule::Kill, "it may end what watches over it");
        }
    }
}

/// `killall bash` ends the shell that runs it, and whoever else sits before one.
fn is_shell_of_ours(call: &Call<'_>, word: &str) -> bool {
    matches!(word, "bash" | "sh" | "zsh" | "fish" | "dash") && !call.short('f')
}

/// A part of a name is enough for those that look for processes, and so is a pattern.
fn names_us(word: &str) -> bool {
    let first = word.split(' ').next().unwrap_or_default();
    let last = first.rsplit('/').next().unwrap_or_default();
    let bare = last.trim_start_matches('^').trim_end_matches('$').replace(['[', ']'], "");
    let is_pattern =
        (3..=PATTERN_BYTES_MAX).contains(&last.len()) && last.contains(['.', '*', '+', '?', '[']);
    bare.contains(OURSELVES)
        || (bare.len() >= 3 && OURSELVES.contains(&bare))
        || (is_pattern && regex::Regex::new(last).is_ok_and(|it| it.is_match(OURSELVES)))
}

/// Options that nothing else has: whatever starts the agent, a runner of packages or a container.
fn is_told_so(call: &Call<'_>) -> bool {
    const SEARCHING: [&str; 6] = ["ag", "egrep", "fgrep", "git", "grep", "rg"];
    const TOLD: [&str; 2] =
        ["--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox"];
    let name = call.name.as_str();
    !super::SAYING.contains(&name) && !SEARCHING.contains(&name) && call.has(&TOLD)
}

fn widens(call: &Call<'_>) -> bool {
    let plain = call.plain();
    let by_option = plain.iter().enumerate().any(|(at, arg)| {
        let Some(long) = arg.strip_prefix("--") else { return false };
        let (name, glued) = long.split_once('=').map_or((long, None), |it| (it.0, Some(it.1)));
        let name = name.to_lowercase();
        let value = glued.or(plain.get(at + 1).map(String::as_str)).unwrap_or_default();
        let takes = matches!(
            name.as_str(),
            "permission-mode" | "approval-mode" | "ask-for-approval" | "sandbox"
        );
        WIDENING.contains(&name.as_str())
            && !(takes && (HARMLESS.contains(&value) || value.starts_with('-') || value.is_empty()))
    });
    let words = call.words();
    let kind = words.iter().position(|it| KINDS.contains(&it.as_str())).filter(|it| *it < 2);
    let verb = kind.and_then(|it| words.get(it + 1..)).unwrap_or_default();
    let gives = verb.iter().take(2).any(|it| GIVING.contains(&it.as_str()));
    // Short for the same in some of them.
    let is_short = match call.name.as_str() {
        "gemini" | "qwen" => call.short('y'),
        "cursor-agent" => option(call, Some('f'), "force"),
        "copilot" => call.has(&["--allow-all-urls"]),
        // Settings by an option.
        "codex" => call.plain().iter().any(|it| {
            ["approval_policy", "sandbox_mode", "mcp_servers"].iter().any(|key| it.starts_with(key))
        }),
        _ => false,
    };
    by_option || gives || is_short
}

/// Only what tells is left to whoever asks; approvals, policies, secrets and trust are a person's.
fn changes_ourselves(call: &Call<'_>) -> bool {
    if call.name == HOOK {
        return true;
    }
    if call.name != OURSELVES {
        return false;
    }
    // As they stand: what an option of the group takes is no command of it.
    let at = |place: usize| call.args.get(place).map(String::as_str).unwrap_or_default();
    let (first, second) = (at(0), at(1));
    let is_told = |it: &(&str, &[&str])| it.0 == first && it.1.contains(&second);
    !first.is_empty() && !TELLING.contains(&first) && !TOLD.iter().any(is_told)
}
