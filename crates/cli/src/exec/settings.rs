//! What the person asks for, as a cage's settings.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{AgentId, UserId};
use monitor::terminal::{self, Never, Vetted};
use sandbox::cage::{Cage, FOR_PROGRAMS, Inmate, Limits, Maker, Rung};

use super::presets::{self, Preset};
use crate::failure::Failure;

/// The least memory with which programs start at all, in mebibytes.
const MEMORY_MIB_MIN: u64 = 16;

/// The cage's settings.
#[derive(clap::Args)]
pub(crate) struct Settings {
    /// A directory that may be changed [default: the one it starts in]
    #[arg(long = "workspace", short = 'w', value_name = "DIR")]
    workspaces: Vec<PathBuf>,
    /// Something more that may be read.
    #[arg(long = "read", short = 'r', value_name = "PATH")]
    readable: Vec<PathBuf>,
    /// A secret file of the workspace (such as .env) that the command may see.
    #[arg(long = "show", value_name = "FILE")]
    shown: Vec<PathBuf>,
    /// A place of the workspace that is kept (such as AGENTS.md or .husky) and that the command may change.
    #[arg(long = "change", value_name = "PATH")]
    changed: Vec<PathBuf>,
    /// Where it starts [default: here].
    #[arg(long = "dir", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// A variable for its environment: as you have it, or with a value, which others see in the list of processes.
    #[arg(long = "env", short = 'e', value_name = "NAME[=VALUE]")]
    environment: Vec<String>,
    /// Let it out through our proxy: to the domains of --allow, of the preset and of the agent's manifest; without any to every
    /// public address.
    #[arg(long, short = 'n')]
    pub(super) network: bool,
    /// A domain that it may reach (`example.com` or `*.example.com`).
    #[arg(long, value_name = "DOMAIN", requires = "network")]
    pub(super) allow: Vec<String>,
    /// For which agent it asks; its manifest says what it may reach.
    #[arg(long, default_value = "exec", requires = "network", value_parser = AgentId::parse)]
    pub(super) agent: AgentId,
    /// For whom.
    #[arg(long, default_value = "me", requires = "network", value_parser = UserId::parse)]
    pub(super) user: UserId,
    /// What the program of a known agent is given beside: claude, codex, copilot, gemini, opencode, or none [default: by the
    /// name of the program]
    #[arg(long, value_name = "NAME", value_parser = presets::name)]
    preset: Option<String>,
    /// A terminal of its own.
    #[arg(long, short = 't')]
    tty: bool,
    /// End it after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Mebibytes of memory.
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 4096,
        value_parser = clap::value_parser!(u64).range(MEMORY_MIB_MIN..)
    )]
    memory: u64,
    /// Processes and threads.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    processes: u32,
    /// Processor time, in hundredths of one processor. Refused where no cgroup is delegated.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(1..))]
    cpu: Option<u32>,
    /// What must hold beside namespaces and landlock: seccomp, limits, cgroup; on a Mac beside seatbelt limits.
    #[arg(long, value_name = "RUNG", value_delimiter = ',', value_parser = rung)]
    require: Vec<Rung>,
    /// Run it with what is left where namespaces or landlock cannot be had; what is missing is said on stderr.
    #[arg(long)]
    pub(super) allow_weaker: bool,
    /// Who makes the namespaces: either, own or bwrap.
    #[arg(long, value_name = "WHO", default_value = "either", value_parser = maker)]
    maker: Maker,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn rung(name: &str) -> Result<Rung, String> {
    Rung::parse(name).ok_or_else(|| {
        let all: Vec<&str> = Rung::ALL.iter().map(|it| it.as_str()).collect();
        format!("one of {}", all.join(", "))
    })
}

fn maker(name: &str) -> Result<Maker, String> {
    match name {
        "either" => Ok(Maker::Either),
        "own" => Ok(Maker::Own),
        "bwrap" => Ok(Maker::Bubblewrap),
        _ => Err("one of either, own, bwrap".to_owned()),
    }
}

/// A command's words.
pub(crate) struct Words<'a>(&'a [OsString]);

impl<'a> Words<'a> {
    /// The words of a command, if there are some.
    pub(crate) fn of(words: &'a [OsString]) -> Result<Self, Failure> {
        let has_zero = words.iter().any(|it| it.as_bytes().contains(&0));
        if has_zero || words.first().is_none_or(|it| it.is_empty()) {
            return Err(Failure::usage("there is no command to run"));
        }
        Ok(Self(words))
    }

    /// As a shell would have to be told them.
    pub(crate) fn as_shell_text(&self) -> String {
        terminal::as_shell_text(self.0)
    }

    /// Lets them run, unless nobody may run them.
    pub(crate) fn vet(&self) -> Result<Vetted, Never> {
        terminal::vet(self.0)
    }

