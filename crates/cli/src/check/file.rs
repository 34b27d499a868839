//! `lazaret check file`.

use std::path::{Component, Path, PathBuf};

use aegx::Principal;
use model::{AgentId, Decision, EffectKind, Profile, Taint, UserId};
use monitor::target::class_of_file;
use policy::{Confirmed, Facts, Named, NamedPath, Policy, Sinks, Target, Targets, Verdict};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};
use crate::gate::setup;

/// Judge reads and writes of files by the rules that the gate has.
///
/// A request on stdin has `path`, and may have `op` (`read` or `write`), `principal` (who caused it: `USER`,
/// `SYS`, `WEB`, `TOOL`, `SKILL`, `CHANNEL` or `EXTERNAL`) and `taint`, a list of flags that the session has. An
/// answer has `decision`, `rule`, `reason`, and `taint`: the flags of the session afterwards. What a path is
/// called decides, in any spelling: case, encodings, `..`, names in archives (`backup.zip!/.env`). Where there is
/// a link at the path, what it leads to decides as well.
///
/// Try it:
///   lazaret check file --principal SKILL README.md .env .env.example
///   echo '{"path":"~/.ssh/id_rsa","op":"read","principal":"USER","taint":[]}' | lazaret check file --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// What is done: read or write.
    #[arg(long, default_value = "read", value_parser = Op::parse)]
    op: Op,
    /// Who causes it.
    #[arg(long, default_value = "USER", value_parser = principal)]
    principal: Principal,
    /// A flag of the session, such as UNTRUSTED.
    #[arg(long, value_name = "FLAG", value_parser = |it: &str| Taint::parse(it))]
    taint: Vec<Taint>,
    /// Paths; without any, requests are read from stdin.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

/// What is done to a file.
#[derive(Clone, Copy)]
enum Op {
    Read,
    Write,
}

impl Op {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            _ => Err("`op` is read or write".to_owned()),
        }
    }
}

/// What is asked.
struct Asked<'a> {
    path: &'a str,
    op: Op,
    principal: Principal,
    taint: Taint,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let judge = Judge::new()?;
    let taint = args.taint.iter().copied().fold(Taint::NONE, Taint::union);
    if args.paths.is_empty() {
        return batch::from_stdin(args.batch, |fields| {
            let asked = request(fields, args.op, args.principal, taint)?;
            Ok(judge.answer(&asked))
        });
    }
    let values = args.paths.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, |path| {
        judge.answer(&Asked { path, op: args.op, principal: args.principal, taint })
    }))
}

fn request(
    fields: &Map<String, Value>,
    op: Op,
    principal: Principal,
    taint: Taint,
) -> Result<Asked<'_>, String> {
    let path = match fields.get("path") {
        Some(Value::String(path)) => path,
        Some(_) => return Err("`path` must be a string".to_owned()),
        None => return Err("`path` is missing".to_owned()),
    };
    let op = match fields.get("op") {
        Some(Value::String(op)) => Op::parse(op)?,
        Some(Value::Null) | None => op,
        Some(_) => return Err("`op` is read or write".to_owned()),
    };
    let principal = match fields.get("principal") {
        Some(Value::String(name)) => self::principal(name)?,
        Some(Value::Null) | None => principal,
        Some(_) => return Err("`principal` must be a string".to_owned()),
    };
    let taint = match fields.get("taint") {
        Some(Value::Array(flags)) => flags.iter().try_fold(Taint::NONE, |sum, it| {
            let flag = it.as_str().ok_or("`taint` must be a list of flags")?;
            Taint::parse(flag).map(|it| sum.union(it)).map_err(|error| error.to_string())
        })?,
        Some(Value::Null) | None => taint,
        Some(_) => return Err("`taint` must be a list of flags".to_owned()),
    };
    Ok(Asked { path, op, principal, taint })
}

