//! What a tool is for, by its name, its schema and its description: the tools of an agent that works in a folder.

use model::ToolDef;

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

/// A parameter that holds a command.
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "shell_command"];
/// Every word of the name of a tool that runs commands here is one of these.
const RUNNING: &[&str] = &[
    "bash",
    "cmd",
    "command",
    "commands",
    "exec",
    "execute",
    "local",
    "powershell",
    "run",
    "script",
    "sh",
    "shell",
    "terminal",
    "tool",
    "zsh",
];
/// The same for tools that look at files and write them: `delete_backup` and `create_link` are somebody's service.
const FILING: &[&str] = &[
    "add",
    "append",
    "apply",
    "cat",
    "code",
    "content",
    "contents",
    "copy",
    "create",
    "delete",
    "diff",
    "dir",
    "directory",
    "edit",
    "editor",
    "file",
    "files",
    "find",
    "folder",
    "glob",
    "grep",
    "image",
    "in",
    "insert",
    "list",
    "ls",
    "make",
    "many",
    "modify",
    "move",
    "multi",
    "notebook",
    "open",
    "patch",
    "read",
    "remove",
    "rename",
    "replace",
    "save",
    "search",
    "str",
    "string",
    "text",
    "tool",
    "tree",
    "update",
    "view",
    "write",
];
/// What tools of both kinds take besides; one that takes anything else (a person, a role, an amount) does something else, too.
const BESIDES: &[&str] = &[
    "-a",
    "-b",
    "-c",
    "-i",
    "-n",
    "allow_multiple",
    "append",
    "background",
    "blocking",
    "case_sensitive",
    "cell_id",
    "cell_type",
    "context",
    "cwd",
    "dangerouslydisablesandbox",
    "description",
    "dir_path",
    "directory",
    "edit_mode",
    "encoding",
    "end_line",
    "env",
    "expected_replacements",
    "explanation",
    "file_filtering_options",
    "glob",
    "head_limit",
    "ignore",
    "include",
    "insert_line",
    "instruction",
    "is_background",
    "is_input",
    "justification",
    "limit",
    "login",
    "max_output_tokens",
    "multiline",
    "offset",
    "old_str",
    "old_string",
    "old_text",
    "output_mode",
    "overwrite",
    "pages",
    "pattern",
    "prefix_rule",
    "recursive",
    "replace_all",
    "respect_git_ignore",
    "restart",
    "run_in_background",
    "sandbox_permissions",
    "security_risk",
    "shell",
    "start_line",
    "summary",
    "task_id",
    "thought",
    "timeout",
    "timeout_ms",
    "tty",
    "type",
    "undo_edit",
    "view_range",
    "with_escalated_permissions",
    "workdir",
    "yield_time_ms",
    "query",
    "regex",
    "max_results",
    "depth",
];
/// A parameter that holds the path of a file or folder of this machine.
const PATHS: &[&str] = &[
    "file_path",
    "filepath",
    "path",
    "notebook_path",
    "absolute_path",
    "dir_path",
    "directory",
    "target_file",
    "file",
    "filename",
    "paths",
];
/// A parameter that holds what is written.
const TEXTS: &[&str] = &[
    "content",
    "contents",
    "new_string",
    "new_str",
    "new_text",
    "file_text",
    "patch",
    "diff",
    "edits",
    "new_source",
    "insert_text",
    "code_edit",
    "input",
];
/// First words of names of tools that look.
const LOOKING: &[&str] =
    &["read", "view", "list", "ls", "glob", "grep", "search", "find", "open", "cat", "tree"];
/// Parts of names of tools that look at pages.
const FETCHING: &[&str] =
    &["webfetch", "websearch", "fetchurl", "readurl", "openurl", "fetchwebpage"];
/// First words of names of tools that write.
const WRITING: &[&str] = &[
    "write", "edit", "create", "replace", "update", "apply", "patch", "insert", "append", "modify",
    "multi", "notebook", "str", "save", "delete", "remove", "move", "rename", "mkdir", "copy",
];
/// Names of tools by which an agent keeps its own plan, thinks, waits, hands on work or asks.
const NOTES: &[&str] = &[
    "todowrite",
    "todoread",
    "updateplan",
    "plan",
    "think",
    "exitplanmode",
    "enterplanmode",
    "askuserquestion",
    "requestuserinput",
    "askfollowupquestion",
    "askuser",
    "task",
    "taskoutput",
    "taskcreate",
    "taskupdate",
    "tasklist",
    "taskget",
    "taskstop",
    "agent",
    "dispatchagent",
    "spawnagent",
    "waitagent",
    "wait",
    "bashoutput",
    "killshell",
    "killbash",
    "writetodos",
    "finish",
    "submit",
    "attemptcompletion",
    "skill",
    "toolsearch",
    "closeagent",
    "resumeagent",
    "structuredoutput",
    "sleep",
    "transfertohumanagents",
    "transfertohuman",
    "escalatetohuman",
    "handofftohuman",
];

/// Those of them that mean the same wherever they are: no service calls an act so.
const NOTES_ANYWHERE: &[&str] = &[
    "think",
    "todowrite",
    "writetodos",
    "updateplan",
    "askuser",
    "askuserquestion",
    "transfertohuman",
    "transfertohumanagents",
    "escalatetohuman",
    "handofftohuman",
];

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
            && has(&["url", "urls", "uri", "query", "queries"])
        {
            return Self::Fetch;
        }
        if LOOKING.contains(&first.as_str())
            && is_of_files
            && (has(PATHS) || has(&["pattern", "glob"]))
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
