//! `lazaret check url`.

use std::io;
use std::net::IpAddr;
use std::sync::OnceLock;

use egress::{Limits, Resolve, SystemResolver};
use policy::access::{Glob, flagged};
use scan::net::{self, Domains, Host, Inner, Refused, Rule, Suspicion, Target};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};
use crate::home::Home;

/// Judge URLs by the rules of the way out, without going there.
///
/// `deny` holds for whoever asks. `step_up` is a sign that data is carried off: `lazaret proxy` and `lazaret exec --network`
/// refuse such a URL unless its host is listed as allowed; `web_fetch` lets it pass in a session in which only the user
/// had a say, and asks a person or refuses in others.
///
/// A request on stdin has `url`, and may have `resolve`, a map of hosts to lists of addresses that is
/// used instead of DNS, and `allow`, a list of domains outside which all is denied. An answer has
/// `decision` (`allow`, `step_up` or `deny`), `rule`, `reason`, `host` and `addrs`; and `opened_by` where the operator has
/// opened the host, which only --settings knows.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Ask no DNS: a name that is not in `resolve` counts as one with a public address.
    #[arg(long)]
    offline: bool,
    /// A domain that is allowed; all others are denied. For requests without `allow`, too.
    #[arg(long, value_name = "DOMAIN")]
    allow: Option<Vec<String>>,
    /// Judge by `egress` of the state directory's config.yaml as well: its domains, and the hosts of the inner network that it
    /// opens.
    #[arg(long)]
    settings: bool,
    #[command(flatten)]
    home: Home,
    /// URLs; without any, requests are read from stdin.
    #[arg(value_name = "URL")]
    urls: Vec<String>,
}

/// Asks DNS for the addresses of a name.
type Resolver = fn(&str) -> Result<Vec<IpAddr>, Refused>;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let allowed = args.allow.as_deref().map(domains).transpose().map_err(Failure::usage)?;
    let allowed = allowed.as_ref();
    let operators = if args.settings { Operators::of(&args.home)? } else { Operators::default() };
    let dns = (!args.offline).then_some(ask_dns as Resolver);
    if args.urls.is_empty() {
        return batch::from_stdin(args.batch, |fields| request(fields, allowed, dns, &operators));
    }
    let values = args.urls.iter().map(String::as_str);
    let names = Names { known: Vec::new(), dns, operators: &operators };
    Ok(batch::from_arguments(args.batch, values, |url| judge(url, allowed, &names)))
}

/// What the operator's settings say of all agents.
#[derive(Default)]
struct Operators {
    allow: Option<Domains>,
    block: Domains,
    inner: Inner,
    flags: Vec<Glob>,
}

impl Operators {
    fn of(home: &Home) -> Result<Self, Failure> {
        let Some(settings) = host::settings(&home.dir()?).map_err(Failure::usage)? else {
            return Ok(Self::default());
        };
        let egress = settings.egress();
        let list = |of: &Vec<String>| Domains::parse(of).map_err(Failure::usage);
        Ok(Self {
            allow: egress.allowed_domains.as_ref().map(list).transpose()?,
            block: egress.blocked_domains.as_ref().map(list).transpose()?.unwrap_or_default(),
            inner: egress.inner.clone(),
            flags: egress.flag_patterns.clone(),
        })
    }

    fn check(&self, target: &Target) -> Result<(), Refused> {
        if self.block.contains(target.host()) {
            let reason = format!("`{}` is blocked", target.host());
            return Err(Refused { rule: Rule::EgressBlocked, reason });
        }
        self.allow.as_ref().map_or(Ok(()), |it| it.permits(target))
    }
}

fn domains(patterns: &[impl AsRef<str>]) -> Result<Domains, String> {
    Domains::parse(patterns).map_err(|error| format!("allow: {error}"))
}

/// Asks the system, as the way out does.
fn ask_dns(name: &str) -> Result<Vec<IpAddr>, Refused> {
    let failed = |error: io::Error| Refused {
        rule: Rule::NoLookup,
        reason: format!("could not look up `{name}`: {error}"),
    };
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build());
    let runtime = runtime.as_ref().map_err(|error| failed(error.kind().into()))?;
    let lookup = Limits::default().lookup;
    let found = runtime.block_on(async {
        timeout(lookup, SystemResolver.resolve(name)).await.unwrap_or_else(|late| Err(late.into()))
    });
    found.map_err(failed)
}

/// Where the addresses of names come from.
struct Names<'a> {
    known: Vec<(String, Vec<&'a str>)>,
    dns: Option<Resolver>,
    operators: &'a Operators,
}

impl Names<'_> {
    /// `None`: nobody was asked. What is known is used in any case, and DNS only if it `may_ask`.
    fn addresses(&self, name: &str, may_ask: bool) -> Result<Option<Vec<IpAddr>>, Refused> {
        if let Some((_, answers)) = self.known.iter().find(|it| it.0 == name) {
            return answers.iter().map(|it| address(it)).collect::<Result<_, _>>().map(Some);
        }
        self.dns.filter(|_| may_ask).map(|ask| ask(name)).transpose()
    }
}

