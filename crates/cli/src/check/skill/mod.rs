//! `lazaret check skill`.

mod sarif;
pub(crate) mod table;
pub(crate) mod verified;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use host::skills::{GatherError, Suppressions};
use policy::SkillVerdict;
use serde_json::{Map, Value};
use skill::Index;

use self::verified::{Verified, suppressions};
use super::batch::{self, Answer};
use super::given;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Judge a skill before it is installed: a folder, a zip, a tar(.gz), or a SKILL.md.
///
/// Every file is read: front matter, text, code in fences, scripts in shell, Python, JavaScript and PowerShell (parsed, not searched),
/// settings, encodings; binaries are named. Nothing is run and nothing is fetched. The verdict is `allow`, `require_approval` (a
/// person should look) or `deny`. Findings have `vector` (V1 to V15), `rule`, `severity`, `file`, `line` and bytes.
///
/// A request on stdin has `path`, and may have `name`. Prints a table at a terminal and JSON in a pipe; --sarif for code hosts. An
/// index holds the skill's name against others:
///   {"installed": ["web-search"], "known": ["code-review"]}
///
/// A finding that a person has looked at passes with a signed suppression: `lazaret skills suppress`.
///
/// Try it:
///   lazaret check skill ./my-skill
///   lazaret check skill skill.zip --sarif > skill.sarif
///   echo '{"path":"./my-skill"}' | lazaret check skill --json
///   lazaret check skill . --fail-on deny --suppressions skill-suppressions.note --key "$LAZARET_KEY"
///
/// Exit codes: 0 passed, 1 it did not (see --fail-on), 2 wrong usage or an archive that is refused.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    #[command(flatten)]
    home: Home,
    /// Skills; without any, requests are read from stdin.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The name that it is to have [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print SARIF 2.1.0, with a run for each skill.
    #[arg(long, requires = "paths", conflicts_with_all = ["json", "table"])]
    sarif: bool,
    /// Print a table, in a pipe as well.
    #[arg(long, conflicts_with = "json")]
    table: bool,
    /// Names that its own is held against, as JSON.
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// The mildest verdict that fails.
    #[arg(long, value_name = "VERDICT", default_value = "require_approval")]
    fail_on: FailOn,
    /// Signed suppressions.
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// The public key that has signed them [default: that of the state directory]
    #[arg(long, value_name = "KEY", requires = "suppressions")]
    key: Option<String>,
}

/// A verdict that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Whatever a person should look at.
    #[value(name = "require_approval", alias = "review")]
    RequireApproval,
    /// Only what is denied.
    Deny,
}

/// The longest index, in bytes.
const INDEX_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let judge = Judge::new(args)?;
    let options = args.batch.or_json(!(args.table || output::is_terminal()));
    if args.paths.is_empty() {
        return batch::from_stdin(options, |fields| judge.request(fields));
    }
    let all = args.paths.iter().map(|path| {
        let verified =
            judge.verify(path, None).map_err(|error| verified::not_gathered(path, &error))?;
        Ok((path.clone(), verified))
    });
    let all = all.collect::<Result<Vec<(PathBuf, Verified)>, Failure>>()?;
    if args.sarif {
        output::json(&sarif::log(&all));
    } else if options.is_json() {
        // Whoever reads no more is told no more.
        let _ = all.iter().all(|it| output::json(&it.1.to_json()));
    } else {
        all.iter().for_each(|it| table::print(&it.1));
    }
    let fails = all.iter().any(|it| judge.fails(&it.1));
    Ok(if fails { Exit::Refused } else { Exit::Done })
}

/// What every skill is judged with.
struct Judge<'a> {
    index: Index,
    suppressed: Option<Suppressions>,
    name: Option<&'a str>,
    fail_on: SkillVerdict,
}

impl<'a> Judge<'a> {
    fn new(args: &'a Args) -> Result<Self, Failure> {
        let index = match &args.index {
            None => Index::default(),
            Some(path) => {
                Index::parse(&given::text(path, INDEX_BYTES_MAX)?).map_err(Failure::usage)?
            }
        };
        let suppressed = match &args.suppressions {
            None => None,
            Some(path) => Some(suppressions(&args.home, path, args.key.as_deref())?),
        };
        let fail_on = match args.fail_on {
            FailOn::RequireApproval => SkillVerdict::RequireApproval,
            FailOn::Deny => SkillVerdict::Deny,
        };
        Ok(Self { index, suppressed, name: args.name.as_deref(), fail_on })
    }

    fn verify(&self, path: &Path, name: Option<&str>) -> Result<Verified, GatherError> {
        let tree = host::skills::gather(path)?;
        let report = skill::verify(&tree, name.or(self.name), &self.index);
        Ok(Verified::new(report, self.suppressed.as_ref()))
    }

    fn fails(&self, verified: &Verified) -> bool {
        verified.verdict >= self.fail_on
    }

    fn request(&self, fields: &Map<String, Value>) -> Result<Answer, String> {
        let string = |name: &str| match fields.get(name) {
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(Value::Null) | None => Ok(None),
            Some(_) => Err(format!("`{name}` must be a string")),
        };
        let path = string("path")?.ok_or("`path` is missing")?;
        let verified = self
            .verify(Path::new(path), string("name")?)
            .map_err(|error| format!("`{path}`: {error}"))?;
        let rules: Vec<&str> = verified.findings().map(|it| it.0.check.as_str()).collect();
        let text = format!("{:16}  {path}  {}", verified.verdict, rules.join(" "));
        let (passed, fields) = (!self.fails(&verified), verified.fields());
        Ok(Answer { passed, fields, text: text.trim_end().to_owned() })
    }
}

/// Texts as a list of JSON.
pub(crate) fn texts(list: &[String]) -> Value {
    list.iter().map(|it| Value::String(it.clone())).collect()
}