    /// The program, to name it.
    pub(crate) fn program(&self) -> String {
        self.0.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Settings {
    pub(super) fn words(&self) -> Result<Words<'_>, Failure> {
        Words::of(&self.command)
    }

    /// The preset of an agent, if there is one for this program or one was named.
    pub(super) fn preset(&self) -> Result<Option<Preset>, Failure> {
        let program = self.command.first().map(OsString::as_os_str).unwrap_or_default();
        Preset::choose(self.preset.as_deref(), program)
    }

    /// The cage, with paths that no link leads to.
    pub(super) fn cage(&self, state: &Path) -> Result<Cage, Failure> {
        // It must be there to be kept out: the record of this run would make it behind our back.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(state);
        made.map_err(|error| {
            let why = format!("the state directory `{}` cannot be made: {error}", state.display());
            Failure::unable(format!("{why}; name another one with --home"))
        })?;
        let start = self.directory.clone().map_or_else(here, Ok)?;
        let workspaces = match self.workspaces.as_slice() {
            [] => vec![resolved(&start)?],
            some => some.iter().map(|it| resolved(it)).collect::<Result<_, _>>()?,
        };
        let all = |paths: &[PathBuf]| -> Result<Vec<PathBuf>, Failure> {
            paths.iter().map(|it| resolved(it)).collect()
        };
        let limits = Limits {
            wall_time: self.timeout.map(Duration::from_secs),
            processes: self.processes,
            memory_bytes: self.memory.saturating_mul(1 << 20),
            cpu_percent: self.cpu,
            ..Limits::default()
        };
        let mut cage = Cage {
            workspaces,
            readable: all(&self.readable)?,
            shown: all(&self.shown)?,
            changed: self.changed.iter().map(|it| place(it)).collect::<Result<_, _>>()?,
            home: std::env::home_dir().and_then(|it| resolved(&it).ok()),
            state: Some(resolved(state)?),
            limits,
            needed: self.needed(),
            maker: self.maker,
            ..Cage::default()
        };
        if self.workspaces.is_empty() {
            let start = resolved(&start)?;
            cage.give_repository_of(&start);
        }
        Ok(cage)
    }

    fn needed(&self) -> Vec<Rung> {
        let always: &[Rung] = if self.allow_weaker { &[] } else { Rung::ALWAYS };
        let mut needed = always.to_vec();
        needed.extend(self.require.iter().filter(|it| !always.contains(it)));
        needed
    }

    /// The command, with an environment from nothing.
    pub(super) fn inmate(&self, cage: &Cage, preset: Option<&Preset>) -> Result<Inmate, Failure> {
        let mut given = FOR_PROGRAMS.to_vec();
        let of_preset = preset.map(Preset::environment).unwrap_or_default();
        given.extend(of_preset.iter().map(|(name, value)| (*name, value.as_str())));
        let own = self.taken_over()?;
        given.extend(own.iter().map(|(name, value)| (*name, value.as_str())));
        given.extend(self.environment.iter().filter_map(|it| it.split_once('=')));
        let host: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let host = host.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let made = vault::environment::environment(host, given);
        if let Some(name) = made.rejected.first() {
            let why = match vault::Name::parse(name).is_ok() {
                true => "a variable that changes what programs load, run or trust",
                false => "no name of a variable: letters, digits and `_`, and no digit first",
            };
            return Err(Failure::usage(format!("--env {name}: {why}")));
        }
        let directory = match (&self.directory, cage.workspaces.first()) {
            (Some(dir), _) => resolved(dir)?,
            (None, first) => {
                let here = resolved(&here()?)?;
                let inside = cage.workspaces.iter().any(|it| here.starts_with(it));
                if inside { here } else { first.cloned().unwrap_or(here) }
            }
        };
        let pairs = made.variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Ok(Inmate {
            words: self.command.clone(),
            directory,
            environment: pairs.collect(),
            terminal: self.tty,
        })
    }
}

impl Settings {
    /// Variables that are to be as they are here: their values stand in no list of processes.
    fn taken_over(&self) -> Result<Vec<(&str, String)>, Failure> {
        let wrong = |name: &str, why: &str| Err(Failure::usage(format!("--env {name}: {why}")));
        let named = self.environment.iter().filter(|it| !it.contains('='));
        named
            .map(|name| match std::env::var(name) {
                Ok(value) => Ok((name.as_str(), value)),
                Err(std::env::VarError::NotPresent) => {
                    wrong(name, "you have no such variable; set it, or give it as NAME=VALUE")
                }
                Err(std::env::VarError::NotUnicode(_)) => wrong(name, "its value is no text"),
            })
            .collect()
    }
}

/// The directory that we were started in.
fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        let why = "the directory that you are in cannot be used";
        Failure::usage(format!("{why} ({error}): change to another one, or name one with --dir"))
    })
}

/// The same of one that may not be there yet.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    let dir = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| {
        Failure::usage(format!("--change {}: name a file or a directory", path.display()))
    })?;
    let there = path.symlink_metadata().is_ok();
    // Directories above it may not be there, either.
    let dir = if there || dir.exists() { resolved(dir)? } else { place(dir)? };
    Ok(dir.join(name))
}

/// Where a path of the person's leads.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, Failure> {
    files::resolved(path).map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))
}
