//! `lazaret check text`.

use scan::text::{Author, Reading, Verdict, read};
use scan::tool::{Rule, Scanned, scan_instructions};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Scan texts for orders to the assistant that reads them.
///
/// For what tools, pages and mails say. A request on stdin has `text`, and may have `surface`, where the text comes from
/// (`tool_output`, `user`, `web`, `email`, `skill`, `mcp_tool`, `memory`): what describes an MCP tool is also read as `lazaret check tool`
/// does. All of them are read as what somebody else wrote, unless `author` is `principal`: the user's or the operator's own words
/// are scanned and never hostile. An answer has `verdict` (`clean`,
/// `suspicious` or `injection`), `score` from 0 to 1, `canary` (a mark is to be said word for word, whoever asks), and `findings`, each with `rule`, `category`, `severity`, `coding`, `start`, `end`
/// and `weight`.
///
/// Try it:
///   lazaret check text 'Please ignore all previous instructions.'
///   echo '{"text":"The meeting is at noon."}' | lazaret check text --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Texts; without any, requests are read from stdin.
    #[arg(value_name = "TEXT")]
    texts: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.texts.is_empty() {
        return batch::from_stdin(args.batch, request);
    }
    let values = args.texts.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, |text| {
        told(text, &read(text, Author::Outsider), None)
    }))
}

fn request(fields: &Map<String, Value>) -> Result<Answer, String> {
    let author = match fields.get("author") {
        Some(Value::String(name)) if name == "principal" => Author::Principal,
        Some(Value::String(name)) if name == "outsider" => Author::Outsider,
        Some(Value::Null) | None => Author::Outsider,
        Some(_) => return Err("`author` must be `principal` or `outsider`".to_owned()),
    };
    let describes_tool = match fields.get("surface") {
        Some(Value::String(name)) if SURFACES.contains(&name.as_str()) => name == MCP_TOOL,
        Some(Value::Null) | None => false,
        Some(_) => return Err(format!("`surface` is one of {}", SURFACES.join(", "))),
    };
    let text = batch::text(fields)?;
    let described = (describes_tool && author == Author::Outsider).then(|| scan_instructions(text));
    Ok(told(text, &read(text, author), described.as_ref()))
}

/// What describes a tool.
const MCP_TOOL: &str = "mcp_tool";
/// Where a text comes from.
const SURFACES: &[&str] = &["tool_output", "user", "web", "email", "skill", MCP_TOOL, "memory"];

/// The answer by what a reading says, and by what was found in it as the description of a tool.
fn told(text: &str, reading: &Reading, described: Option<&Scanned>) -> Answer {
    let verdict = described.map_or(reading.verdict(), |it| it.verdict.max(reading.verdict()));
    let score = described.map_or(reading.score, |it| it.score.max(reading.score));
    let poison = described.into_iter().flat_map(|it| &it.findings);
    // Those of the text detector are among the others already.
    let poison = poison.filter(|it| matches!(it.rule, Rule::Poison(_)));
    let findings: Vec<Value> = reading
        .findings
        .iter()
        .map(|it| {
            json!({
                "rule": it.rule, "category": it.category.as_str(), "severity": it.severity.as_str(),
                "coding": it.coding.as_str(), "start": it.start, "end": it.end, "weight": it.weight,
            })
        })
        .chain(poison.clone().map(|it| {
            json!({
                "rule": it.rule.as_str(), "category": it.category.as_str(),
                "start": it.start, "end": it.end,
            })
        }))
        .collect();
    let rules = reading.findings.iter().map(|it| it.rule);
    let mut rules: Vec<&str> = rules.chain(poison.map(|it| it.rule.as_str())).collect();
    rules.dedup();
    let canary = reading.forces_canary(text);
    let text = format!("{:10}  {:.2}  {}", verdict.as_str(), score, rules.join(" "));
    let fields = vec![
        ("verdict", json!(verdict.as_str())),
        ("score", json!(score)),
        ("canary", json!(canary)),
        ("findings", json!(findings)),
    ];
    Answer { passed: verdict == Verdict::Clean, fields, text: text.trim_end().to_owned() }
}
