//! What a command line reads, sends and gains.

use super::Classes;
use super::interpreter;
use super::paths;
use super::words::{Command, Place, Word, commands};

/// Commands within commands that are followed: `sh -c "sh -c …"`.
const NESTED_MAX: usize = 4;

/// The classes of a command line. Order counts: what is read after the sending is not sent.
pub(super) fn classes(line: &str) -> Classes {
    let mut seen = Classes::NONE;
    line_classes(line, 0, &mut seen);
    seen
}

fn line_classes(line: &str, depth: usize, seen: &mut Classes) {
    for command in commands(line) {
        let mut args: Vec<&str> = plain(&command).collect();
        let gained = strip_prefixes(&mut args);
        *seen |= gained.union(inputs(&command));
        let sockets = sockets(&command);
        let Some((program, args)) = args.split_first() else {
            *seen |= sockets;
            continue;
        };
        let program = base_name(program);
        if let Some(inner) = inner_line(program, args) {
            if depth < NESTED_MAX {
                line_classes(&inner, depth + 1, seen);
            } else {
                // What hides so deep may send.
                *seen |= Classes::EGRESS;
            }
            continue;
        }
        let found = simple(program, args).union(sockets);
        let reads = seen.union(found).intersects(Classes::READS);
        if found.contains(Classes::EGRESS) && reads {
            *seen |= Classes::SENDS_ITS_READ;
        }
        *seen |= found;
    }
}

fn simple(program: &str, args: &[&str]) -> Classes {
    if interpreter::is_one(program) {
        return interpreter::classes(args);
    }
    let mut found = printed_credentials(program, args);
    if !LOOKS_AT_NAMES.contains(&program) {
        read_args(program, args).for_each(|it| found |= paths::reading(it));
    }
    if sends(program, args) {
        found |= Classes::EGRESS;
    }
    if gains(program, args) {
        found |= Classes::SCOPE_CHANGE;
    }
    found
}

/// The arguments whose files would be read. A key that is used to log in is not shown to anybody.
fn read_args<'a>(program: &str, args: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let target_last = matches!(program, "cp" | "mv" | "install" | "ln");
    let count = if target_last { args.len().saturating_sub(1) } else { args.len() };
    let before = [""].into_iter().chain(args.iter().copied());
    let used = |(before, arg): &(&str, &str)| {
        let (option, _) = arg.split_once('=').unwrap_or((arg, ""));
        USES_KEY.contains(before) || USES_KEY.contains(&option)
    };
    let read = before.zip(args.iter().copied()).take(count).filter(move |it| !used(it));
    read.map(|(_, arg)| arg.rsplit('=').next().unwrap_or(arg))
}

/// Does something leave the machine? Loopback is the machine.
fn sends(program: &str, args: &[&str]) -> bool {
    let first = args.iter().find(|it| !it.starts_with('-')).copied().unwrap_or_default();
    let able = SENDERS.contains(&program)
        || SENDERS_WITH.iter().any(|(name, verbs)| *name == program && verbs.contains(&first));
    let mut places = args.iter().filter(|it| names_a_place(it)).peekable();
    let local = places.peek().is_some() && places.all(|it| is_loopback(it));
    able && !local
}

/// Bash makes a connection of such a path, as an argument or behind `>`.
fn sockets(command: &Command) -> Classes {
    let found = |it: &Word| it.text.starts_with("/dev/tcp/") || it.text.starts_with("/dev/udp/");
    if command.iter().any(found) { Classes::EGRESS } else { Classes::NONE }
}

fn gains(program: &str, args: &[&str]) -> bool {
    let opens = |it: &&str| {
        matches!(*it, "777" | "0777" | "a+rwx" | "+s" | "u+s" | "g+s" | "a+w" | "o+w")
            || it.len() == 4 && matches!(it.as_bytes().first(), Some(b'2' | b'4' | b'6'))
    };
    match program {
        "chmod" => args.iter().filter(|it| !it.contains('/')).any(opens),
        "aws" => args.contains(&"iam"),
        "kubectl" | "gcloud" | "az" => {
            args.iter().any(|it| it.contains("rolebinding") || it.contains("policy-binding"))
                || args.contains(&"role")
        }
        _ => GAINERS.contains(&program),
    }
}

/// `echo $API_TOKEN`, `printenv`: what is printed is read.
fn printed_credentials(program: &str, args: &[&str]) -> Classes {
    let named = |text: &str| {
        let text = text.to_ascii_lowercase();
        CREDENTIAL_WORDS.iter().any(|it| text.contains(it))
    };
    let printed = match program {
        "echo" | "printf" => args
            .iter()
            .flat_map(|it| it.split('$').skip(1))
            .map(|it| it.trim_start_matches('{'))
            .any(|it| {
                named(it.split(|c: char| c != '_' && !c.is_alphanumeric()).next().unwrap_or(it))
            }),
        "printenv" => args.is_empty() || args.iter().any(|it| named(it)),
        "env" | "set" => args.is_empty(),
        _ => false,
    };
    if printed { Classes::CREDENTIAL_READ } else { Classes::NONE }
}

/// The command line that another command runs.
fn inner_line(program: &str, args: &[&str]) -> Option<String> {
    match program {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" => {
            let at = args.iter().position(|it| it.starts_with('-') && it.ends_with('c'))?;
            args.get(at + 1).map(|it| (*it).to_owned())
        }
        "eval" => Some(args.join(" ")),
        _ => None,
    }
}

