//! What a tool is for, by its name, its schema and its description: the tools of an agent that works in a folder.

use model::ToolDef;

use super::job_words::{
    BESIDES, COMMANDS, FETCHING, FILING, LOOKING, NOTES, NOTES_ANYWHERE, PATHS, RUNNING, TEXTS,
    WRITING,
};
use crate::provenance::name_words;

/// What a tool is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Job {
    /// It runs commands.
    Run,
    /// It writes files of this machine.
    Write,
    /// It looks at files of this machine.
    Look,
    /// It looks at pages.
    Fetch,
    /// It keeps what the agent means to do, hands on work to an agent behind the same gate, or asks the person.
    Note,
    /// Anything else.
    #[default]
    Other,
}

impl Job {
    /// Is it a note of the agent, or a question to the person, whatever the other tools are?
    pub(crate) fn is_note_anywhere(name: &str) -> bool {
        NOTES_ANYWHERE.contains(&bare(name).as_str())
    }

    /// What `tool` is for.
    pub(crate) fn of(tool: &ToolDef) -> Self {
        let name = tool.name.as_str();
        // A tool of a server that is not the agent's own: `mcp__files__read_file`.
        if name.contains("__") {
            return Self::Other;
        }
        let bare = bare(name);
        let has = |names: &[&str]| {
            tool.parameters().any(|(param, _)| names.contains(&param.to_lowercase().as_str()))
        };
        let first = first_word(name);
        let words = name_words(name);
        let is_made_of = |list: &[&str]| words.iter().all(|it| list.contains(&it.as_str()));
        let takes = |lists: &[&[&str]]| {
            tool.parameters().all(|(param, _)| {
                let param = param.to_lowercase();
                lists.iter().any(|it| it.contains(&param.as_str()))
            })
        };
        // `router_command` speaks to something else than a shell of this machine.
        if has(COMMANDS) && is_made_of(RUNNING) && takes(&[COMMANDS, BESIDES]) {
            return Self::Run;
        }
        if NOTES.contains(&bare.as_str()) {
            return Self::Note;
        }
        let is_of_files = is_made_of(FILING) && takes(&[PATHS, TEXTS, COMMANDS, BESIDES]);
        let writes = WRITING.contains(&first.as_str()) && is_of_files;
        let is_patch = bare.contains("patch") && has(TEXTS) && is_of_files;
        if is_patch || (writes && has(PATHS)) {
            return Self::Write;
        }
        if FETCHING.iter().any(|it| bare.contains(it))
            && has(&["url", "urls", "uri", "query", "queries", "search_term"])
        {
            return Self::Fetch;
        }
        if LOOKING.contains(&first.as_str())
            && is_of_files
            && (has(PATHS) || has(&["pattern", "glob", "glob_pattern", "include"]))
        {
            return Self::Look;
        }
        Self::Other
    }
}

/// The letters and digits of a name, in small letters.
fn bare(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `readFile`, `read_file`, `ReadFile`: read.
fn first_word(name: &str) -> String {
    let mut word = String::new();
    for (at, it) in name.chars().enumerate() {
        if !it.is_alphanumeric() || (at > 0 && it.is_uppercase()) {
            break;
        }
        word.extend(it.to_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_hosts_own_tools_for_files_and_commands_are_known() {
        let hosts = [
            (
                include_str!("../../../hooks/src/tools/claude.json"),
                ["Bash", "Read", "Edit", "Write"],
            ),
            (include_str!("../../../hooks/src/tools/codex.json"), ["Bash", "view_image", "", ""]),
            (
                include_str!("../../../hooks/src/tools/gemini.json"),
                ["run_shell_command", "read_many_files", "replace", "write_file"],
            ),
            (
                include_str!("../../../hooks/src/tools/copilot.json"),
                ["bash", "view", "edit", "create"],
            ),
            (
                include_str!("../../../hooks/src/tools/opencode.json"),
                ["bash", "read", "edit", "patch"],
            ),
            (
                include_str!("../../../hooks/src/tools/cursor.json"),
                ["Shell", "Glob", "StrReplace", "Write"],
            ),
        ];
        for (text, names) in hosts {
            let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
            let jobs = [Job::Run, Job::Look, Job::Write, Job::Write];
            for (name, job) in names.into_iter().zip(jobs).filter(|it| !it.0.is_empty()) {
                let tool = all.iter().find(|it| it["name"] == name).unwrap();
                assert_eq!(Job::of(&ToolDef::from_value(tool).unwrap()), job, "{name}");
            }
        }
    }

    #[test]
    fn tools_of_coding_agents_are_known_by_what_they_take() {
        for (name, params, job) in [
            ("Bash", &["command", "description"][..], Job::Run),
            ("shell", &["command", "workdir"], Job::Run),
            ("exec_command", &["cmd"], Job::Run),
            ("device_control", &["command"], Job::Other),
            ("execute_trade", &["command"], Job::Other),
            ("write_stdin", &["session_id", "chars"], Job::Other),
            ("create_share", &["path", "email"], Job::Other),
            ("update_user", &["file", "role"], Job::Other),
            ("delete_backup", &["path"], Job::Other),
            ("read_and_forward", &["path", "to"], Job::Other),
            ("str_replace_editor", &["command", "path", "file_text"], Job::Write),
            ("router__run_command", &["command"], Job::Other),
            ("Read", &["file_path", "offset"], Job::Look),
            ("Glob", &["pattern"], Job::Look),
            ("Grep", &["pattern", "path"], Job::Look),
            ("Edit", &["file_path", "old_string", "new_string"], Job::Write),
            ("Write", &["file_path", "content"], Job::Write),
            ("write_file", &["file_path", "content"], Job::Write),
            ("apply_patch", &["input"], Job::Write),
            ("TodoWrite", &["todos"], Job::Note),
            ("Task", &["prompt"], Job::Note),
            ("WebFetch", &["url", "prompt"], Job::Fetch),
            ("google_web_search", &["query"], Job::Fetch),
            ("send_email", &["to", "body"], Job::Other),
            ("mcp__files__write_file", &["path", "content"], Job::Other),
            ("search_emails", &["query"], Job::Other),
        ] {
            let properties: serde_json::Map<_, _> =
                params.iter().map(|it| ((*it).to_owned(), json!({"type": "string"}))).collect();
            let tool = json!({"name": name, "inputSchema": {"properties": properties}});
            assert_eq!(Job::of(&ToolDef::from_value(&tool).unwrap()), job, "{name}");
        }
    }
}
