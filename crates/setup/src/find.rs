//! Which coding agents are here, and which MCP servers they know.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use files::safe_path;
use serde_json::{Map, Value};

use crate::disk;
use crate::hosts::{self, codex};
use crate::json::{Document, Step};
use crate::mcp;
use crate::secret::{shown_args, shown_url};
use crate::surroundings::Surroundings;
use crate::toml;
use hooks::Host;

/// Any of the bits that let somebody run a file.
const EXECUTABLE: u32 = 0o111;

/// A coding agent that is here.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which one.
    pub host: Host,
    /// How it is known to be here.
    pub evidence: Vec<Evidence>,
    /// Files of its configuration that are here.
    pub files: Vec<PathBuf>,
    /// MCP servers that it knows.
    pub servers: Vec<McpServer>,
    /// Files that could not be read, and why.
    pub problems: Vec<String>,
}

/// How an agent is known to be here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Evidence {
    /// Its program.
    Program(PathBuf),
    /// The folder of its configuration.
    Folder(PathBuf),
}

/// An MCP server in a configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct McpServer {
    /// Its name there.
    pub name: String,
    /// The file that names it.
    pub file: PathBuf,
    /// How it is reached.
    pub reached: Reached,
    /// Does it go through our gateway?
    pub is_wrapped: bool,
}

/// How an MCP server is reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reached {
    /// By starting a program.
    Command {
        /// The program.
        command: String,
        /// Its arguments; `…` for one that may be a secret.
        args: Vec<String>,
        /// Names of the variables that it is given. Their values may be secrets and are not read.
        env: Vec<String>,
    },
    /// At an address, without its query.
    Url(String),
    /// By something that we do not know.
    Unknown,
}

/// Looks for every agent. What cannot be read is a problem of that agent and not of the others.
#[must_use]
pub fn find(around: &Surroundings) -> Vec<Found> {
    Host::ALL.into_iter().filter_map(|host| found(around, host)).collect()
}

fn found(around: &Surroundings, host: Host) -> Option<Found> {
    let mut evidence = Vec::new();
    for folder in &around.path_dirs {
        let programs = programs(host).iter().filter_map(|it| safe_path(folder, &[*it]).ok());
        evidence.extend(programs.filter(|it| is_program(it)).map(Evidence::Program));
    }
    let folder = around.folder(host);
    if folder.is_dir() {
        evidence.push(Evidence::Folder(folder));
    }
    if evidence.is_empty() {
        return None;
    }
    let mut found =
        Found { host, evidence, files: Vec::new(), servers: Vec::new(), problems: Vec::new() };
    let roots = around.roots();
    for path in around.mcp_files(host) {
        match read(&path, &roots) {
            Ok(None) => {}
            Ok(Some(text)) => {
                match servers(host, &path, &text, &around.lazaret) {
                    Ok(servers) => found.servers.extend(servers),
                    Err(what) => found.problems.push(format!("`{}`: {what}", path.display())),
                }
                found.files.push(path);
            }
            Err(what) => found.problems.push(what),
        }
    }
    let hooks = around.hooks_file(host);
    if hooks.is_file() && !found.files.contains(&hooks) {
        found.files.push(hooks);
    }
    Some(found)
}

/// Names of a host's program, as they stand in a folder of `PATH`.
fn programs(host: Host) -> &'static [&'static str] {
    match host {
        Host::Claude => &["claude"],
        Host::Codex => &["codex"],
        Host::Gemini => &["gemini"],
        Host::Cursor => &["cursor", "cursor-agent"],
        Host::Copilot => &["copilot"],
        Host::OpenCode => &["opencode"],
    }
}

/// Is there a file that can be run?
pub(crate) fn is_program(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|it| it.is_file() && it.permissions().mode() & EXECUTABLE != 0)
}

