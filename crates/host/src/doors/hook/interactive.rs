//! Commands that wait for somebody to type: what is typed later is a command that no hook sees.

/// Shells: they read commands unless a command or a script is given to them.
const SHELLS: &[&str] =
    &["bash", "sh", "zsh", "dash", "fish", "ksh", "pwsh", "tclsh", "csh", "tcsh"];
/// Languages that do the same, and their options that give a program in place.
const LANGUAGES: &[&str] = &[
    "python", "ipython", "node", "deno", "bun", "irb", "ruby", "perl", "php", "lua", "ghci", "R",
    "julia",
];
const GIVES: &[&str] =
    &["-c", "-e", "-p", "-r", "--command", "--eval", "--print", "--version", "--help"];
/// Programs that are always typed into, unless an option or so many words give it all.
const TYPED_INTO: &[(&str, usize)] = &[
    ("psql", 99),
    ("mysql", 99),
    ("sqlite", 2),
    ("redis-cli", 1),
    ("gdb", 99),
    ("lldb", 99),
    ("ftp", 99),
    ("sftp", 99),
    ("telnet", 99),
    ("nc", 99),
    ("ncat", 99),
    ("screen", 99),
    ("tmux", 99),
    ("script", 99),
    ("su", 99),
    ("login", 99),
    ("ed", 99),
    ("vim", 99),
    ("vi", 99),
    ("nano", 99),
    ("emacs", 99),
    ("less", 99),
    ("more", 99),
    ("top", 99),
    ("htop", 99),
    ("busybox", 1),
    ("mosh", 99),
];
/// Their options that give it all.
const TAKES_ALL: &[&str] =
    &["-c", "-e", "-f", "--command", "--batch", "--execute", "--version", "--help", "-b", "-d"];
/// Programs that start another one elsewhere, behind a name.
const ELSEWHERE: &[&str] = &["ssh", "docker", "podman", "kubectl", "nsenter", "chroot"];

/// Would a program of the command wait for what is typed?
pub(super) fn waits_for_input(command: &str) -> bool {
    let reading = shell::read(command);
    let text = reading.normalized.replace("&&", "\n").replace("||", "\n").replace(';', "\n");
    text.lines().any(|line| {
        let mut stages = line.split('|');
        let first = stages.next().unwrap_or_default();
        // What is fed by a pipe or a file has its input.
        stages.next().is_none() && !first.contains('<') && is_interactive(first)
    })
}

fn is_interactive(line: &str) -> bool {
    let is_before =
        |it: &&str| it.contains('=') || matches!(*it, "exec" | "env" | "command" | "nohup");
    let mut words = line.split_whitespace().skip_while(is_before);
    let Some(program) = words.next() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    // `python3.12` is python.
    let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    let rest: Vec<&str> = words.collect();
    let given: Vec<&&str> = rest.iter().filter(|it| !it.starts_with('-')).collect();
    let has = |options: &[&str]| rest.iter().any(|it| options.contains(it));
    let from_stdin = given.first().is_some_and(|it| it.starts_with("/dev/"));
    if SHELLS.contains(&name) {
        let is_asked = has(&["-c", "--version", "--help", "-Command", "-File"]);
        return !is_asked && (given.is_empty() || from_stdin || has(&["-i", "-s", "--rcfile"]));
    }
    if LANGUAGES.contains(&name) {
        let is_console =
            has(&["-i"]) || given.first().is_some_and(|it| ***it == *"code") && has(&["-m"]);
        return is_console || !has(GIVES) && (given.is_empty() || from_stdin);
    }
    if ELSEWHERE.contains(&name) {
        let is_terminal = has(&["-it", "-ti", "-i", "-t", "-tt", "--tty", "--interactive"]);
        let has_command = given.len() > 1;
        let inner = rest.iter().position(|it| SHELLS.contains(it));
        let inner = inner.and_then(|at| rest.get(at..)).map(|it| it.join(" "));
        let starts_shell = inner.is_some_and(|it| is_interactive(&it));
        return is_terminal || starts_shell || (name == "ssh" && !has_command);
    }
    let typed = TYPED_INTO.iter().find(|it| it.0 == name);
    typed.is_some_and(|(_, enough)| given.len() < *enough && !has(TAKES_ALL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_typed_into_wait() {
        for it in [
            "bash",
            "/bin/sh -i",
            "python3",
            "cd x && zsh -l",
            "ssh host",
            "env A=b bash",
            "tmux",
            "bash -e",
            "bash -s",
            "bash || true",
            "bash --rcfile x",
            "python3.12",
            "python3 -m code",
            "python3 /dev/stdin",
            "ssh host bash",
            "docker exec -it c sh",
            "sqlite3 x.db",
            "gdb ./a",
            "pwsh",
            "ed",
            "bash -h",
        ] {
            assert!(waits_for_input(it), "{it}");
        }
        for it in [
            "bash -c 'ls'",
            "bash script.sh",
            "python3 -m http.server",
            "echo 1 | bash",
            "node x.js",
            "ls -la",
            "ssh host uptime",
            "bash < file",
            "python3 --version",
            "git log",
            "docker build .",
            "docker run x ls",
            "sqlite3 x.db 'select 1'",
            "perl -e 1",
            "node -e 1",
            "kubectl get pods",
            "psql -c 'select 1'",
            "bash -x script.sh",
            "python3 -c 1",
        ] {
            assert!(!waits_for_input(it), "{it}");
        }
    }
}