/// Takes off what stands before the program: assignments, keywords, `sudo`, `timeout 5`.
fn strip_prefixes(args: &mut Vec<&str>) -> Classes {
    let mut gained = Classes::NONE;
    loop {
        let Some(first) = args.first().copied() else { return gained };
        let name = base_name(first);
        if matches!(name, "sudo" | "doas" | "pkexec") {
            gained |= Classes::SCOPE_CHANGE;
        }
        let assigns = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
        // `env` alone prints; with a command it is a prefix.
        let prefix = PREFIXES.contains(&name) && !(name == "env" && args.len() == 1);
        if !assigns && !prefix {
            return gained;
        }
        args.remove(0);
        let valued = VALUED.iter().find(|it| it.0 == name).map_or(&[][..], |it| it.1);
        while prefix && args.len() > 1 && args.first().is_some_and(|it| is_prefix_argument(it)) {
            let option = args.remove(0);
            if valued.contains(&option) && args.len() > 1 {
                args.remove(0);
            }
        }
    }
}

fn is_prefix_argument(arg: &str) -> bool {
    arg.starts_with('-') || arg.trim_end_matches(['s', 'm', 'h']).parse::<f64>().is_ok()
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric())
}

fn plain(command: &Command) -> impl Iterator<Item = &str> {
    command.iter().filter(|it| it.place == Place::Plain).map(|it| it.text.as_str())
}

fn inputs(command: &Command) -> Classes {
    let mut found = Classes::NONE;
    for word in command.iter().filter(|it| it.place == Place::Input) {
        found |= paths::reading(&word.text);
    }
    found
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn names_a_place(arg: &str) -> bool {
    let option = arg.starts_with(['-', '@', '{', '[']);
    let text = arg.contains(char::is_whitespace) || arg.contains(": ");
    !option && !text && (arg.contains(['.', ':']) || arg == "localhost")
}

fn is_loopback(place: &str) -> bool {
    let (_, rest) = place.split_once("://").unwrap_or(("", place));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let name = host.split(':').next().unwrap_or(host);
    matches!(name, "localhost" | "127.0.0.1") || host.starts_with("[::1]")
}

const PREFIXES: &[&str] = &[
    "sudo", "doas", "pkexec", "env", "timeout", "nohup", "nice", "ionice", "setsid", "stdbuf",
    "time", "command", "builtin", "exec", "xargs", "unbuffer", "watch", "if", "then", "else",
    "elif", "while", "until", "do", "!", "{", "}", "fi", "done",
];

/// Options of prefixes whose value is a word of its own, and no program.
const VALUED: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-r", "-t", "-C", "-D", "-R", "-T", "-U", "--user"]),
    ("doas", &["-u", "-C"]),
    ("pkexec", &["--user"]),
    ("env", &["-u", "-C", "--unset", "--chdir"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("xargs", &["-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s"]),
    ("exec", &["-a"]),
];

/// They see that a file is there, not what is in it.
const LOOKS_AT_NAMES: &[&str] = &[
    "ls",
    "stat",
    "test",
    "[",
    "[[",
    "file",
    "mkdir",
    "rmdir",
    "chmod",
    "chown",
    "touch",
    "rm",
    "cd",
    "pushd",
    "ssh-add",
    "ssh-keygen",
    "du",
    "find",
    "which",
    "type",
    "echo",
    "printf",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "export",
    "unset",
    "tree",
    "shred",
];

/// The value of these options is used, not sent.
const USES_KEY: &[&str] = &[
    "-i",
    "-e",
    "-F",
    "-E",
    "--key",
    "--cert",
    "--cacert",
    "--capath",
    "--private-key",
    "--certificate",
    "--ca-certificate",
    "--netrc-file",
    "--env-file",
    "--kubeconfig",
    "--config",
    "--rsh",
];

const SENDERS: &[&str] = &[
    "curl",
    "wget",
    "nc",
    "ncat",
    "netcat",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "ftp",
    "tftp",
    "lftp",
    "telnet",
    "socat",
    "http",
    "https",
    "xh",
    "aria2c",
    "mail",
    "mailx",
    "sendmail",
    "mutt",
    "dig",
    "nslookup",
    "host",
    "rclone",
    "s3cmd",
    "croc",
    "fetch",
    "web_scrape",
];

const SENDERS_WITH: &[(&str, &[&str])] = &[
    ("git", &["push", "clone", "fetch", "pull", "ls-remote", "remote"]),
    ("gh", &["api", "gist", "issue", "pr", "release", "secret"]),
    ("openssl", &["s_client"]),
    ("aws", &["s3", "s3api", "sns", "sqs", "ses"]),
    ("gsutil", &["cp", "rsync", "mv"]),
    ("docker", &["push"]),
    ("podman", &["push"]),
    ("npm", &["publish"]),
    ("cargo", &["publish"]),
    ("twine", &["upload"]),
];

const GAINERS: &[&str] = &[
    "su", "usermod", "useradd", "adduser", "groupadd", "gpasswd", "visudo", "passwd", "setcap",
    "setfacl", "newgrp", "chpasswd",
];

const CREDENTIAL_WORDS: &[&str] = &[
    "api_key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "private_key",
    "access_key",
];
