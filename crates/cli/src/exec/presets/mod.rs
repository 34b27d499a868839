//! What the programs of known agents need to run in a cage: their login and sessions, their hosts, and nothing else. One
//! table for each, beside this file.
//!
//! INVARIANT (SaidAloud): a preset gives more than a bare cage does, so what it gives is said on stderr, and is on record.

mod read;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use sandbox::cage::{Access, Belonging, Cage};
use serde_json::{Value, json};

use crate::failure::Failure;
use read::{Place, Table};

/// Every agent that is known, by the name of its program.
const ALL: &[(&str, &str)] = &[
    ("claude", include_str!("claude.preset")),
    ("codex", include_str!("codex.preset")),
    ("copilot", include_str!("copilot.preset")),
    ("gemini", include_str!("gemini.preset")),
    ("opencode", include_str!("opencode.preset")),
];
/// The name of having none.
const NONE: &str = "none";
/// A directory of sessions that is made for an agent is its user's alone.
const MODE: u32 = 0o700;

/// What the program of one agent is given.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    table: Table,
    /// Places of the table that were not given, and why.
    left_out: Vec<(&'static str, &'static str)>,
}

/// The name of a preset, or `none`.
pub(crate) fn name(text: &str) -> Result<String, String> {
    if text == NONE || ALL.iter().any(|(name, _)| *name == text) {
        return Ok(text.to_owned());
    }
    let all: Vec<&str> = ALL.iter().map(|(name, _)| *name).chain([NONE]).collect();
    Err(format!("one of {}", all.join(", ")))
}

impl Preset {
    /// The preset that was asked for; if nothing was said, that of the program by its name.
    ///
    /// # Errors
    /// Never; the tables are ours.
    pub(crate) fn choose(asked: Option<&str>, program: &OsStr) -> Result<Option<Self>, Failure> {
        // A cage of another system shows the home as it is, so that there is nothing to give.
        let by_program = || Path::new(program).file_name().filter(|_| cfg!(target_os = "linux"));
        let wanted = asked.map(OsStr::new).or_else(by_program);
        let Some((name, text)) = ALL.iter().find(|it| wanted == Some(OsStr::new(it.0))) else {
            return Ok(None);
        };
        let wrong = |error| Failure::unable(format!("the preset `{name}`: {error}"));
        let table = Table::read(text).map_err(wrong)?;
        Ok(Some(Self { name, table, left_out: Vec::new() }))
    }

    /// Gives the cage what is there of the agent's own.
    ///
    /// # Errors
    /// If there is no home in which it could lie.
    pub(crate) fn give(&mut self, cage: &mut Cage) -> Result<(), Failure> {
        let Some(home) = cage.home.clone() else {
            let why = format!("the preset `{}` needs a home: set HOME, or say", self.name);
            return Err(Failure::usage(format!("{why} --preset {NONE}")));
        };
        for place in &self.table.places {
            match there(place, &home) {
                Ok(()) => {
                    let at = home.join(place.at);
                    cage.belongings.push(Belonging { at, access: place.access });
                }
                Err(why) => self.left_out.push((place.at, why)),
            }
        }
        Ok(())
    }

    /// Hosts that it may reach.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &'static str> {
        self.table.hosts.iter().copied()
    }

    /// Its variables: ours, and those of the person that there are.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let set = self.table.set.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let taken = self.table.taken.iter();
        let taken = taken.filter_map(|name| Some((*name, std::env::var(name).ok()?)));
        set.chain(taken).collect()
    }

    /// What is said to the person before it begins.
    pub(crate) fn said(&self, cage: &Cage, network: bool) -> String {
        let count = |access| cage.belongings.iter().filter(|it| it.access == access).count();
        let hosts: Vec<&str> = self.hosts().collect();
        let reach = match network {
            true => format!("it reaches {} and what --allow adds", hosts.join(", ")),
            false => "it reaches nothing without --network".to_owned(),
        };
        format!(
            "preset {}: of the agent's own files in your home {} are read, {} written, {} copied; {reach}; --report lists them, --preset {NONE} gives none",
            self.name,
            count(Access::Read),
            count(Access::Write),
            count(Access::Copy),
        )
    }

    /// What was given, one line each.
    pub(crate) fn lines(&self, cage: &Cage) -> Vec<String> {
        let line = |what: &str, which: &str| format!("{:7} {what:10} {which}", "given");
        let own = cage.belongings.iter();
        let own = own.map(|it| line(it.access.as_str(), &it.at.display().to_string()));
        let hosts = self.hosts().map(|it| line("host", it));
        let names = self.environment().into_iter().map(|(name, _)| line("env", name));
        let left_out = self.left_out.iter();
        let left_out =
            left_out.map(|(at, why)| format!("{:7} {:10} ~/{at}: {why}", "not", "given"));
        own.chain(hosts).chain(names).chain(left_out).collect()
    }

    /// The same for records. Of variables the names, never the values.
    pub(crate) fn to_json(&self, cage: &Cage) -> Value {
        let of = |access: Access| -> Vec<String> {
            let own = cage.belongings.iter().filter(|it| it.access == access);
            own.map(|it| it.at.display().to_string()).collect()
        };
        let names: Vec<&str> = self.environment().into_iter().map(|it| it.0).collect();
        json!({
            "name": self.name,
            "read": of(Access::Read),
            "write": of(Access::Write),
            "copy": of(Access::Copy),
            "hosts": self.hosts().collect::<Vec<_>>(),
            "env": names,
        })
    }
}

