//! `lazaret init`, `uninstall` and `verify`: coding agents are wired to the gate, and that is proven and taken back.

pub(crate) mod init;
pub(crate) mod uninstall;
pub(crate) mod verify;

use std::collections::BTreeMap;
use std::path::PathBuf;

use setup::{Host, Surroundings, VARIABLES};

use crate::failure::Failure;
use crate::home::Home;

/// The program that hosts call.
const HOOK: &str = "lazaret-hook";

/// Where things are, by the environment.
pub(crate) fn surroundings(home: &Home, project: Option<PathBuf>) -> Result<Surroundings, Failure> {
    let unable = |why: &str| Failure::unable(why.to_owned());
    let lazaret = std::env::current_exe().map_err(Failure::unable)?;
    let lazaret = files::resolved(&lazaret).map_err(Failure::unable)?;
    let hook = lazaret.with_file_name(HOOK);
    if !hook.is_file() {
        return Err(Failure::unable(format!(
            "`{}` is not there: install it beside `lazaret` (cargo build --release builds both)",
            hook.display()
        )));
    }
    let named = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let env: BTreeMap<String, String> = VARIABLES.iter().filter_map(named).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(Surroundings {
        home: std::env::home_dir().ok_or_else(|| unable("no home directory; set HOME"))?,
        state: state(home)?,
        hook,
        lazaret,
        project,
        env,
        path_dirs: std::env::split_paths(&path).collect(),
    })
}

/// The project that somebody stands in: an agent that is started here reads its configuration, too. Their home, and what is above it,
/// is none.
pub(crate) fn project_here() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let is_above = std::env::home_dir().is_some_and(|it| it.starts_with(&here));
    (!is_above).then_some(here)
}

/// The state directory, as every command that is wired names it. Hosts start those in folders of their own, where a
/// relative path would be another one.
fn state(home: &Home) -> Result<PathBuf, Failure> {
    let state = home.dir()?;
    if state.is_absolute() {
        return Ok(state);
    }
    files::resolved(&state).map_err(|error| {
        let shown = state.display();
        Failure::usage(format!("`{shown}`: {error}; name the state directory by an absolute path"))
    })
}

/// A host by its name.
fn host(name: &str) -> Result<Host, String> {
    let all: Vec<&str> = Host::ALL.iter().map(|it| it.as_str()).collect();
    Host::parse(name).ok_or_else(|| format!("one of {}", all.join(", ")))
}
