//! What `git` is told to run or read by settings, on the command line, in its files or by variables.

use super::git_settings::{is_known_program, is_ordinary, is_ssh, is_tool};
use super::options::Options;
use super::worktree::{Told, told};
use crate::{Access, Call, Class, Engine, Rule, State, Words, marks, paths};

/// Options of `git config` that take the next word.
const VALUED: [&str; 8] =
    ["-f", "--file", "--blob", "--type", "--default", "--comment", "--value", "--url"];
/// Options that may stand anywhere among its words.
const ANYWHERE: [&str; 6] =
    ["--add", "--global", "--local", "--replace-all", "--system", "--worktree"];
/// With these it sets nothing.
static ASKING: Words = Words::named("judge.repositories.ASKING");
/// Variables of `git` that hold a program.
static PROGRAMS: Words = Words::named("judge.repositories.PROGRAMS");

impl Engine {
    pub(super) fn judge_repositories(&mut self, call: &Call<'_>, state: &State) {
        if call.name != "git" {
            return;
        }
        let Some(told) = told(call) else { return };
        let count = call.args.len().saturating_sub(told.args.len() + 1);
        let before = call.args.get(..count).unwrap_or_default();
        let options = Options::of(before, "Cc", &["config-env", "git-dir", "work-tree"]);
        self.judge_all_passed(&options, "", state);
        for told in options.values("", "config-env") {
            self.judge_passed(told.split('=').next().unwrap_or(told), None, state);
        }
        if before.iter().any(|it| it.starts_with("--exec-path=")) {
            self.ask(Rule::Carried, "an option says where the programs of `git` lie");
        }
        if options.values("", "git-dir").any(|it| paths::is_shared(&paths::resolved(it, state))) {
            self.ask(Rule::Carried, "settings that anybody can have put there say what to run");
        }
        if runs_there(&told) {
            self.ask(Rule::Carried, "an option says what is run at the other end");
        }
        for path in outputs(&told) {
            let path = told.at(path);
            self.touch(Access::Write, &path, state);
            self.fresh.insert(paths::resolved(&path, state));
        }
        match told.verb {
            "config" => self.judge_config(told.args, state),
            "clone" | "init" | "submodule" => {
                let options = Options::of(told.args, "bcjou", &[]);
                self.judge_all_passed(&options, "config", state);
                if options.values("", "template").any(|it| !it.is_empty()) {
                    self.ask(Rule::Carried, "`git` runs the hooks of a template later");
                }
            }
            "difftool" | "mergetool" => {
                let options = Options::of(told.args, "tx", &[]);
                if options.has("x", "extcmd") || !options.values("t", "tool").all(is_tool) {
                    self.ask(Rule::Carried, "an option says what to run");
                }
            }
            "grep" if told.args.iter().any(|it| opens_with(it)) => {
                self.ask(Rule::Carried, "an option says what to run");
            }
            // A server with a slash in its name is a program.
            "send-email" if sends_by_program(told.args) => {
                self.ask(Rule::Carried, "an option says what to run");
            }
            "maintenance"
                if told.args.iter().any(|it| matches!(it.as_str(), "start" | "register")) =>
            {
                self.ask(Rule::Persistence, "`git` runs by itself then, again and again");
            }
            _ => {}
        }
    }

    /// `-c KEY=VALUE`, `--config KEY=VALUE`. Without a value it is true.
    fn judge_all_passed(&mut self, options: &Options<'_>, name: &str, state: &State) {
        for told in options.values("c", name) {
            let (key, value) = told.split_once('=').unwrap_or((told, "true"));
            self.judge_passed(key, Some(value), state);
        }
    }

    /// A setting for one command.
    fn judge_passed(&mut self, key: &str, value: Option<&str>, state: &State) {
        if !is_ordinary(key, value) {
            self.classes.insert(Class::Execute);
            let shown = marks::shown(key);
            self.ask(Rule::Carried, format!("`{shown}` may say what `git` runs or reads"));
        }
        self.judge_alias(key, value, state);
    }

    /// Settings that stay.
    fn judge_config(&mut self, args: &[String], state: &State) {
        let words = operands(args);
        let is_new = words.first() == Some(&"set");
        let first = words.first().copied().unwrap_or_default();
        if matches!(first, "rename-section") || args.iter().any(|it| it.starts_with("--rename")) {
            self.ask(Rule::Persistence, "settings get another meaning for `git`");
            return;
        }
        let mut options = args.iter().take_while(|it| *it != "--").filter(|it| it.starts_with('-'));
        if options.any(|it| ASKING.contains(&it.as_str())) || ASKING.contains(&first) {
            return;
        }
        let [key, value, ..] = words.get(usize::from(is_new)..).unwrap_or_default() else { return };
        if !is_ordinary(key, Some(value)) {
            self.classes.insert(Class::Persistence);
            let shown = marks::shown(key);
            self.ask(
                Rule::Persistence,
                format!("`{shown}` may say what `git` runs or reads later"),
            );
        }
        self.judge_alias(key, Some(value), state);
    }

