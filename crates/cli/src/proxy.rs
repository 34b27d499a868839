//! `lazaret proxy`: the gate's rules for any program that honours `HTTPS_PROXY`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aegx::Principal;
use egress::{Rules, Signs};
use evidence::{Clock as _, SystemClock};
use gateway::proxy::{self, Access, Account, Accounts, Bounds, Outside, Proxy, Token};
use host::ipc::Stop;
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{Approver, Opening};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use vault::access::KeptTokens;

use crate::door;
use crate::failure::{Exit, Failure};
use crate::gate::setup::{self, Gate};
use crate::home::Home;
use crate::output;

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

/// How long tunnels may go on when the proxy is to end.
const GRACE: Duration = Duration::from_secs(2);
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
    let policy = setup::policy_of(&home, args.policy.as_deref())?;
    let catalogue = proxy::catalogue().map_err(Failure::unable)?;
    let gate = setup::open_with_keys(&home, policy, catalogue, |_, _| ())?;
    let control = door::bind(&home)?;
    let outcome = door::beside(control.as_ref(), &gate, &home, || serve(args, &home, &gate, &stop));
    gate.close()?;
    outcome.map(|()| Exit::Done)
}

fn serve(args: &Args, home: &Path, gate: &Gate, stop: &Stop) -> Result<(), Failure> {
    let mut accounts = Accounts::default();
    let mut shown = Vec::new();
    for agent in &args.agents {
        let (account, token) = account(args, home, gate, agent)?;
        shown.push((account.who.clone(), token));
        accounts.add(account);
    }
    accounts.believe(Arc::new(Given(KeptTokens::in_home(home))));
    let callers: Vec<Caller> = accounts.iter().map(|it| it.who.clone()).collect();
    let proxy = Proxy::new(outside(home, gate)?, accounts, Bounds::default());
    let runtime = tokio::runtime::Runtime::new().map_err(Failure::unable)?;
    let listener = runtime
        .block_on(TcpListener::bind(args.listen))
        .map_err(|error| Failure::unable(format!("cannot listen on {}: {error}", args.listen)))?;
    let address = listener.local_addr().map_err(Failure::unable)?;
    for (who, token) in &shown {
        show(args, who, token, address);
    }
    drop(shown);
    runtime.spawn(proxy.serve(listener));
    while !stop.wait(LOOK) {}
    runtime.shutdown_timeout(GRACE);
    callers.iter().try_for_each(|who| gate.monitor.end_session(who)).map_err(Failure::unable)
}

/// The access tokens of the state directory.
struct Given(KeptTokens);

impl Access for Given {
    fn name_of(&self, token: &str, who: &Caller) -> Option<String> {
        // What cannot be read opens nothing.
        let bearer = self.0.verify(token, SystemClock.unix_seconds()).ok()??;
        (bearer.user == who.user && bearer.may_use(&who.agent)).then_some(bearer.id)
    }
}

/// What proxies of this gate stand on.
pub(crate) fn outside(home: &Path, gate: &Gate) -> Result<Outside, Failure> {
    let (monitor, journal) = (Arc::clone(&gate.monitor), Arc::clone(&gate.journal));
    host::outside(home, monitor, journal).map_err(Failure::usage)
}

/// Opens the session of a program, and says what it may reach. Where the manifest gives no network, nothing does.
pub(crate) fn admit(home: &Path, gate: &Gate, who: &Caller) -> Result<Rules, Failure> {
    let tools = proxy::tools().map_err(Failure::unable)?;
    let admission = host::admission(home, who, &tools).map_err(|error| {
        if error.is_refusal() { Failure::refused(error) } else { Failure::usage(error) }
    })?;
    if admission.closes_network() {
        let why = "gives its programs no network (`sandbox: {network: none}`)";
        return Err(Failure::refused(format!("the manifest of `{}` {why}", who.agent)));
    }
    let rules = host::reach(&admission).map_err(Failure::usage)?;
    let opening = Opening {
        who: who.clone(),
        principal: Principal::User,
        profile: Profile::Standard,
        parent: None,
        admission,
        approver: Approver::Absent,
        tools,
    };
    gate.monitor.open_session(opening).map_err(Failure::refused)?;
    // What a program has read, nobody has seen: what it asks for is not the user's own word.
    Ok(Rules { signs: Signs::Refused, ..rules })
}

/// Opens the session of an agent, and makes it an account with a token of its own.
fn account(
    args: &Args,
    home: &Path,
    gate: &Gate,
    agent: &AgentId,
) -> Result<(Account, Token), Failure> {
    let session = SessionId::parse(&format!("proxy-{agent}")).map_err(Failure::usage)?;
    let door = Kind::of_static("proxy");
    let who = Caller { session, user: args.user.clone(), agent: agent.clone(), door };
    let rules = admit(home, gate, &who)?;
    let token = Token::random().map_err(Failure::unable)?;
    Ok((Account::new(who, rules, &token), token))
}

fn show(args: &Args, who: &Caller, token: &Token, address: SocketAddr) {
    let url = format!("http://{}:{}@{address}", who.agent, token.shown_once());
    if args.json {
        output::json(&json!({
            "agent": who.agent.as_str(),
            "proxy": url,
            "session": who.session.as_str(),
            "user": who.user.as_str(),
        }));
        return;
    }
    output::line(&format!("# for the programs of `{}`; this token is shown once", who.agent));
    output::line(&format!("export HTTPS_PROXY={url} HTTP_PROXY={url}"));
    output::line(&format!("export https_proxy={url} http_proxy={url}"));
}

/// A tunnel takes two descriptors, and many systems start programs with a thousand.
fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is not allowed, fewer tunnels fit, and who comes then waits.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
