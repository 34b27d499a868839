//! `lazaret check skill`.

mod sarif;
pub(crate) mod table;
pub(crate) mod verified;

use std::path::PathBuf;

use clap::ValueEnum;
use policy::SkillVerdict;
use serde_json::Value;
use skill::Index;

use self::verified::{Verified, suppressions};
use super::given;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Judge a skill before it is installed: a folder, a zip, a tar(.gz), or a SKILL.md.
///
/// Every file is read: front matter, text, code in fences, scripts in shell, Python, JavaScript and PowerShell (parsed, not searched),
/// settings, encodings; binaries are named. Nothing is run and nothing is fetched. The verdict is `allow`, `review` (a person
/// should look) or `deny`. Findings have a check (V1 to V15), a severity, file, line and bytes.
///
/// Prints a table at a terminal and JSON in a pipe; --sarif for code hosts. An index holds the skill's name against others:
///   {"installed": ["web-search"], "known": ["code-review"]}
///
/// A finding that a person has looked at passes with a signed suppression: `lazaret skills suppress`.
///
/// Try it:
///   lazaret check skill ./my-skill
///   lazaret check skill skill.zip --sarif > skill.sarif
///   lazaret check skill . --fail-on deny --suppressions skill-suppressions.note --key "$LAZARET_KEY"
///
/// Exit codes: 0 passed, 1 it did not (see --fail-on), 2 wrong usage or an archive that is refused.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The skill.
    path: PathBuf,
    /// The name that it is to have [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON object.
    #[arg(long, conflicts_with_all = ["sarif", "table"])]
    json: bool,
    /// Print SARIF 2.1.0.
    #[arg(long, conflicts_with = "table")]
    sarif: bool,
    /// Print a table, in a pipe as well.
    #[arg(long)]
    table: bool,
    /// Names that its own is held against, as JSON.
    #[arg(long, value_name = "FILE")]
    index: Option<PathBuf>,
    /// The mildest verdict that fails.
    #[arg(long, value_name = "VERDICT", default_value = "review")]
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
    Review,
    /// Only what is denied.
    Deny,
}

/// The longest index, in bytes.
const INDEX_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let index = match &args.index {
        None => Index::default(),
        Some(path) => Index::parse(&given::text(path, INDEX_BYTES_MAX)?).map_err(Failure::usage)?,
    };
    let suppressed = match &args.suppressions {
        None => None,
        Some(path) => Some(suppressions(&args.home, path, args.key.as_deref())?),
    };
    let tree = host::skills::gather(&args.path)
        .map_err(|error| verified::not_gathered(&args.path, &error))?;
    let report = skill::verify(&tree, args.name.as_deref(), &index);
    let verified = Verified::new(report, suppressed.as_ref());
    if args.sarif {
        output::json(&sarif::log(&verified, &args.path));
    } else if args.json || !(args.table || output::is_terminal()) {
        output::json(&verified.to_json());
    } else {
        table::print(&verified);
    }
    let fails = match args.fail_on {
        FailOn::Review => SkillVerdict::Review,
        FailOn::Deny => SkillVerdict::Deny,
    };
    Ok(if verified.verdict >= fails { Exit::Refused } else { Exit::Done })
}

/// Texts as a list of JSON.
pub(crate) fn texts(list: &[String]) -> Value {
    list.iter().map(|it| Value::String(it.clone())).collect()
}
