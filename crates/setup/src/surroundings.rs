//! The machine as this crate sees it: every path and every variable is given, nothing is looked up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hooks::Host;

/// Where things are: the user's home, our own state and programs, and what the environment says.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The user's home.
    pub home: PathBuf,
    /// The state directory. Every command that is wired names it, so it must be absolute.
    pub state: PathBuf,
    /// The absolute path of `lazaret-hook`.
    pub hook: PathBuf,
    /// The absolute path of `lazaret`.
    pub lazaret: PathBuf,
    /// The project whose own configuration is looked at, too.
    pub project: Option<PathBuf>,
    /// Variables of the environment. Those that are read: [`VARIABLES`].
    pub env: BTreeMap<String, String>,
    /// The folders of `PATH`.
    pub path_dirs: Vec<PathBuf>,
}

/// Variables that move a host's configuration.
pub const VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"];

impl Surroundings {
    /// The folder of a host's configuration.
    #[must_use]
    pub fn folder(&self, host: Host) -> PathBuf {
        match host {
            Host::Claude => self.moved("CLAUDE_CONFIG_DIR").unwrap_or(self.home.join(".claude")),
            Host::Codex => self.moved("CODEX_HOME").unwrap_or(self.home.join(".codex")),
            Host::Gemini => self.home.join(".gemini"),
            Host::Cursor => self.home.join(".cursor"),
            Host::Copilot => self.moved("COPILOT_HOME").unwrap_or(self.home.join(".copilot")),
            Host::OpenCode => self.config().join("opencode"),
        }
    }

    /// The folder of most programs' configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.moved("XDG_CONFIG_HOME").unwrap_or(self.home.join(".config"))
    }

    /// The file that holds our hooks.
    #[must_use]
    pub fn hooks_file(&self, host: Host) -> PathBuf {
        let folder = self.folder(host);
        match host {
            Host::Claude | Host::Gemini => folder.join("settings.json"),
            Host::Codex | Host::Cursor => folder.join("hooks.json"),
            Host::Copilot => folder.join("hooks/lazaret.json"),
            Host::OpenCode => folder.join("plugins/lazaret.js"),
        }
    }

    /// Files that may name MCP servers, whether they are there or not.
    #[must_use]
    pub fn mcp_files(&self, host: Host) -> Vec<PathBuf> {
        let folder = self.folder(host);
        let mut files = match host {
            Host::Claude => vec![match self.moved("CLAUDE_CONFIG_DIR") {
                Some(moved) => moved.join(".claude.json"),
                None => self.home.join(".claude.json"),
            }],
            Host::Codex => vec![folder.join("config.toml")],
            Host::Gemini => vec![folder.join("settings.json")],
            Host::Cursor => vec![folder.join("mcp.json")],
            Host::Copilot => vec![folder.join("mcp-config.json")],
            Host::OpenCode => vec![folder.join("opencode.json"), folder.join("opencode.jsonc")],
        };
        if let Some(project) = &self.project {
            match host {
                Host::Claude => files.push(project.join(".mcp.json")),
                Host::Codex => files.push(project.join(".codex/config.toml")),
                Host::Gemini => files.push(project.join(".gemini/settings.json")),
                Host::Cursor => files.push(project.join(".cursor/mcp.json")),
                Host::Copilot => {}
                Host::OpenCode => {
                    files.extend([project.join("opencode.json"), project.join("opencode.jsonc")]);
                }
            }
        }
        files
    }

    /// The folder of our manifest and backups.
    pub(crate) fn setup(&self) -> PathBuf {
        self.state.join("setup")
    }

    /// Folders beneath which files may be changed. A link that leads out of them is not followed.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let moved = VARIABLES.iter().filter_map(|it| self.moved(it));
        let given = std::iter::once(self.home.clone()).chain(self.project.clone()).chain(moved);
        // As they are: the user's home may be a link itself.
        given.map(|it| files::resolved(&it).unwrap_or(it)).collect()
    }

    /// What a variable says, if it is a place. A relative one means another place in every folder.
    fn moved(&self, variable: &str) -> Option<PathBuf> {
        self.env.get(variable).map(PathBuf::from).filter(|it| it.is_absolute())
    }

    /// Our hook program as text, for a file of settings.
    pub(crate) fn hook_text(&self) -> Option<&str> {
        text(&self.hook)
    }

    /// The state directory as text, for a file of settings.
    pub(crate) fn state_text(&self) -> Option<&str> {
        text(&self.state)
    }

    /// Our program as text, for a file of settings.
    pub(crate) fn lazaret_text(&self) -> Option<&str> {
        text(&self.lazaret)
    }
}

/// A path that a file of settings can hold: whole, and without characters that end a line there.
fn text(path: &Path) -> Option<&str> {
    path.to_str().filter(|it| path.is_absolute() && !it.chars().any(char::is_control))
}
