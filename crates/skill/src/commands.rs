//! What a command of a skill would do, by what the reader of commands says of it.

use model::skill::{Severity, SkillCheck};
use shell::{Access, Class, Decision, Reading, Rule};

use crate::hosts;
use crate::install;
use crate::places::{Place, Written, secret, written};
use crate::stance::Stance;

/// Something that is said of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) check: SkillCheck,
    pub(crate) severity: Severity,
    pub(crate) why: String,
}

/// A command, where it stands, and the files that come with it.
pub(crate) struct Command<'a> {
    pub(crate) text: &'a str,
    pub(crate) stance: Stance,
    /// Is it plainly a command? In prose only what cannot be meant otherwise counts.
    pub(crate) is_sure: bool,
    /// Is a file of this path part of the skill?
    pub(crate) has_file: &'a dyn Fn(&str) -> bool,
}

/// Returns what speaks against a command.
pub(crate) fn facts(command: &Command<'_>) -> Vec<Fact> {
    let reading = shell::read(command.text);
    let mut found = Vec::new();
    remote(command, &reading, &mut found);
    taken(command, &reading, &mut found);
    if !command.is_sure {
        return found;
    }
    changed(command, &reading, &mut found);
    by_rule(command, &reading, &mut found);
    raised(command, &reading, &mut found);
    installs(command, &reading, &mut found);
    found
}

/// Code from elsewhere, and shells for others.
fn remote(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    let has = |rule: Rule| reading.findings.iter().find(|it| it.rule == rule);
    // A host that stands nowhere in the text was put together, or written in an encoding.
    let unwritten = |it: &&String| !command.text.contains(it.as_str()) && hosts::is_somebodys(it);
    let hidden = || reading.hosts.iter().any(|it| unwritten(&it));
    let reachable = reading.hosts.iter().any(|it| hosts::is_somebodys(it));
    if let Some(finding) = has(Rule::ReverseShell) {
        let severity = match command.stance {
            // A real machine at the other end is no example.
            Stance::Document if reachable => Severity::High,
            Stance::Program | Stance::Document | Stance::Hidden => {
                command.stance.weigh(Severity::Critical)
            }
        };
        found.push(fact(SkillCheck::ReverseShell, severity, &finding.reason));
    }
    let fetched = fetched_and_run(reading);
    let Some(finding) = has(Rule::RemoteCode).or(fetched) else {
        if runs_unasked(&reading.normalized) {
            let why = "it fetches a package and runs it, and asks nobody";
            found.push(fact(SkillCheck::ShellExecution, Severity::Medium, why));
        }
        return;
    };
    // A placeholder in an example is nobody's machine.
    let plain = command.text.contains("http://") && reachable;
    let open = plain || reading.hosts.iter().any(|it| hosts::is_suspect(it));
    let (check, severity) = match command.stance {
        _ if hidden() => (SkillCheck::EncodedPayload, Severity::Critical),
        _ if finding.decision == Decision::StepUp && fetched.is_none() => {
            (SkillCheck::ShellExecution, command.stance.weigh(Severity::Medium))
        }
        Stance::Document if open => (SkillCheck::ShellExecution, Severity::High),
        Stance::Program | Stance::Document | Stance::Hidden => {
            (SkillCheck::ShellExecution, command.stance.weigh(Severity::High))
        }
    };
    found.push(fact(check, severity, &finding.reason));
}

/// Programs that fetch a package and run it at once.
const FETCH_AND_RUN: &[&str] = &["npx", "bunx", "pnpx"];

/// `npx -y package`: the option is the runner's own, and stands right behind it.
fn runs_unasked(normalized: &str) -> bool {
    let words: Vec<&str> = normalized.split_whitespace().collect();
    words.windows(2).any(|it| match it {
        [program, option] => FETCH_AND_RUN.contains(program) && matches!(*option, "-y" | "--yes"),
        _ => false,
    })
}

/// `curl -o x …; chmod +x x; ./x`: what was fetched is run by another command.
fn fetched_and_run(reading: &Reading) -> Option<&shell::Finding> {
    let is = |access: Access| reading.places.iter().filter(move |it| it.access == access);
    let run = is(Access::Execute).any(|run| is(Access::Write).any(|it| it.path == run.path));
    let fetches = reading.findings.iter().find(|it| it.rule == Rule::NetworkTool);
    let temporary =
        reading.findings.iter().find(|it| matches!(it.rule, Rule::TempRun | Rule::FreshRun));
    fetches.and(temporary).or(fetches.filter(|_| run))
}

