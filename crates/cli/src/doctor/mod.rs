//! `lazaret doctor`.

mod checks;
mod row;

use std::path::Path;

use sandbox::audit::{Audit, Requirement, Status, audit};
use sandbox::probe::is_in_a_cage;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};
use row::Row;

/// Say how this machine and this setup hold, and what to do about the rest.
///
/// Six parts. `surroundings`: what confines the process itself, by what the kernel says (a container, namespaces, seccomp,
/// capabilities, limits); every session has the same on its record. `cage`: what holds a command that agents
/// run; a cage is made to find out, and nothing runs in it. `kernel`: what there is to make one of. `state`: the state
/// directory, the journal and the vault. `tools`: programs that some actions need. `required`: what `sandbox` in
/// config.yaml and --require ask of the surroundings; without it no session and no skill is started.
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
/// Exit codes: 0 nothing failed, 1 something did, 2 wrong usage.
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
    let parts = [
        ("surroundings", found.findings().iter().map(Row::of_finding).collect::<Vec<_>>()),
        ("cage", cage),
        ("kernel", kernel),
        ("state", checks::state(&home)),
        ("tools", checks::tools(caged)),
        ("required", checks::required(&home, &args.require, &found)),
    ];
    let failed = parts.iter().flat_map(|it| &it.1).filter(|it| it.status == Status::Fail).count();
    if args.json {
        let rows = parts.iter().flat_map(|(part, rows)| rows.iter().map(|it| it.to_json(part)));
        output::json(&json!({
            "checks": rows.collect::<Vec<Value>>(),
            "compliance": found.compliance().as_str(),
            "failed": failed,
            "score": found.score(),
        }));
    } else {
        for (part, rows) in &parts {
            show(part, rows, &found);
        }
        output::line("");
        output::line(&match failed {
            0 => "nothing failed".to_owned(),
            some => format!("{some} failed: what to do stands behind the arrows"),
        });
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Refused })
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
    let sum = match part {
        "surroundings" => format!(
            "{}: {}, {} of 100",
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
