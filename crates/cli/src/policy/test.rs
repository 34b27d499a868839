//! `lazaret policy test`.

use std::path::PathBuf;

use aegx::verify::printable;
use model::Decision;
use model::ipc::read_json;
use serde_json::{Map, Value, json};

use super::folder::{Flaw, Loaded, load};
use super::judge::{Call, judge};
use super::show;
use crate::failure::{Exit, Failure};
use crate::output;

/// Run the cases of a policy folder.
///
/// Cases stand in files `*.cases.jsonl`, one JSON object per line: `facts` (as for `policy explain`,
/// with `args`, `remote` and `sub_agent` where they matter), `expect` (allow, modify, step_up, defer
/// or deny), and, if you like, `rule` (the rule or layer that must decide) and `name`:
///
///   {"name":"no mail to strangers","facts":{"effect":"tool_send","tool":"mail","sinks":
///   ["untrusted_destination"]},"expect":"step_up","rule":"sink-ask-destination"}
///
/// Run it in CI: a change of the rules, yours or the program's, that changes a decision you rely on
/// shows here first.
///
/// Exit codes: 0 all as expected, 1 a case differs, 2 the policy or a case is broken.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The policy folder.
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Print one JSON object per case and one for all.
    #[arg(long)]
    json: bool,
}

struct Case {
    name: String,
    call: Call,
    expect: Decision,
    rule: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let loaded = match load(Some(&args.dir)) {
        Ok(loaded) => loaded,
        Err(flaws) => return Ok(show::flaws(&flaws, args.json)),
    };
    let cases = match cases(&loaded) {
        Ok(cases) => cases,
        Err(flaws) => return Ok(show::flaws(&flaws, args.json)),
    };
    if cases.is_empty() {
        let dir = args.dir.display();
        return Err(Failure::usage(format!(
            "there is no case in `{dir}`; see `lazaret policy test --help`"
        )));
    }
    let failed = cases.iter().filter(|it| !holds(&loaded, it, args.json)).count();
    if args.json {
        output::json(&json!({"cases": cases.len(), "failed": failed}));
    } else {
        let all = output::count(cases.len() as u64, "case");
        output::line(&format!("{all}, {failed} not as expected"));
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Refused })
}

/// Judges a case, prints what is to be printed, and answers whether it is as expected.
fn holds(loaded: &Loaded, case: &Case, as_json: bool) -> bool {
    let judged = judge(loaded, &case.call);
    let (decision, rule) = (judged.decision(), judged.rule());
    let ok = decision == case.expect && case.rule.as_deref().is_none_or(|it| it == rule);
    if as_json {
        output::json(&json!({
            "name": case.name,
            "ok": ok,
            "expect": case.expect.as_str(),
            "decision": decision.as_str(),
            "expect_rule": case.rule,
            "rule": rule,
        }));
    } else if !ok {
        let by = case.rule.as_ref().map(|it| format!(" by {it}")).unwrap_or_default();
        let wanted = format!("expected {}{by}", case.expect);
        output::line(&printable(&format!("{}: {wanted}, found {decision} by {rule}", case.name)));
    }
    ok
}

fn cases(loaded: &Loaded) -> Result<Vec<Case>, Vec<Flaw>> {
    let mut found = Vec::new();
    let mut flaws = Vec::new();
    for (file, text) in &loaded.cases {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("{file}:{}", at + 1);
            match case(&place, line) {
                Ok(case) => found.push(case),
                Err(what) => {
                    flaws.push(Flaw { file: file.clone(), line: at + 1, rule: None, what });
                }
            }
        }
    }
    if flaws.is_empty() { Ok(found) } else { Err(flaws) }
}

fn case(place: &str, line: &str) -> Result<Case, String> {
    let Value::Object(mut fields) = read_json(line.as_bytes()).map_err(|it| it.to_string())? else {
        return Err("a case is a JSON object".to_owned());
    };
    let mut text = |key: &str| match fields.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` is a string")),
    };
    let (name, expect, rule) = (text("name")?, text("expect")?, text("rule")?);
    let facts = fields.remove("facts").and_then(|it| it.as_object().cloned());
    if let Some(key) = fields.keys().next() {
        return Err(format!("`{}` means nothing in a case", key.escape_debug()));
    }
    let expect = expect.ok_or("`expect` is missing")?;
    let expect = Decision::ALL.iter().find(|it| it.as_str() == expect);
    let expect = expect.ok_or("`expect` is allow, modify, step_up, defer or deny")?;
    let facts: Map<String, Value> = facts.ok_or("`facts` is an object")?;
    let call = Call::read(&facts)?;
    let name = name.map_or_else(|| place.to_owned(), |it| format!("{place}: {it}"));
    Ok(Case { name, call, expect: *expect, rule })
}
