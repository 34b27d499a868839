//! MCP servers in hosts' configurations: started through our gateway, and as they were again.

use std::path::Path;

use hooks::Host;
use serde_json::{Map, Value};

use crate::command::{GatewayCommand, behind_gateway, cage_chosen};
use crate::json::{Document, JsonError, Step, below, keys};
use crate::remote::{self, Remote};

/// The name of our program, wherever it lies.
const PROGRAM_NAME: &str = "lazaret";
/// Why a server that goes through the gateway by the user's own words stays as it is.
const BY_HAND: &str =
    "it runs `lazaret mcp` in a form of its own; name the state directory there with `--home`";

/// What becomes of a server.
pub(crate) enum Fate {
    /// It goes through the gateway already.
    Wrapped,
    /// It will be started like this; in a cage, with what it sees there, or why not.
    Wrap(Map<String, Value>, Option<Result<String, String>>),
    /// It stays as it is, and why.
    Leave(&'static str),
}

/// What became of the servers of a file.
#[derive(Default)]
pub(crate) struct Wrapped {
    /// Those that stay, and why.
    pub(crate) left: Vec<(String, &'static str)>,
    /// Those with an address that go through the gateway from now on, with that address.
    pub(crate) remote: Vec<(String, String)>,
    /// Those that are started, with what they see in their cage or why they have none.
    pub(crate) cages: Vec<(String, Result<String, String>)>,
}

impl Wrapped {
    /// Takes down what becomes of one.
    pub(crate) fn note(&mut self, name: &str, fate: &Fate, server: &Map<String, Value>) {
        match fate {
            Fate::Leave(why) => self.left.push((name.to_owned(), why)),
            Fate::Wrap(_, cage) => {
                self.cages.extend(cage.clone().map(|it| (name.to_owned(), it)));
                let url = ["httpUrl", "url"].iter().find_map(|it| server.get(*it)?.as_str());
                self.remote.extend(url.map(|url| (name.to_owned(), url.to_owned())));
            }
            Fate::Wrapped => {}
        }
    }
}

/// Where the servers stand in a configuration.
pub(crate) fn places(value: &Value, host: Host) -> Vec<Vec<Step>> {
    let name = if host == Host::OpenCode { "mcp" } else { "mcpServers" };
    let mut places = vec![keys(&[name])];
    if host == Host::Claude {
        let projects = value.get("projects").and_then(Value::as_object);
        let projects = projects.into_iter().flat_map(|it| it.keys());
        places.extend(projects.map(|it| keys(&["projects", it, name])));
    }
    places.retain(|place| {
        let found = place.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.get(key.as_str()),
            Step::Index(index) => value.get(*index),
        });
        found.is_some_and(Value::is_object)
    });
    places
}

/// Sends every server of a file through the gateway.
pub(crate) fn wrap_all(
    doc: &mut Document,
    host: Host,
    gateway: &GatewayCommand<'_>,
) -> Result<Wrapped, JsonError> {
    let mut all = Wrapped::default();
    for place in places(&doc.value(), host) {
        for (name, server) in servers(doc, &place) {
            let fate = fate(&name, &server, host, gateway);
            all.note(&name, &fate, &server);
            if let Fate::Wrap(new, _) = fate {
                change(doc, &below(&place, name.as_str()), &server, &new)?;
            }
        }
    }
    Ok(all)
}

/// Takes the gateway out again.
pub(crate) fn unwrap_all(
    doc: &mut Document,
    was: Option<&Value>,
    lazaret: &Path,
) -> Result<(), JsonError> {
    for host in [Host::Claude, Host::OpenCode] {
        for place in places(&doc.value(), host) {
            for (name, server) in servers(doc, &place) {
                let path = below(&place, name.as_str());
                let was = was.and_then(|was| {
                    path.iter().try_fold(was, |value, step| match step {
                        Step::Key(key) => value.get(key.as_str()),
                        Step::Index(index) => value.get(*index),
                    })
                });
                let was = was.and_then(Value::as_object);
                if let Some(old) = unwrapped(&server, was, lazaret) {
                    change(doc, &path, &server, &old)?;
                }
            }
        }
    }
    Ok(())
}

fn servers(doc: &Document, place: &[Step]) -> Vec<(String, Map<String, Value>)> {
    let Some(Value::Object(all)) = doc.value_at(place) else { return Vec::new() };
    let all = all.into_iter();
    all.filter_map(|(name, server)| Some((name, server.as_object()?.clone()))).collect()
}

/// Changes the members that differ, and no others.
fn change(
    doc: &mut Document,
    path: &[Step],
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> Result<(), JsonError> {
    for (key, value) in new.iter().filter(|it| old.get(it.0) != Some(it.1)) {
        doc.set(&below(path, key.as_str()), value)?;
    }
    for key in old.keys().filter(|it| !new.contains_key(*it)) {
        doc.remove(&below(path, key.as_str()))?;
    }
    Ok(())
}

/// What a server is started by: a program and its arguments.
pub(crate) fn command_line(server: &Map<String, Value>) -> Option<Vec<String>> {
    let texts = |it: &Value| -> Option<Vec<String>> {
        it.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
    };
    let command = server.get("command")?;
    let Some(program) = command.as_str() else {
        return texts(command).filter(|it| !it.is_empty());
    };
    let args = server.get("args").map_or(Some(Vec::new()), texts)?;
    Some(std::iter::once(program.to_owned()).chain(args).collect())
}

/// Does this server go through the gateway, in our form or in one that the user wrote?
pub(crate) fn is_wrapped(line: &[String], lazaret: &Path) -> bool {
    behind(line, lazaret).is_some()
        || remote_behind(line, lazaret).is_some()
        || is_by_hand(line, lazaret)
}

/// The server with an address behind our form of the gateway.
fn remote_behind(line: &[String], lazaret: &Path) -> Option<Remote> {
    Remote::of_args(args_of_ours(line, lazaret)?)
}

/// The arguments of a line, if its program is ours.
pub(crate) fn args_of_ours<'a>(line: &'a [String], lazaret: &Path) -> Option<&'a [String]> {
    let (program, args) = line.split_first()?;
    let program = Path::new(program);
    let is_ours = program == lazaret || program.file_name().is_some_and(|it| it == PROGRAM_NAME);
    is_ours.then_some(args)
}

