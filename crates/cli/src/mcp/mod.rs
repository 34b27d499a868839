//! `lazaret mcp`: the gateway before MCP servers.

mod gate;
mod known;
mod several;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ::mcp::stdio::{self, Naming, Server};
use clap::Subcommand;
use sandbox::{Piped, Pipes};

use crate::daemon;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use gate::DaemonGate;

/// Put the gate before an MCP server, or look at what is known of servers.
///
/// `lazaret mcp -- COMMAND…` starts the server and speaks MCP on stdin and stdout, in the era that the
/// client speaks: write it into the client's configuration in the place of COMMAND (`lazaret init` does).
/// Every call is judged and recorded before the server hears of it, and every result before the client does.
/// A tool whose definition changes is held back until you accept it. The server's environment is made from
/// nothing but PATH, HOME, LANG, TERM, TZ and USER; name what else it needs with --env.
///
/// Try it:
///   lazaret mcp --name files -- npx -y @modelcontextprotocol/server-filesystem .
///   lazaret mcp list
///   lazaret mcp accept files
///   lazaret mcp serve --config servers.json
///   lazaret mcp trust files trusted
///
/// Exit codes: 0 the client has ended, 2 wrong usage, 3 the server or the daemon could not be started.
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
    /// What the server is called here [default: the name of its program]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A variable of our environment that the server gets.
    #[arg(long = "env", value_name = "NAME")]
    env: Vec<String>,
    /// Run the server in a cage, with the current directory as its workspace and no network.
    #[arg(long)]
    cage: bool,
    /// The server's program and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    server: Vec<OsString>,
}

#[derive(Subcommand)]
enum Command {
    List(known::ListArgs),
    Accept(known::AcceptArgs),
    Trust(known::TrustArgs),
    Serve(several::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Some(Command::List(args)) => known::list(args),
        Some(Command::Accept(args)) => known::accept(args),
        Some(Command::Trust(args)) => known::trust(args),
        Some(Command::Serve(args)) => several::run(args),
        None => serve(args),
    }
}

fn serve(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let Some((program, rest)) = args.server.split_first() else {
        return Err(Failure::usage("name the server's program behind `--`"));
    };
    let name = match &args.name {
        Some(name) => name.clone(),
        None => named_by(program)?,
    };
    daemon::start(&home)?;
    let gate = DaemonGate::new(home.clone()).map_err(Failure::unable)?;
    let (program, rest) =
        if args.cage { caged(&args.server, &home)? } else { (program.clone(), rest.to_vec()) };
    let (server, pipes) = Piped::start(&program, &rest, &environment(&args.env))
        .map_err(|error| Failure::unable(format!("`{}`: {error}", program.to_string_lossy())))?;
    let Pipes { input, output } = pipes;
    let peer = Server { name, input: Box::new(input), output: Box::new(output) };
    let served = stdio::run(Arc::new(gate), vec![peer], Naming::Plain, io::stdin(), io::stdout());
    server.end();
    served.map_err(Failure::unable)?;
    Ok(Exit::Done)
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

/// The same server in a cage: what makes one is this very program.
fn caged(server: &[OsString], home: &Path) -> Result<(OsString, Vec<OsString>), Failure> {
    let program = std::env::current_exe().map_err(Failure::unable)?;
    let exec =
        ["exec".into(), "--home".into(), home.as_os_str().to_owned(), "--".into()].into_iter();
    Ok((program.into_os_string(), exec.chain(server.iter().cloned()).collect()))
}