/// As records write it, in either case.
fn principal(text: &str) -> Result<Principal, String> {
    let wanted = text.to_ascii_uppercase();
    let wanted = if wanted.starts_with("TOOL_") { "TOOL" } else { &wanted };
    let all = [
        Principal::User,
        Principal::Sys,
        Principal::Web,
        Principal::Tool,
        Principal::Skill,
        Principal::Channel,
        Principal::External,
    ];
    let names = all.map(|it| it.as_str()).join(", ");
    let found = all.into_iter().find(|it| it.as_str() == wanted);
    found.ok_or_else(|| format!("`principal` is one of {names}"))
}

/// The rules, and the names of nobody in particular.
struct Judge {
    policy: Policy,
    user: UserId,
    agent: AgentId,
}

impl Judge {
    fn new() -> Result<Self, Failure> {
        let policy = setup::policy(None)?;
        let user = UserId::parse("check").map_err(Failure::unable)?;
        let agent = AgentId::parse("check").map_err(Failure::unable)?;
        Ok(Self { policy, user, agent })
    }

    fn answer(&self, asked: &Asked<'_>) -> Answer {
        let targets = classes(asked.path);
        let profile = Profile::Standard;
        let (effect, tool) = match asked.op {
            Op::Read => (EffectKind::FileRead, "file_read"),
            Op::Write => (EffectKind::FileWrite, "file_write"),
        };
        let verdict = self.policy.decide(&Facts {
            user: &self.user,
            agent: &self.agent,
            door: "check",
            principal: asked.principal,
            effect,
            tool,
            profile,
            taint: asked.taint,
            taint_permille: 0,
            taint_permille_max: profile.taint_permille_max(),
            over_budget: false,
            asked_for: false,
            risk: 0,
            sinks: Sinks::default(),
            targets,
            named: &named(asked),
            confirmed: Confirmed::Nothing,
        });
        let names: Vec<&str> = targets.iter().map(Target::as_str).collect();
        told(asked, &names, &verdict)
    }
}

/// What the question names.
fn named(asked: &Asked<'_>) -> Named {
    let op = match asked.op {
        Op::Read => policy::Op::Read,
        Op::Write => policy::Op::Write,
    };
    let path = NamedPath { op, path: asked.path.to_owned() };
    Named { paths: [path].into(), ..Named::default() }.bounded()
}

/// By the name, and where it is a link, by the name of what it leads to.
fn classes(path: &str) -> Targets {
    let named = class_of_file(path);
    let written = Path::new(path);
    match files::resolved(written) {
        Ok(real) if !is_tail(&real, written) => named.union(class_of_file(&real.to_string_lossy())),
        // Nothing is there, or just what the name says.
        Ok(_) | Err(_) => named,
    }
}

/// Does the real path end as it was written? Then no link is in what was written.
fn is_tail(real: &Path, written: &Path) -> bool {
    let plain = written.components().all(|it| !matches!(it, Component::ParentDir));
    let tail: PathBuf =
        written.components().filter(|it| !matches!(it, Component::CurDir)).collect();
    plain && real.ends_with(tail)
}

fn told(asked: &Asked<'_>, targets: &[&str], verdict: &Verdict) -> Answer {
    let decision = verdict.decision();
    let strictest = verdict.objections.iter().find(|it| it.decision == decision);
    let reason = strictest.map(|it| it.for_person.as_str());
    let granted = verdict.grant.as_ref().filter(|_| decision == Decision::Allow);
    let taint = granted.map_or(asked.taint, |it| asked.taint.union(it.taint()));
    let text = match reason {
        None => format!("allow     {} [{}]", asked.path, taint),
        Some(reason) => format!("{:8}  {}: {reason}", decision.as_str(), verdict.rule()),
    };
    let fields = [
        ("decision", json!(decision.as_str())),
        ("rule", json!(verdict.rule())),
        ("reason", json!(reason)),
        ("taint", json!(taint.iter_names().collect::<Vec<_>>())),
        ("targets", json!(targets)),
    ];
    Answer { passed: decision == Decision::Allow, fields: Vec::from(fields), text }
}