/// The server's own line behind our form of the gateway. By the name of the program: an older one may lie elsewhere.
fn behind(line: &[String], lazaret: &Path) -> Option<Vec<String>> {
    behind_gateway(args_of_ours(line, lazaret)?).map(<[String]>::to_vec)
}

/// Did the user put our gateway there, in another form? Not any program of its name: a project may bring one.
fn is_by_hand(line: &[String], lazaret: &Path) -> bool {
    let [program, mcp, args @ ..] = line else { return false };
    let is_ours = program == PROGRAM_NAME || Path::new(program) == lazaret;
    is_ours && mcp == "mcp" && args.iter().any(|it| it == "--" || it == "--url")
}

/// What becomes of one server.
pub(crate) fn fate(
    name: &str,
    server: &Map<String, Value>,
    host: Host,
    gateway: &GatewayCommand<'_>,
) -> Fate {
    let line = match (server.contains_key("command"), remote::has_address(server)) {
        (true, true) => return Fate::Leave("it names both a command and an address"),
        (false, true) => return fate_of_remote(name, server, host, gateway),
        (false, false) => return Fate::Leave("it names neither a command nor an address"),
        (true, false) => command_line(server),
    };
    let Some(line) = line else { return Fate::Leave("its command is no list of texts") };
    let lazaret = Path::new(gateway.program);
    if let Some(remote) = remote_behind(&line, lazaret) {
        let new = with_line(server, gateway.program, gateway.remote_args(name, &remote));
        return if new == *server { Fate::Wrapped } else { Fate::Wrap(new, None) };
    }
    let was = args_of_ours(&line, lazaret).and_then(cage_chosen);
    let own = match behind(&line, lazaret) {
        Some(own) => own,
        None if is_by_hand(&line, lazaret) => return Fate::Leave(BY_HAND),
        None => line,
    };
    if server.contains_key("envFile") {
        return Fate::Leave("it takes variables from a file, and only named ones pass the gateway");
    }
    let env = variables(server);
    if std::iter::once(name).chain(env.iter().map(String::as_str)).any(|it| it.starts_with('-')) {
        return Fate::Leave(
            "its name or that of a variable begins with a dash and would be read as an option",
        );
    }
    let cage = gateway.cage(&own, &env, was);
    let args = gateway.args(name, &env, (&own, cage.is_ok()));
    let new = with_line(server, gateway.program, args);
    if new == *server { Fate::Wrapped } else { Fate::Wrap(new, Some(cage)) }
}

/// What becomes of one that is reached at an address.
fn fate_of_remote(
    name: &str,
    server: &Map<String, Value>,
    host: Host,
    gateway: &GatewayCommand<'_>,
) -> Fate {
    if name.starts_with('-') {
        return Fate::Leave("its name begins with a dash and would be read as an option");
    }
    match Remote::of_server(server, host) {
        Ok(remote) => {
            let args = gateway.remote_args(name, &remote);
            Fate::Wrap(Remote::wrapped(server, host, gateway.program, args), None)
        }
        Err(why) => Fate::Leave(why),
    }
}

/// Names of the variables that a server is given. The gateway makes its environment from nothing but these.
pub(crate) fn variables(server: &Map<String, Value>) -> Vec<String> {
    let given = ["env", "environment"].into_iter().filter_map(|it| server.get(it)?.as_object());
    let given = given.flat_map(|it| it.keys().cloned());
    // Codex passes these on from its own environment.
    let passed = server.get("env_vars").and_then(Value::as_array);
    let passed = passed.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned));
    let mut names: Vec<String> = Vec::new();
    for name in given.chain(passed) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The same server, started by this program with these arguments.
fn with_line(server: &Map<String, Value>, program: &str, args: Vec<String>) -> Map<String, Value> {
    let mut new = server.clone();
    let args = args.into_iter().map(Value::from);
    // OpenCode has one list, the others have two members.
    if server.get("command").is_some_and(Value::is_array) {
        let line = std::iter::once(Value::from(program)).chain(args).collect();
        new.insert("command".to_owned(), Value::Array(line));
    } else {
        new.insert("command".to_owned(), Value::from(program));
        new.insert("args".to_owned(), Value::Array(args.collect()));
    }
    new
}

/// A server as it was before it went through the gateway; `None` if it does not, or in a form that is not ours.
pub(crate) fn unwrapped(
    server: &Map<String, Value>,
    was: Option<&Map<String, Value>>,
    lazaret: &Path,
) -> Option<Map<String, Value>> {
    let line = command_line(server)?;
    if let Some(remote) = remote_behind(&line, lazaret) {
        return Some(remote.unwrapped(server, was));
    }
    let line = behind(&line, lazaret)?;
    let (program, args) = line.split_first()?;
    let mut old = with_line(server, program, args.to_vec());
    let had_args = was.is_none_or(|it| it.contains_key("args"));
    if args.is_empty() && !had_args {
        old.shift_remove("args");
    }
    Some(old)
}