/// Secrets that are read, and sent.
fn taken(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    let reads = |it: &&shell::Place| it.access == Access::Read;
    let worst = reading.places.iter().filter(reads).map(|it| secret(&it.path)).max();
    let worst = worst.unwrap_or(Place::Plain);
    let sends = reading.steps.iter().any(|it| it.sends);
    let reveals = reading.steps.iter().any(|it| it.reveals);
    let of_credentials = reading.classes.contains(&Class::Credentials);
    let reachable = reading.hosts.iter().any(|it| hosts::is_somebodys(it));
    let check = SkillCheck::CredentialExfiltration;
    let is_dump = of_credentials && is_posted(reading);
    if sends && (worst >= Place::System || is_dump) {
        let severity = match command.stance {
            Stance::Document if reachable => Severity::High,
            Stance::Program | Stance::Document | Stance::Hidden => {
                command.stance.weigh(Severity::Critical)
            }
        };
        found.push(fact(check, severity, "it reads credentials and sends something away"));
    } else if worst == Place::Secret && command.is_sure {
        let severity = command.stance.weigh(Severity::Medium);
        found.push(fact(check, severity, "it reads credentials of the person"));
    } else if sends && reveals && command.stance != Stance::Document {
        found.push(fact(
            check,
            Severity::High,
            "it prints the environment and sends something away",
        ));
    }
    if sends && reachable && command.is_sure && tells_of_machine(command.text, reading) {
        let why = "it sends away what tells of the machine and of who works there";
        found.push(fact(check, Severity::Medium, why));
    }
    for sign in reading.hosts.iter().filter_map(|it| hosts::judge(it)) {
        found.push(fact(SkillCheck::ExfiltrationUrl, sign.severity(command.stance), sign.why));
    }
}

/// Programs that say what a machine is, and who works there.
const TELLING: &[&str] = &[
    "uname",
    "hostname",
    "whoami",
    "id",
    "ifconfig",
    "ipconfig",
    "systeminfo",
    "sw_vers",
    "lsb_release",
    "ps",
    "history",
    "who",
    "last",
    "netstat",
];
/// Options of `curl` and `wget` before what is sent.
const BODIES: &[&str] = &[
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-ascii",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "--post-data",
    "--body-data",
];

/// Does the body of a request hold what such a program prints? `curl -d "$(uname -a)" …`, `ps | curl -d @- …`. In an address it
/// chooses what is fetched.
fn tells_of_machine(text: &str, reading: &Reading) -> bool {
    let steps = reading.steps.iter().map(|it| it.program.as_str());
    let mut telling = steps.filter(|it| TELLING.contains(it)).peekable();
    if telling.peek().is_none() {
        return false;
    }
    let words = |it: &str| {
        it.split_whitespace().any(|it| BODIES.contains(&it.split('=').next().unwrap_or(it)))
    };
    let told = |program: &str, line: &str| {
        let body = BODIES.iter().filter_map(|it| line.find(&format!("{it} "))).min();
        let inner = [format!("$({program}"), format!("`{program}")];
        let place = inner.iter().filter_map(|it| line.find(it)).min();
        // The address stands elsewhere: what is sent is behind the option, up to it.
        body.zip(place).is_some_and(|(body, place)| {
            place > body && line.get(body..place).is_some_and(|it| !it.contains("://"))
        })
    };
    let piped = |program: &str, line: &str| {
        line.trim_start().starts_with(program) && is_posted(reading) && line.contains('|')
    };
    telling.any(|program| {
        text.lines().filter(|it| words(it)).any(|line| told(program, line) || piped(program, line))
    })
}

/// Does the body of a request come from another command? `… | curl -d @-`.
fn is_posted(reading: &Reading) -> bool {
    ["@-", "-T -", "--upload-file -"].iter().any(|it| reading.normalized.contains(it))
}

