//! `lazaret check path`.

use std::path::{Path, PathBuf};

use files::{PathRefused, Relative, safe_path};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Judge paths as the file tools do, without looking at a disk.
///
/// A request on stdin has `base`, and `segments`, untrusted names that are cleaned and put below it, or
/// `path`, a relative path as a file tool gets it: it is taken as it stands, or denied. It is also denied if it
/// would leave its base after being decoded, once or several times, or with backslashes or look-alikes
/// read as slashes and dots. An answer has `decision` (`allow` or `deny`), `path`, `rule` and `reason`.
///
/// Try it:
///   lazaret check path notes/today.md ../secret %2e%2e/secret
///   echo '{"base":"/srv","segments":["..","a/b"]}' | lazaret check path --json
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// The folder that the paths must not leave.
    #[arg(long, value_name = "DIR", default_value = "/workspace")]
    base: PathBuf,
    /// Relative paths; without any, requests are read from stdin.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.paths.is_empty() {
        return batch::from_stdin(args.batch, |fields| request(fields, &args.base));
    }
    let values = args.paths.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, |it| told(relative(&args.base, it))))
}

fn request(fields: &Map<String, Value>, default: &Path) -> Result<Answer, String> {
    let base = match fields.get("base") {
        Some(Value::String(base)) => Path::new(base),
        Some(Value::Null) | None => default,
        Some(_) => return Err("`base` must be a string".to_owned()),
    };
    match (fields.get("segments"), fields.get("path")) {
        (Some(Value::Array(segments)), None) => {
            let texts: Option<Vec<&str>> = segments.iter().map(Value::as_str).collect();
            let texts = texts.ok_or("`segments` must be a list of strings")?;
            Ok(told(safe_path(base, &texts)))
        }
        (None, Some(Value::String(path))) => Ok(told(relative(base, path))),
        (Some(_), None) => Err("`segments` must be a list of strings".to_owned()),
        (None, Some(_)) => Err("`path` must be a string".to_owned()),
        (Some(_), Some(_)) => Err("give `segments` or `path`, not both".to_owned()),
        (None, None) => Err("`segments` or `path` is missing".to_owned()),
    }
}

fn relative(base: &Path, path: &str) -> Result<PathBuf, PathRefused> {
    Relative::parse(path).map(|it| it.under(base))
}

fn told(made: Result<PathBuf, PathRefused>) -> Answer {
    let (path, refused) = match &made {
        Ok(path) => (Some(path.to_string_lossy()), None),
        Err(refused) => (None, Some(refused)),
    };
    let text = match (&path, refused) {
        (_, Some(refused)) => format!("deny      {}: {}", refused.rule, refused.reason),
        (path, None) => format!("allow     {}", path.as_deref().unwrap_or_default()),
    };
    let fields = [
        ("decision", json!(if refused.is_some() { "deny" } else { "allow" })),
        ("path", json!(path)),
        ("rule", json!(refused.map(|it| it.rule.as_str()))),
        ("reason", json!(refused.map(|it| &it.reason))),
    ];
    Answer { passed: made.is_ok(), fields: Vec::from(fields), text }
}
