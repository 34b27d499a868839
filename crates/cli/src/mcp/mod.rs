//! `lazaret mcp`: the gateway before MCP servers.

mod cage;
mod exchange;
mod gate;
mod http;
mod http_auth;
mod http_refusals;
mod http_tokens;
mod known;
mod peers;
mod remote;
mod several;
mod texts;
mod tokens;

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;

use ::mcp::stdio::{self, Naming, Pipe};
use clap::Subcommand;
use host::OpenedBy;
use host::tool_servers::Fetched;

use crate::daemon;
use crate::exec::line_of_servers;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use cage::CageArgs;
use gate::DaemonGate;
use peers::{NOT_RUN, Program, Spec, Way};

/// Put the gate before an MCP server, or look at what is known of servers.
///
/// `lazaret mcp -- COMMAND…` starts the server, `lazaret mcp --url URL` reaches it at its address; either speaks MCP on
/// stdin and stdout, in the era that the client speaks: write it into the client's configuration in the place of COMMAND (`lazaret init` does).
/// Every call is judged and recorded before the server hears of it, and every result before the client does.
/// A tool whose definition changes is held back until you accept it. The server's environment is made from
/// nothing but PATH, HOME, LANG, TERM, TZ and USER; name what else it needs with --env.
///
/// The server runs in a cage (`lazaret exec`): it sees the current directory, which it may change, and no network. Open
/// what it needs with --network HOST and --read PATH, or leave the cage out with --no-cage. A server that npm or uv
/// start (`npx -y PACKAGE`, `uvx PACKAGE`) is run as it was fetched before (`uv tool install PACKAGE`).
///
/// Try it:
///   lazaret mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .
///   lazaret mcp list
///   lazaret mcp accept files
///   lazaret mcp serve --config servers.json
///   lazaret mcp --name notes --url https://mcp.example.com/mcp --header 'Authorization: Bearer vault:NOTES_TOKEN'
///   lazaret mcp login notes --url https://mcp.example.com/mcp
///   lazaret mcp serve --config servers.json --http 127.0.0.1:7719
///   lazaret mcp trust files trusted
///
/// Exit codes: 0 the client has ended, 2 wrong usage, 3 the server or the daemon could not be started, or the server
/// ended by itself with an error.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    home: Home,
    /// What the server is called here [default: the name of its program or host]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A variable of our environment that the server gets.
    #[arg(long = "env", value_name = "NAME")]
    env: Vec<String>,
    #[command(flatten)]
    cage: CageArgs,
    /// A variable of the server's environment that is filled with a secret of the vault; again for more.
    #[arg(long = "secret", value_name = "ENV=NAME", value_parser = remote::secret_variable)]
    secrets: Vec<(String, String)>,
    /// The address of a server that is reached by HTTP. One of this machine is open by being written here.
    #[arg(long, value_name = "URL", conflicts_with_all = ["env", "no_cage", "network", "readable", "secrets", "server"])]
    url: Option<String>,
    /// A header field that the server gets, with `vault:SECRET` in its value; again for more.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url")]
    headers: Vec<String>,
    #[command(flatten)]
    http: http::HttpArgs,
    /// The server's program and its arguments.
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    server: Vec<OsString>,
}

#[derive(Subcommand)]
enum Command {
    List(known::ListArgs),
    Accept(known::AcceptArgs),
    Trust(known::TrustArgs),
    Forget(known::ForgetArgs),
    Serve(several::Args),
    Login(remote::login::LoginArgs),
    Token(tokens::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Some(Command::List(args)) => known::list(args),
        Some(Command::Accept(args)) => known::accept(args),
        Some(Command::Trust(args)) => known::trust(args),
        Some(Command::Forget(args)) => known::forget(args),
        Some(Command::Serve(args)) => several::run(args),
        Some(Command::Login(args)) => remote::login::run(args),
        Some(Command::Token(args)) => tokens::run(args),
        None => serve(args),
    }
}

fn serve(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let spec = spec(args)?;
    if args.http.address().is_none() && line_of_servers::is_inside(&home) {
        return line_of_servers::hand_over(&home);
    }
    daemon::start(&home)?;
    let specs = vec![spec];
    if let Some(address) = args.http.address() {
        let backend = http::Servers { specs, naming: Naming::Plain };
        return http::serve(&args.http, address, home, None, backend);
    }
    serve_here(&specs, &home, Naming::Plain)
}

