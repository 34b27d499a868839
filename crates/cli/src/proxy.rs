//! `lazaret proxy`: the gate's rules for any program that honours `HTTPS_PROXY`.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gateway::proxy::Token;
use host::ipc::Stop;
use host::{ProxyAccount, ProxyDoor, ProxyRequest};
use model::{AgentId, UserId};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::door;
use crate::failure::{Exit, Failure};
use crate::handed;
use crate::home::Home;
use crate::output;
use crate::way_out::WayOut;

/// Give programs a way out that follows the gate's rules.
///
/// Every request and every tunnel of a program is judged, recorded, and only then made: to public
/// addresses alone, whatever a name resolves to, and to the domains that the agent's manifest
/// allows (`sandbox.allowedDomains`). A program is told what was refused by a status (403), by
/// the field `x-lazaret-refusal` and by a JSON body; 407 means that it gave no account.
///
/// For each --agent it prints a proxy's URL with a token that is new at each start, and it serves
/// until it gets SIGTERM or SIGINT. The token says for which agent a program asks, so keep it to
/// that program. In its place, an access token of the same user will do (`lazaret access create`),
/// which outlasts a start and can be revoked.
///
/// What goes through a tunnel is encrypted for others and is not looked at. So it is not known
/// what a program reads, and no session is marked by it. Therefore what looks as if it carried data
/// off (encoded text in a name or an address, tunnels, hooks, pastes: what `lazaret check url` calls
/// `step_up`) is refused, unless the host is listed under `allowedDomains`.
///
/// Try it:
///   lazaret proxy --agent main
///   curl -x http://main:TOKEN@127.0.0.1:7718 https://example.com/
///
/// Exit codes: 0 ended in order, 1 the user may not use an agent, 2 wrong usage or broken files,
/// 3 could not work (the port is taken, a journal that another process has open).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// For which agents; each gets an account of its own.
    #[arg(long = "agent", value_name = "AGENT", required = true, value_parser = AgentId::parse)]
    agents: Vec<AgentId>,
    /// For whom they work.
    #[arg(long, default_value = "me", value_parser = UserId::parse)]
    user: UserId,
    /// Where to listen, on this machine.
    #[arg(long, default_value = "127.0.0.1:7718", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// A directory of own policy rules, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// Print one JSON object per account and nothing else.
    #[arg(long)]
    json: bool,
}

/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(500);

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if !args.listen.ip().is_loopback() {
        return Err(Failure::usage(
            "tokens travel to the proxy without encryption: listen on 127.0.0.1 or [::1]",
        ));
    }
    let stop = Stop::on_signals().map_err(Failure::unable)?;
    raise_open_files();
    let home = args.home.dir()?;
    let mut accounts = Vec::new();
    for agent in &args.agents {
        let token = Token::random().map_err(Failure::unable)?;
        accounts.push(ProxyAccount {
            user: args.user.as_str().to_owned(),
            agent: agent.as_str().to_owned(),
            session: format!("proxy-{agent}"),
            token: token.shown_once().to_owned(),
            allow: Vec::new(),
        });
    }
    let listener = TcpListener::bind(args.listen)
        .map_err(|error| Failure::unable(format!("cannot listen on {}: {error}", args.listen)))?;
    let address = listener.local_addr().map_err(Failure::unable)?;
    let request = ProxyRequest { accounts, door: ProxyDoor::Proxy };
    let way_out = WayOut::begin(&home, args.policy.as_deref(), &request, listener)?;
    request.accounts.iter().for_each(|it| show(args, it, address));
    drop(request);
    let outcome = serve(&home, way_out, &stop);
    outcome.map(|()| Exit::Done)
}

fn serve(home: &Path, way_out: WayOut, stop: &Stop) -> Result<(), Failure> {
    match way_out {
        WayOut::Daemon(mut connection) => {
            let ended = connection.wait(stop);
            if !stop.wait(Duration::ZERO) {
                return Err(Failure::unable(
                    "the daemon has ended, and the proxy with it: start it again, for new tokens",
                ));
            }
            handed::ended(ended).map(drop)
        }
        WayOut::Here(both) => {
            let (gate, proxying) = *both;
            let control = door::bind(home)?;
            let served = door::beside(control.as_ref(), &gate, home, || {
                while !stop.wait(LOOK) {}
                Ok(())
            });
            let ended = proxying.end(&gate);
            gate.close()?;
            served?;
            Ok(ended?)
        }
    }
}

fn show(args: &Args, account: &ProxyAccount, address: SocketAddr) {
    let url = format!("http://{}:{}@{address}", account.agent, account.token);
    if args.json {
        output::json(&json!({
            "agent": account.agent,
            "proxy": url,
            "session": account.session,
            "user": account.user,
        }));
        return;
    }
    output::line(&format!("# for the programs of `{}`; this token is shown once", account.agent));
    output::line(&format!("export HTTPS_PROXY={url} HTTP_PROXY={url}"));
    output::line(&format!("export https_proxy={url} http_proxy={url}"));
}

/// A tunnel takes two descriptors, and many systems start programs with a thousand.
pub(crate) fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is not allowed, fewer tunnels fit, and who comes then waits.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