/// As a resolver gives it; a zone does not matter.
fn address(text: &str) -> Result<IpAddr, Refused> {
    let bare = text.split('%').next().unwrap_or(text);
    let reason = || format!("`{text}` is no address");
    bare.parse().map_err(|_| Refused { rule: Rule::BadAddress, reason: reason() })
}

fn request(
    fields: &Map<String, Value>,
    allowed: Option<&Domains>,
    dns: Option<Resolver>,
    operators: &Operators,
) -> Result<Answer, String> {
    let url = match fields.get("url") {
        Some(Value::String(url)) => url,
        Some(_) => return Err("`url` must be a string".to_owned()),
        None => return Err("`url` is missing".to_owned()),
    };
    let own = match fields.get("allow") {
        Some(Value::Null) | None => None,
        Some(list) => Some(domains(&strings(list).ok_or("`allow` must be a list of strings")?)),
    };
    let known = match fields.get("resolve") {
        Some(Value::Object(map)) => resolve_map(map).ok_or(RESOLVE)?,
        Some(Value::Null) | None => Vec::new(),
        Some(_) => return Err(RESOLVE.to_owned()),
    };
    match own.transpose() {
        Ok(own) => Ok(judge(url, own.as_ref().or(allowed), &Names { known, dns, operators })),
        // A list that cannot be read allows nothing.
        Err(error) => {
            let refused = Refused { rule: Rule::BadList, reason: error.clone() };
            let mut answer = told(url, &Decision::Deny(refused), &[], false);
            answer.fields.push(("error", error.into()));
            Ok(answer)
        }
    }
}

const RESOLVE: &str = "`resolve` must map hosts to lists of addresses";

/// Hosts in the form in which they are compared, with their answers.
fn resolve_map(map: &Map<String, Value>) -> Option<Vec<(String, Vec<&str>)>> {
    let plain = |host: &str| net::seen_host(&format!("http://{host}/"));
    map.iter()
        .map(|(host, answers)| Some((plain(host).unwrap_or(host.clone()), strings(answers)?)))
        .collect()
}

fn strings(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

enum Decision {
    Allow,
    StepUp(Suspicion),
    Deny(Refused),
}

fn judge(url: &str, allowed: Option<&Domains>, names: &Names<'_>) -> Answer {
    let mut addrs = Vec::new();
    let decision = decide(url, allowed, names, &mut addrs).unwrap_or_else(Decision::Deny);
    let inner = &names.operators.inner;
    let opened = Target::within(url, inner).is_ok_and(|it| inner.opens(it.host(), it.port()));
    told(url, &decision, &addrs, opened)
}

/// From what costs nothing to what asks somebody.
fn decide(
    url: &str,
    allowed: Option<&Domains>,
    names: &Names<'_>,
    addrs: &mut Vec<IpAddr>,
) -> Result<Decision, Refused> {
    let inner = &names.operators.inner;
    let target = Target::within(url, inner)?;
    net::blocked(target.host())?;
    names.operators.check(&target)?;
    allowed.map_or(Ok(()), |it| it.permits(&target))?;
    // Whoever put a host on the list has answered the question.
    let is_listed = allowed.is_some() || names.operators.allow.is_some();
    let flagged = flagged(&names.operators.flags, &target).into_iter();
    let suspicion = flagged.chain(net::exfiltration(&target)).next().filter(|_| !is_listed);
    match target.host() {
        Host::Address(address) => addrs.push(*address),
        // To look a name up that carries data is to send it.
        Host::Name(name) => {
            if let Some(found) = names.addresses(name, suspicion.is_none())? {
                *addrs = found;
                match inner.find(target.host(), target.port()) {
                    Some(opened) => opened.vet_all(addrs)?,
                    None => net::vet_all(addrs)?,
                }
            }
        }
    }
    Ok(suspicion.map_or(Decision::Allow, Decision::StepUp))
}

fn told(url: &str, decision: &Decision, addrs: &[IpAddr], opened: bool) -> Answer {
    let (word, why) = match decision {
        Decision::Allow => ("allow", None),
        Decision::StepUp(found) => ("step_up", Some((found.rule.as_str(), found.reason.as_str()))),
        Decision::Deny(refused) => ("deny", Some((refused.rule.as_str(), refused.reason.as_str()))),
    };
    let host = net::seen_host(url);
    let text = match why {
        None if opened => {
            format!("allow     {} (opened by the operator)", host.as_deref().unwrap_or_default())
        }
        None => format!("allow     {}", host.as_deref().unwrap_or_default()),
        Some((rule, reason)) => format!("{word:8}  {rule}: {reason}"),
    };
    let mut fields = vec![
        ("decision", json!(word)),
        ("rule", json!(why.map(|it| it.0))),
        ("reason", json!(why.map(|it| it.1))),
        ("host", json!(host)),
        ("addrs", json!(addrs.iter().map(ToString::to_string).collect::<Vec<_>>())),
    ];
    if opened {
        fields.push(("opened_by", json!("operator")));
    }
    Answer { passed: matches!(decision, Decision::Allow), fields, text }
}