    /// A short name for a command of `git` is that command.
    fn judge_alias(&mut self, key: &str, value: Option<&str>, state: &State) {
        let is_alias = key.get(..6).is_some_and(|it| it.eq_ignore_ascii_case("alias."));
        let is_text = |it: &str| it.trim_start().starts_with('!') || marks::has_hole(it);
        self.told.unsure |= is_alias && value.is_none_or(is_text);
        if let Some(value) = value.filter(|it| is_alias && !it.trim_start().starts_with('!')) {
            self.run_quietly(&format!("git {value}"), state);
        }
    }

    /// A variable that `git` and its like read: programs, settings, places of settings.
    pub(in super::super) fn judge_git_variable(&mut self, name: &str, value: &str, state: &State) {
        if name.starts_with("GIT_TRACE") && value.contains('/') {
            self.touch(Access::Write, value, state);
        }
        let is_odd = match name {
            _ if value.is_empty() => false,
            _ if PROGRAMS.contains(&name) => !is_known_program(value) && !is_rewriting(value),
            "GIT_SSH" | "GIT_SSH_COMMAND" => !is_ssh(value),
            "GIT_CONFIG" | "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => value != "/dev/null",
            "GIT_CONFIG_PARAMETERS"
            | "GIT_EXEC_PATH"
            | "GIT_PROXY_COMMAND"
            | "GIT_TEMPLATE_DIR" => true,
            "GIT_DIFF_TOOL" | "GIT_MERGE_TOOL" => !is_tool(value),
            "GIT_ALLOW_PROTOCOL" => value.split(':').any(|it| it == "ext"),
            "GIT_DIR" | "GIT_COMMON_DIR" => paths::is_shared(&paths::resolved(value, state)),
            "GIT_CLONE_PROTECTION_ACTIVE" => value != "true" && value != "1",
            _ => name.starts_with("GIT_CONFIG_KEY_") && !is_ordinary(value, None),
        };
        if is_odd {
            self.ask(Rule::Carried, format!("`{name}` says what is run or read"));
        }
    }
}

/// `git grep -O./x`: the pager is one of its own.
fn opens_with(arg: &str) -> bool {
    let pager = arg.strip_prefix("-O").or_else(|| arg.strip_prefix("--open-files-in-pager="));
    pager.is_some_and(|it| !it.is_empty() && !is_known_program(it))
}

fn sends_by_program(args: &[String]) -> bool {
    let options = Options::of(args, "", &[]);
    options.has("", "sendmail-cmd") || options.values("", "smtp-server").any(|it| it.contains('/'))
}

/// `sed -i 's/pick/edit/'`: an editor that is no person. What it does is followed.
fn is_rewriting(value: &str) -> bool {
    value.starts_with("sed -i") && !value.contains([';', '|', '&', '`', '<', '>', '\n'])
}

/// `clone -u PROGRAM`, `fetch --upload-pack=PROGRAM`: at the other end, which may be here.
fn runs_there(told: &Told<'_>) -> bool {
    let (letters, names): (_, &[&str]) = match told.verb {
        "clone" => ("u", &["upload-pack"]),
        "fetch" | "fetch-pack" | "ls-remote" | "pull" => ("", &["upload-pack"]),
        "push" | "send-pack" => ("", &["receive-pack", "exec"]),
        "archive" => ("", &["exec"]),
        _ => return false,
    };
    let options = Options::of(told.args, "bcjou", &[]);
    let mut programs = names.iter().flat_map(|it| options.values(letters, it));
    programs.any(|it| !it.starts_with("git-") || it.contains([' ', '/']))
}

/// The files that options of `git` name and that it writes.
fn outputs<'a>(told: &Told<'a>) -> Vec<&'a str> {
    let (letters, name) = match told.verb {
        "archive" => ("o", "output"),
        "checkout-index" => ("", "prefix"),
        "format-patch" => ("o", "output-directory"),
        _ => ("", "output"),
    };
    let options = Options::of(told.args, letters, &[name]);
    let all = options.values(letters, name).chain(options.values("", "output"));
    all.filter(|it| !it.is_empty() && *it != "-").collect()
}

/// What is no option of `git config`, and no value of one.
fn operands(args: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = args.iter().map(String::as_str);
    while let Some(arg) = rest.next() {
        if VALUED.contains(&arg) {
            rest.next();
        } else if !arg.starts_with('-') || !(found.is_empty() || ANYWHERE.contains(&arg)) {
            found.push(arg);
        }
    }
    found
}
