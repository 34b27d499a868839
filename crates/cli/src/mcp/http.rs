//! `--http`: the gateway for clients that come by HTTP.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::mcp::http::server::auth::Principal;
use ::mcp::http::server::limits::{SESSION_IDLE_MAX, SESSIONS_MAX};
use ::mcp::http::server::{Backend, Endpoint, Origins, PATH, Parts, Started};
use ::mcp::stdio::Naming;
use evidence::{Clock as _, SystemClock};
use host::ipc::Stop;
use serde_json::json;

use super::gate::DaemonGate;
use super::http_auth::{self, Credentials, OauthConfig};
use super::http_refusals;
use super::peers::{self, Spec, Way};
use crate::failure::{Exit, Failure};
use crate::output;
use crate::proxy::raise_open_files;

/// Options of the gateway for clients that come by HTTP.
#[derive(clap::Args)]
pub(super) struct HttpArgs {
    /// Serve clients by HTTP at this address, at the path /mcp, instead of one on stdin and stdout.
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// A name by which clients may call the endpoint, beside those of this machine.
    #[arg(long = "allow-host", value_name = "NAME", requires = "http")]
    hosts: Vec<String>,
    /// Pages of a browser that may call, as the browser names them (https://app.example).
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
    /// Start servers that are commands also for clients that are not on this machine.
    #[arg(long, requires = "http")]
    allow_commands: bool,
    /// Sessions at one time, each with servers of its own.
    #[arg(long, value_name = "COUNT", default_value_t = SESSIONS_MAX, value_parser = sessions, requires = "http")]
    sessions: usize,
    /// Print where the endpoint is as one JSON object.
    #[arg(long, requires = "http")]
    json: bool,
}

impl HttpArgs {
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.http
    }
}

fn sessions(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|it| (1..=SESSIONS_MAX).contains(it));
    count.ok_or_else(|| format!("a number from 1 to {SESSIONS_MAX}"))
}

/// Servers that are started for each client.
pub(super) struct Servers {
    pub(super) specs: Vec<Spec>,
    pub(super) naming: Naming,
}

/// Servers and a gate for each session.
struct Sessions {
    home: PathBuf,
    servers: Servers,
}

impl Backend for Sessions {
    fn start(&self, _client: &Principal) -> Result<Started, String> {
        let gate = DaemonGate::new(self.home.clone()).map_err(|error| error.to_string())?;
        let gate = Arc::new(gate);
        let started = peers::start(&self.servers.specs, &self.home, &gate);
        let (running, servers) = started.map_err(|failure| {
            // A client need not know what there is on this machine.
            output::note(failure.message());
            "the gateway's own messages say why".to_owned()
        })?;
        let end = Box::new(move || drop(running.end()));
        Ok(Started { gate, servers, naming: self.servers.naming, end })
    }
}

/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(500);
/// How long servers may take to end with us.
const END_MAX: Duration = Duration::from_secs(6);

pub(super) fn serve(
    args: &HttpArgs,
    address: SocketAddr,
    home: PathBuf,
    oauth: Option<OauthConfig>,
    servers: Servers,
) -> Result<Exit, Failure> {
    let has_commands = servers.specs.iter().any(|it| matches!(it.way, Way::Started(_)));
    let has_oauth = oauth.is_some();
    check_reach(args, address, has_oauth, has_commands)?;
    peers::tell_of_cages(&servers.specs);
    let stop = Stop::on_signals().map_err(Failure::unable)?;
    raise_open_files();
    let listener = TcpListener::bind(address)
        .map_err(|error| Failure::unable(format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().map_err(Failure::unable)?;
    listener.set_nonblocking(true).map_err(Failure::unable)?;
    let credentials = match oauth {
        Some(config) => http_auth::oauth(config, &home, address)?,
        None => http_auth::local(&home)?,
    };
    let Credentials { auth, token_file } = credentials;
    let refusals = http_refusals::noted(home.clone())?;
    let endpoint = Endpoint::new(Parts {
        origins: Origins::of(address, &args.hosts, &args.origins),
        auth,
        backend: Arc::new(Sessions { home, servers }),
        clock: || SystemClock.unix_seconds(),
        sessions_max: args.sessions,
        idle_max: SESSION_IDLE_MAX,
        refusals: Box::new(refusals),
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::unable)?;
    let entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).map_err(Failure::unable)?;
    drop(entered);
    runtime.spawn(Arc::clone(&endpoint).serve(listener));
    show(args, address, token_file.as_deref(), has_oauth);
    while !stop.wait(LOOK) {}
    endpoint.close(END_MAX);
    runtime.shutdown_background();
    Ok(Exit::Done)
}

/// What others on the network reach needs more: somebody who vouches for them, and the operator's word. Whoever names
/// an issuer or a host of its own has clients elsewhere, also where what encrypts stands before us on this machine.
fn check_reach(
    args: &HttpArgs,
    address: SocketAddr,
    has_oauth: bool,
    has_commands: bool,
) -> Result<(), Failure> {
    let is_loopback = address.ip().is_loopback();
    if is_loopback && !has_oauth && args.hosts.is_empty() {
        return Ok(());
    }
    if !is_loopback && !has_oauth {
        return Err(Failure::usage(format!(
            "{address} can be reached from other machines: name who vouches for clients with \"oauth\" in the configuration, or listen on 127.0.0.1"
        )));
    }
    if has_commands && !args.allow_commands {
        return Err(Failure::usage(
            "clients on other machines would start commands on this one: allow it with --allow-commands, or listen on 127.0.0.1 without \"oauth\" and --allow-host",
        ));
    }
    if address.ip().is_unspecified() && args.hosts.is_empty() {
        return Err(Failure::usage(
            "name the host that clients call with --allow-host: requests to any other are refused",
        ));
    }
    Ok(())
}

fn show(args: &HttpArgs, address: SocketAddr, token_file: Option<&Path>, has_oauth: bool) {
    let url = format!("http://{address}{PATH}");
    let file = token_file.map(|it| it.display().to_string());
    if args.json {
        output::json(&json!({ "url": url, "token_file": file }));
        return;
    }
    output::line(&format!("MCP at {url}"));
    match file {
        Some(file) => {
            output::line("clients send the field `Authorization: Bearer TOKEN`; the token is in");
            output::line(&format!("  {file}"));
        }
        None if has_oauth => {
            output::line("clients send an access token of the issuer in the configuration");
        }
        None => {
            output::line(
                "clients send a token: `lazaret mcp token create NAME` makes one for each",
            );
        }
    }
}