/// Serves one client on stdin and stdout.
fn serve_here(specs: &[Spec], home: &Path, naming: Naming) -> Result<Exit, Failure> {
    let gate = Arc::new(DaemonGate::new(home.to_owned()).map_err(Failure::unable)?);
    let output = io::stdout().as_fd().try_clone_to_owned().map_err(Failure::unable)?;
    let output = Pipe::new(output);
    peers::tell_of_cages(specs);
    let (running, servers) = peers::start(specs, home, &gate)?;
    let served = stdio::run(gate, servers, naming, io::stdin(), output);
    let failed = running.end();
    let gone = served.map_err(Failure::unable)?;
    if naming == Naming::Prefixed {
        // One of several that fails is told by the gateway, and harms no other.
        return Ok(Exit::Done);
    }
    match failed.iter().find(|it| gone.contains(&it.0) || NOT_RUN.contains(&it.1)) {
        Some((name, status)) => {
            Err(Failure::unable(format!("{name}: it ended by itself, with status {status}")))
        }
        None => Ok(Exit::Done),
    }
}

/// What the server that this line starts would see in a cage beside its folder, or why it cannot be in one.
pub(crate) fn seen_in_cage(line: &[String]) -> Result<String, String> {
    let words: Vec<OsString> = line.iter().map(OsString::from).collect();
    let Some(fetched) = Fetched::read(&words) else {
        return Err(
            "it is not known what it needs (`lazaret init --cage-servers` tries)".to_owned()
        );
    };
    let (_, readable) = fetched.kept()?;
    let shown: Vec<String> = readable.iter().map(|it| format!("`{}`", it.display())).collect();
    Ok(shown.join(", "))
}

/// What a line of ours starts.
pub(crate) struct Started {
    /// The server's program and its arguments; empty if it is reached at an address.
    pub(crate) words: Vec<OsString>,
    /// Whether the server has its cage and nothing beside: no variables, no network, nothing more to read.
    pub(crate) is_plain: bool,
}

/// Reads a line of ours that starts one server for one client; `None` if it is another one.
pub(crate) fn started_by(line: &[String]) -> Option<Started> {
    let command = <Args as clap::Args>::augment_args(clap::Command::new("mcp"));
    let found = command.try_get_matches_from(line).ok()?;
    let Args { command: None, env, cage, secrets, url, http, server, .. } =
        <Args as clap::FromArgMatches>::from_arg_matches(&found).ok()?
    else {
        return None;
    };
    let has_more = !env.is_empty() || !secrets.is_empty() || url.is_some();
    let is_wider = cage.no_cage || !cage.network.is_empty() || !cage.readable.is_empty();
    let is_one = http.address().is_none() && line.first().is_some_and(|it| it == "mcp");
    is_one.then_some(Started { words: server, is_plain: !has_more && !is_wider })
}

/// The server that is named on the command line.
fn spec(args: &Args) -> Result<Spec, Failure> {
    let by_itself = || match (&args.url, args.server.first()) {
        (Some(url), _) => named_by_host(url),
        (None, Some(program)) => named_by(program),
        (None, None) => Err(Failure::usage("name the server's program behind `--`")),
    };
    let name = args.name.clone().map_or_else(by_itself, Ok)?;
    let way = match &args.url {
        Some(url) => Way::Named {
            url: url.clone(),
            headers: remote::headers_of_arguments(&args.headers)?,
            by: OpenedBy::CommandLine,
        },
        None => Way::Started(Program {
            words: args.server.clone(),
            env: args.env.clone(),
            variables: args.secrets.clone(),
            cage: args.cage.clone(),
        }),
    };
    Ok(Spec { name, way })
}

/// The server's host as a name.
fn named_by_host(url: &str) -> Result<String, Failure> {
    let host = url::Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
    let host = host.filter(|it| ::mcp::names::check_server(it).is_ok());
    host.ok_or_else(|| Failure::usage("give the server a name with --name"))
}

/// The server's program as a name.
fn named_by(program: &OsString) -> Result<String, Failure> {
    let name = Path::new(program).file_stem().map(|it| it.to_string_lossy().into_owned());
    name.ok_or_else(|| Failure::usage("give the server a name with --name"))
}

/// What a server gets of our environment.
fn environment(named: &[String]) -> Vec<(String, OsString)> {
    let of_host = vault::environment::OF_HOST.iter().map(|it| (*it).to_owned());
    let all = of_host.chain(named.iter().cloned());
    all.filter_map(|name| std::env::var_os(&name).map(|value| (name, value))).collect()
}
