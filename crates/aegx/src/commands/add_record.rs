//! `aegx add-record`.

use std::path::PathBuf;

use aegx::record::{Draft, Payload, Principal, RecordType};
use aegx::{Digest, bundle};
use serde_json::{Map, Value, json};

use super::{Exit, Failure, clock, output};

/// Add a record and print its id.
///
/// Example: aegx add-record demo --type SessionMessage --principal USER
/// --meta '{"ts":"2026-02-15T00:00:00Z"}' --inline '{"text":"hello"}'
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the bundle.
    bundle: PathBuf,
    /// What happened.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_type)]
    record_type: RecordType,
    /// Who caused it.
    #[arg(long, value_parser = parse_principal)]
    principal: Principal,
    /// A JSON object. Without `ts` the present time is filled in.
    #[arg(long, value_name = "JSON")]
    meta: String,
    /// Ids of the records it came from, separated by commas.
    #[arg(long, value_delimiter = ',')]
    parents: Vec<String>,
    /// The content, as JSON.
    #[arg(long, value_name = "JSON", conflicts_with_all = ["blob", "mime", "size"], required_unless_present = "blob")]
    inline: Option<String>,
    /// The hash of a blob that was added before.
    #[arg(long, value_name = "HASH", requires_all = ["mime", "size"])]
    blob: Option<String>,
    /// Media type of the blob.
    #[arg(long, requires = "blob")]
    mime: Option<String>,
    /// Length of the blob in bytes.
    #[arg(long, requires = "blob")]
    size: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut meta: Map<String, Value> = serde_json::from_str(&args.meta)
        .map_err(|error| Failure::usage(format!("--meta is not a JSON object: {error}")))?;
    meta.entry("ts").or_insert_with(|| Value::String(clock::now()));
    let draft = Draft {
        record_type: args.record_type,
        principal: args.principal,
        taint: Vec::new(),
        parents: parse_parents(&args.parents)?,
        meta,
        payload: payload(args)?,
    };
    let id = bundle::add_record(&args.bundle, draft)?;
    if args.json {
        output::json(&json!({ "recordId": id.to_string() }));
    } else {
        output::line(&id.to_string());
    }
    Ok(Exit::Done)
}

fn payload(args: &Args) -> Result<Payload, Failure> {
    match (&args.inline, &args.blob, &args.mime, args.size) {
        (Some(text), ..) => {
            let inline = serde_json::from_str(text)
                .map_err(|error| Failure::usage(format!("--inline is not JSON: {error}")))?;
            Ok(Payload::Inline { inline })
        }
        (None, Some(blob), Some(mime), Some(size)) => {
            Ok(Payload::Blob { blob: blob.clone(), mime: mime.clone(), size })
        }
        _ => Err(Failure::usage("give --inline, or --blob with --mime and --size")),
    }
}

fn parse_parents(parents: &[String]) -> Result<Vec<Digest>, Failure> {
    // Empty items are dropped, as upstream does.
    let given = parents.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    given
        .map(|text| {
            Digest::from_hex(text.as_bytes()).ok_or_else(|| {
                Failure::usage(format!("parent `{text}` is not 64 lower-case hex digits"))
            })
        })
        .collect()
}

fn parse_type(text: &str) -> Result<RecordType, String> {
    RecordType::from_name(text.as_bytes()).ok_or_else(|| {
        let names: Vec<_> = RecordType::ALL.iter().map(|it| it.as_str()).collect();
        format!("choose one of {}", names.join(", "))
    })
}

fn parse_principal(text: &str) -> Result<Principal, String> {
    Principal::from_name(text.as_bytes()).ok_or_else(|| {
        let names: Vec<_> = Principal::ALL.iter().map(|it| it.as_str()).collect();
        format!("choose one of {}", names.join(", "))
    })
}