/// The text of a file, if it is there.
pub(crate) fn read(path: &Path, roots: &[PathBuf]) -> Result<Option<String>, String> {
    let seen = disk::look(path, roots).map_err(|it| it.to_string())?;
    let text = seen.bytes.map(String::from_utf8).transpose();
    text.map_err(|_| format!("`{}` is not UTF-8", path.display()))
}

fn servers(host: Host, file: &Path, text: &str, lazaret: &Path) -> Result<Vec<McpServer>, String> {
    let all = defined(host, text)?.into_iter();
    Ok(all.map(|(name, server)| described(name, &server, file, lazaret)).collect())
}

/// A server and its name.
pub(crate) type Named = (String, Map<String, Value>);

/// The servers of a file, by name.
pub(crate) fn defined(host: Host, text: &str) -> Result<Vec<Named>, String> {
    let mut all: Vec<Named> = Vec::new();
    if host == Host::Codex {
        let config = toml::parse(text)?;
        all = codex::servers(&config);
    } else {
        let doc = Document::parse(text, hosts::comments(host)).map_err(|it| it.to_string())?;
        for place in mcp::places(&doc.value(), host) {
            all.extend(named(&doc, &place));
        }
    }
    Ok(all)
}

/// A line by which an agent starts our gateway before a server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GatewayLine {
    /// Its arguments, behind our program.
    pub args: Vec<String>,
    /// The variables that it is given.
    pub env: Vec<(String, String)>,
    /// The file that says so.
    pub file: PathBuf,
}

/// Returns the lines by which an agent starts our gateway, as its user's own configuration has them. What a project brings does
/// not count.
#[must_use]
pub fn gateway_lines(around: &Surroundings, host: Host) -> Vec<GatewayLine> {
    let around = Surroundings { project: None, ..around.clone() };
    let roots = around.roots();
    let files = around.mcp_files(host).into_iter();
    let texts = files.filter_map(|path| Some((read(&path, &roots).ok().flatten()?, path)));
    let all = texts.filter_map(|(text, path)| Some((defined(host, &text).ok()?, path)));
    let all = all.flat_map(|(all, path)| all.into_iter().map(move |it| (it.1, path.clone())));
    all.filter_map(|(server, file)| {
        let line = mcp::command_line(&server)?;
        let args = mcp::args_of_ours(&line, &around.lazaret)?.to_vec();
        let is_wrapped = mcp::is_wrapped(&line, &around.lazaret);
        is_wrapped.then(|| GatewayLine { args, env: given(&server), file })
    })
    .collect()
}

/// The variables that a configuration gives a server.
fn given(server: &Map<String, Value>) -> Vec<(String, String)> {
    let given = ["env", "environment"].into_iter().filter_map(|it| server.get(it)?.as_object());
    let pairs =
        given.flatten().filter_map(|(name, it)| Some((name.clone(), it.as_str()?.to_owned())));
    pairs.collect()
}

fn named(doc: &Document, place: &[Step]) -> Vec<Named> {
    let Some(Value::Object(all)) = doc.value_at(place) else { return Vec::new() };
    let all = all.into_iter();
    all.filter_map(|(name, it)| Some((name, it.as_object()?.clone()))).collect()
}

fn described(name: String, server: &Map<String, Value>, file: &Path, lazaret: &Path) -> McpServer {
    let line = mcp::command_line(server);
    let is_wrapped = line.as_ref().is_some_and(|it| mcp::is_wrapped(it, lazaret));
    let url = ["url", "httpUrl"].into_iter().find_map(|it| server.get(it)?.as_str());
    let reached = match (line.as_deref(), url) {
        (Some([command, args @ ..]), _) => {
            let env = mcp::variables(server);
            Reached::Command { command: command.clone(), args: shown_args(args), env }
        }
        (_, Some(url)) => Reached::Url(shown_url(url)),
        (Some([]) | None, None) => Reached::Unknown,
    };
    McpServer { name, file: file.to_owned(), reached, is_wrapped }
}