/// What is written that somebody obeys.
fn changed(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    let is_change = |it: &&shell::Place| matches!(it.access, Access::Write | Access::Delete);
    for place in reading.places.iter().filter(is_change) {
        let (check, severity, what) = match written(&place.path) {
            Written::Plain => continue,
            Written::Memory => {
                (SkillCheck::MemoryPoisoning, Severity::Critical, "what an agent remembers")
            }
            Written::Instructions => {
                (SkillCheck::MemoryPoisoning, Severity::Medium, "what instructs agents")
            }
            Written::Settings => {
                (SkillCheck::Permissions, Severity::Medium, "settings that agents or tools obey")
            }
            Written::Startup => {
                (SkillCheck::ShellExecution, Severity::Medium, "what a shell runs when it starts")
            }
        };
        found.push(fact(check, command.stance.weigh(severity), format!("it writes {what}")));
    }
}

/// What else the reader of commands objects to.
fn by_rule(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    for finding in &reading.findings {
        let severity = match finding.rule {
            Rule::EraseRoot
            | Rule::ForkBomb
            | Rule::RawDevice
            | Rule::Format
            | Rule::Encrypt
            | Rule::ContainerEscape
            | Rule::Loader
            | Rule::Masquerade
            | Rule::SecurityOff => Severity::High,
            Rule::Persistence
            | Rule::LogTampering
            | Rule::History
            | Rule::Accounts
            | Rule::Kernel
            | Rule::Offensive
            | Rule::SystemWrite
            | Rule::Hidden
            | Rule::LookAlike
            | Rule::Collection
            | Rule::CloudIdentity
            | Rule::TooLarge => Severity::Medium,
            Rule::Unreadable | Rule::Disagree | Rule::Dynamic | Rule::Endless => {
                if command.stance == Stance::Program {
                    let why = format!("a command cannot be followed: {}", finding.reason);
                    found.push(fact(SkillCheck::Unread, Severity::Low, why));
                }
                continue;
            }
            Rule::Agent
            | Rule::Blocked
            | Rule::Carried
            | Rule::CloudCopy
            | Rule::Container
            | Rule::Credentials
            | Rule::Egress
            | Rule::Erase
            | Rule::ForcePush
            | Rule::FreshRun
            | Rule::HiddenFile
            | Rule::Kill
            | Rule::Mount
            | Rule::Namespace
            | Rule::NetworkTool
            | Rule::Permissions
            | Rule::Power
            | Rule::Privilege
            | Rule::PrivilegeSearch
            | Rule::RemoteCode
            | Rule::ReverseShell
            | Rule::Service
            | Rule::Spawn
            | Rule::SystemFile
            | Rule::TempRun
            | Rule::UnknownCommand
            | Rule::Watching => continue,
        };
        let severity = command.stance.weigh(severity);
        found.push(fact(SkillCheck::ShellExecution, severity, &finding.reason));
    }
}

/// `sudo bash setup.sh`, where no `setup.sh` comes along: as root, what nobody has seen.
fn raised(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    if !reading.findings.iter().any(|it| it.rule == Rule::Privilege) {
        return;
    }
    let interpreters = ["bash", "sh", "zsh", "python", "python3", "node", "perl", "ruby"];
    let words: Vec<&str> = reading.normalized.split_whitespace().collect();
    let unseen = words.windows(3).any(|it| match it {
        [raiser, interpreter, file] => {
            matches!(*raiser, "sudo" | "doas")
                && interpreters.contains(interpreter)
                && !file.starts_with('-')
                && !file.starts_with('/')
                && !(command.has_file)(file.trim_start_matches("./"))
        }
        _ => false,
    });
    if unseen {
        let why = "it runs a script as root that does not come with the skill";
        found.push(fact(SkillCheck::ShellExecution, Severity::High, why));
    } else {
        let severity = command.stance.weigh(Severity::Medium);
        found.push(fact(SkillCheck::ShellExecution, severity, "it takes the rights of root"));
    }
}

/// Packages that are installed.
fn installs(command: &Command<'_>, reading: &Reading, found: &mut Vec<Fact>) {
    if !reading.classes.contains(&Class::PackageInstall) {
        return;
    }
    for line in command.text.lines().map(str::trim).filter(|it| install::is_one(it)) {
        if let Err(refused) = install::judge(line) {
            // Another registry is nothing that a document shows for an example.
            let is_foreign = refused == install::InstallRefused::Registry;
            let stance = if is_foreign { Stance::Program } else { command.stance };
            let severity = stance.weigh(refused.severity());
            found.push(fact(SkillCheck::Install, severity, refused.to_string()));
        }
    }
}

fn fact(check: SkillCheck, severity: Severity, why: impl Into<String>) -> Fact {
    Fact { check, severity, why: why.into() }
}
