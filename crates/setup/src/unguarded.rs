//! MCP servers of programs whose configuration is not ours to change (Claude Desktop, VS Code, Windsurf, Zed): a person is told which
//! of them no gate guards.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::find::read;
use crate::json::{Comments, Document, keys};
use crate::mcp;
use crate::surroundings::Surroundings;

/// Servers that one file names and that do not go through the gateway.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unguarded {
    /// The program, as people call it.
    pub program: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The names of the servers, or why the file cannot be read.
    pub servers: Result<Vec<String>, String>,
}

/// A file of a program, beneath the folder that it begins from, and where the servers stand in it.
struct Place {
    program: &'static str,
    from: From,
    file: &'static str,
    keys: &'static [&'static str],
}

/// Where a path begins.
#[derive(Clone, Copy)]
enum From {
    Home,
    /// `~/.config`, or where `XDG_CONFIG_HOME` says.
    Config,
    Project,
}

const fn place(
    program: &'static str,
    from: From,
    file: &'static str,
    keys: &'static [&'static str],
) -> Place {
    Place { program, from, file, keys }
}

const DESKTOP: &str = "Claude Desktop";
const CODE: &str = "VS Code";
const ZED: &str = "Zed";
const PLACES: &[Place] = &[
    place(DESKTOP, From::Config, "Claude/claude_desktop_config.json", &["mcpServers"]),
    place(
        DESKTOP,
        From::Home,
        "Library/Application Support/Claude/claude_desktop_config.json",
        &["mcpServers"],
    ),
    place(CODE, From::Config, "Code/User/mcp.json", &["servers"]),
    place(CODE, From::Config, "Code/User/settings.json", &["mcp", "servers"]),
    place(CODE, From::Home, "Library/Application Support/Code/User/mcp.json", &["servers"]),
    place(
        CODE,
        From::Home,
        "Library/Application Support/Code/User/settings.json",
        &["mcp", "servers"],
    ),
    place(CODE, From::Project, ".vscode/mcp.json", &["servers"]),
    place("Windsurf", From::Home, ".codeium/windsurf/mcp_config.json", &["mcpServers"]),
    place(ZED, From::Config, "zed/settings.json", &["context_servers"]),
    place(ZED, From::Home, "Library/Application Support/Zed/settings.json", &["context_servers"]),
    place(ZED, From::Project, ".zed/settings.json", &["context_servers"]),
];

/// Looks for servers that nobody guards. What cannot be read is said, and hides no other file.
#[must_use]
pub fn unguarded(around: &Surroundings) -> Vec<Unguarded> {
    let roots = around.roots();
    let all = PLACES.iter().filter_map(|it| {
        let file = it.from.folder(around)?.join(it.file);
        let servers = match read(&file, &roots) {
            Ok(text) => servers(&text?, it.keys, &around.lazaret),
            Err(why) => Err(why),
        };
        Some(Unguarded { program: it.program, file, servers })
    });
    all.filter(|it| it.servers.as_ref().is_ok_and(|it| !it.is_empty()) || it.servers.is_err())
        .collect()
}

impl From {
    fn folder(self, around: &Surroundings) -> Option<PathBuf> {
        match self {
            Self::Home => Some(around.home.clone()),
            Self::Config => Some(around.config()),
            Self::Project => around.project.clone(),
        }
    }
}

/// The names of the servers of a file that do not go through the gateway.
fn servers(text: &str, place: &[&str], lazaret: &Path) -> Result<Vec<String>, String> {
    let doc = Document::parse(text, Comments::Allowed).map_err(|it| it.to_string())?;
    let Some(Value::Object(all)) = doc.value_at(&keys(place)) else { return Ok(Vec::new()) };
    let is_guarded =
        |server: &Map<String, Value>| line(server).is_some_and(|it| mcp::is_wrapped(&it, lazaret));
    let open = all.into_iter().filter(|it| !it.1.as_object().is_some_and(is_guarded));
    Ok(open.map(|it| it.0).collect())
}

/// By what a server is started. Zed also has the program and its arguments within the command.
fn line(server: &Map<String, Value>) -> Option<Vec<String>> {
    let Some(Value::Object(within)) = server.get("command") else {
        return mcp::command_line(server);
    };
    let mut flat = within.clone();
    let program = flat.remove("path")?;
    flat.insert("command".to_owned(), program);
    mcp::command_line(&flat)
}