/// Is it there, and what the table says that it is? A directory that is written is made, where the agent has been before.
fn there(place: &Place, home: &Path) -> Result<(), &'static str> {
    let at = home.join(place.at);
    // A link above it leads elsewhere as well.
    let is_plain = |it: &Path| files::resolved(it).is_ok_and(|real| real == it);
    let parent = at.parent().unwrap_or(home);
    let is_new = at.symlink_metadata().is_err();
    if is_new && place.is_dir && place.access == Access::Write && is_plain(parent) && parent != home
    {
        let made = fs::DirBuilder::new().mode(MODE).create(&at);
        made.map_err(|_| "it is not there, and cannot be made")?;
    }
    match at.symlink_metadata() {
        Err(_) => Err("it is not there"),
        Ok(_) if !is_plain(&at) => Err("a link leads to it"),
        Ok(meta) if place.is_dir && !meta.is_dir() => Err("it is no directory"),
        Ok(meta) if !place.is_dir && !meta.is_file() => Err("it is no file"),
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use scan::net::Domains;

    use super::*;

    fn preset(name: &str) -> Preset {
        Preset::choose(Some(name), OsStr::new("x")).unwrap().unwrap()
    }

    #[test]
    fn every_table_is_understood_and_names_what_can_be_given() {
        for (name, _) in ALL {
            let preset = preset(name);
            let hosts: Vec<&str> = preset.hosts().collect();
            assert!(!hosts.is_empty(), "{name}");
            assert!(Domains::parse(&hosts).is_ok(), "{name}");
            let names = preset.table.taken.iter().chain(preset.table.set.iter().map(|it| &it.0));
            for variable in names {
                assert!(vault::environment::may_be_set(variable), "{name}: {variable}");
            }
            let writes = |it: &&Place| it.access == Access::Write;
            for place in preset.table.places.iter().filter(writes) {
                // What is obeyed outside is not written from inside.
                for obeyed in
                    ["settings", "config", "CLAUDE", "AGENTS", "GEMINI", "mcp", "hooks", "bin"]
                {
                    let last = place.at.rsplit('/').next().unwrap();
                    assert!(!last.contains(obeyed), "{name}: {}", place.at);
                }
                let parts = place.at.split('/').count();
                assert!(parts > 1, "{name}: {} is all of a folder of the home", place.at);
            }
        }
    }

    #[test]
    fn a_preset_is_chosen_by_the_name_of_the_program_and_by_nothing_else() {
        let by = |asked: Option<&str>, program: &str| {
            Preset::choose(asked, OsStr::new(program)).unwrap().map(|it| it.name)
        };
        assert_eq!(by(None, "claude"), Some("claude"));
        assert_eq!(by(None, "/usr/local/bin/codex"), Some("codex"));
        for other in ["", "/", "sh", "claude.sh", "Claude", "claude-code", "claude/x"] {
            assert_eq!(by(None, other), None, "{other}");
        }
        assert_eq!(by(Some("none"), "claude"), None);
        assert_eq!(by(Some("gemini"), "claude"), Some("gemini"));
        assert!(name("none").is_ok() && name("opencode").is_ok() && name("bash").is_err());
    }

    #[test]
    fn only_what_is_there_as_itself_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let home = files::resolved(dir.path()).unwrap();
        let make = |it: &str| fs::create_dir_all(home.join(it)).unwrap();
        make(".claude/skills");
        make("elsewhere");
        make(".claude/history.jsonl");
        fs::File::create(home.join(".claude.json")).unwrap();
        std::os::unix::fs::symlink(home.join("elsewhere"), home.join(".claude/agents")).unwrap();
        let mut cage = Cage { home: Some(home.clone()), ..Cage::default() };
        let mut claude = preset("claude");
        claude.give(&mut cage).unwrap();
        let given: Vec<(String, &str)> = cage
            .belongings
            .iter()
            .map(|it| {
                let at = it.at.strip_prefix(&home).unwrap().display().to_string();
                (at, it.access.as_str())
            })
            .collect();
        let expected = [
            (".claude.json", "copy"),
            (".claude/skills", "read"),
            // Made for the agent.
            (".claude/projects", "write"),
            (".claude/todos", "write"),
            (".claude/plans", "write"),
            (".claude/file-history", "write"),
        ];
        assert_eq!(given, expected.map(|(at, how)| (at.to_owned(), how)));
        let why = |at: &str| claude.left_out.iter().find(|it| it.0 == at).map(|it| it.1);
        assert_eq!(why(".claude/agents"), Some("a link leads to it"));
        assert_eq!(why(".claude/history.jsonl"), Some("it is no file"));
        assert_eq!(why(".claude/.credentials.json"), Some("it is not there"));
        // Who never used an agent gets nothing made.
        let mut codex = preset("codex");
        codex.give(&mut cage).unwrap();
        assert!(!home.join(".codex").exists());
    }
}
