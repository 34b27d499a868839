//! `lazaret doctor`.

mod checks;
mod row;
mod verdict;

use std::path::Path;

use sandbox::audit::{Audit, Requirement, Status, audit};
use sandbox::probe::is_in_a_cage;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use row::Row;
use verdict::{Looked, Verdict, Works};

/// Say whether and how one can work here, and what to do about the rest.
///
/// The first line is the verdict: `ready`, `ready in part` (calls are judged and recorded, commands are refused) or
/// `not ready`, and behind it what stands in the way. Then six parts. `state`: the state directory, the journal and the
/// vault. `cage`: what holds a command that agents run; a cage is made to find out, and nothing runs in it. `kernel`:
/// what there is to make one of. `tools`: programs that some actions need. `required`: what `sandbox` in config.yaml
/// and --require ask of the surroundings; without it no session and no skill is started. `surroundings`: what confines
/// lazaret itself, by what the kernel says (a container, namespaces, seccomp, capabilities, limits); every session has
/// the same on its record. On an ordinary machine little does, and nothing is missing by that: agents' commands have
/// their cage.
///
/// ok: it holds. weak: a part of it does. FAIL: it does not. ?: it could not be found out, and does not count. Behind the
/// arrow stands what to do.
///
/// Nothing is sent anywhere. A few bytes are written to the state directory, synced and removed: only that shows a disk that
/// is full or read-only.
///
/// Try it:
///   lazaret doctor
///   lazaret doctor --json
///   lazaret doctor --require container,seccomp,max_processes=512
///
/// Exit codes: 0 ready, 1 not, or only in part, 2 wrong usage.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// What must be so: container, seccomp, readonly_root, network_namespace, full, max_processes=N, max_open_files=N.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = requirement)]
    require: Vec<Requirement>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let found = audit(Path::new("/"), |name| std::env::var(name).ok());
    let caged = is_in_a_cage(&found);
    let (cage, kernel) = match caged {
        true => (checks::within_a_cage("cage"), checks::within_a_cage("kernel")),
        false => {
            let cage = checks::cage();
            let made = cage.iter().find(|it| it.id == "namespaces");
            let kernel = checks::kernel(made.map(|it| it.status == Status::Pass));
            (cage, kernel)
        }
    };
    let (state, tools) = (checks::state(&home), checks::tools(caged));
    let required = checks::required(&home, &args.require, &found);
    let verdict =
        Verdict::of(&Looked { cage: &cage, state: &state, tools: &tools, required: &required });
    let parts = [
        ("state", state),
        ("cage", cage),
        ("kernel", kernel),
        ("tools", tools),
        ("required", required),
        ("surroundings", found.findings().iter().map(Row::of_finding).collect::<Vec<_>>()),
    ];
    if args.json {
        let failed = parts.iter().flat_map(|it| &it.1).filter(|it| it.status == Status::Fail);
        let failed = failed.count();
        let rows = parts.iter().flat_map(|(part, rows)| rows.iter().map(|it| it.to_json(part)));
        output::json(&json!({
            "checks": rows.collect::<Vec<Value>>(),
            "compliance": found.compliance().as_str(),
            "failed": failed,
            "score": found.score(),
            "verdict": verdict.to_json(),
        }));
    } else {
        for line in verdict.lines(&Paint::for_stdout()) {
            output::line(&line);
        }
        for (part, rows) in &parts {
            show(part, rows, &found);
        }
    }
    Ok(match verdict.works {
        Works::Yes => Exit::Done,
        Works::Partly | Works::No => Exit::Refused,
    })
}

fn requirement(text: &str) -> Result<Requirement, String> {
    Requirement::parse(text).ok_or_else(|| {
        "one of container, seccomp, readonly_root, network_namespace, full, max_processes=N, max_open_files=N".to_owned()
    })
}

fn show(part: &str, rows: &[Row], found: &Audit) {
    if rows.is_empty() {
        return;
    }
    let paint = Paint::for_stdout();
    output::line("");
    let sum = match part {
        "surroundings" => format!(
            "{}: what confines lazaret itself: {}, {} of 100; needed only where it is required",
            paint.strong(part),
            found.compliance().as_str(),
            found.score()
        ),
        _ => paint.strong(part),
    };
    output::line(&sum);
    let widest = rows.iter().map(|it| it.id.len()).max().unwrap_or_default();
    for row in rows {
        output::line(&row.line(&paint, widest));
    }
}
