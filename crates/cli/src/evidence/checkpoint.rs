//! `lazaret evidence checkpoint`.

use std::path::PathBuf;

use aegx::{Digest, Sorted, merkle};
use evidence::{Config, Filter, Kept, Reader, Tree};
use host::control::Request;
use serde_json::{Value, json};

use super::filter::parse_id;
use super::open;
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Sign what the journal holds now, or prove something about what was signed.
///
/// Keep the note elsewhere: whoever has it, and the public key, can later tell whether the journal
/// was changed. Without --prove or --since a new checkpoint is signed and printed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Print the newest kept checkpoint instead of signing a new one.
    #[arg(long)]
    last: bool,
    /// Prove that the record with this id is covered by the newest checkpoint.
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    prove: Option<String>,
    /// Prove that the journal of this many records is the beginning of the newest checkpoint.
    #[arg(long, value_name = "SIZE")]
    since: Option<u64>,
    /// Write the result to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let dir = args.home.journal()?;
    let prove = args.prove.as_deref().map(parse_id).transpose().map_err(Failure::usage)?;
    // There must be a journal; none is made for this.
    let reader = open::reader(&dir)?;
    let kept = if args.last || prove.is_some() || args.since.is_some() {
        let last = reader.checkpoints().map_err(Failure::unable)?.into_iter().next_back();
        last.ok_or_else(|| Failure::unable("no checkpoint was signed yet"))?
    } else {
        signed(args)?
    };
    let text = match (&prove, args.since) {
        (Some(id), _) => Sorted(&prove_inclusion(&reader, &kept, id)?).to_string(),
        (None, Some(old)) => Sorted(&prove_consistency(&reader, &kept, old)?).to_string(),
        (None, None) if args.json => {
            let json = json!({ "size": kept.size, "ts": kept.ts, "note": kept.note });
            Sorted(&json).to_string()
        }
        (None, None) => kept.note.trim_end().to_owned(),
    };
    match &args.out {
        None => {
            output::line(&text);
        }
        Some(path) => write_new(path, &text)?,
    }
    Ok(Exit::Done)
}

/// A new checkpoint: of the gate that runs, or signed here.
fn signed(args: &Args) -> Result<Kept, Failure> {
    let Some(said) = open::by_gate(&args.home, &Request::Checkpoint)? else {
        let journal = open::writer(&Config::new(args.home.journal()?))?;
        let kept = journal.checkpoint().map_err(Failure::unable)?;
        journal.close().map_err(Failure::unable)?;
        return Ok(kept);
    };
    let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
    let size = said.get("size").and_then(Value::as_u64);
    let parts = size.zip(text("ts").zip(text("note")));
    let (size, (ts, note)) = parts.ok_or_else(open::not_understood)?;
    Ok(Kept { size, ts, note })
}

fn prove_inclusion(
    reader: &Reader,
    kept: &Kept,
    id: &Digest,
) -> Result<serde_json::Value, Failure> {
    let filter = Filter { id: Some(*id), limit: Some(1), ..Filter::default() };
    let mut found = None;
    let mut see = |row: evidence::Row| {
        found = Some(row.idx);
        false
    };
    evidence::query(reader, &filter, &mut see).map_err(open::failure)?;
    let idx = found.ok_or_else(|| Failure::refused(format!("there is no record {id}")))?;
    if idx >= kept.size {
        let why = "the record is newer than the newest checkpoint; sign one first";
        return Err(Failure::refused(why));
    }
    let tree = Tree::open(reader).map_err(Failure::unable)?;
    let hashes = tree.inclusion(idx, kept.size).map_err(Failure::unable)?;
    let root = reader.signed_root(kept).map_err(Failure::refused)?;
    merkle::verify_inclusion(&merkle::leaf_hash(id), idx, kept.size, &hashes, &root)
        .map_err(no_proof)?;
    Ok(json!({
        "recordId": id.to_string(),
        "index": idx,
        "size": kept.size,
        "root": root.to_string(),
        "hashes": hex(&hashes),
        "checkpoint": kept.note,
    }))
}

fn prove_consistency(reader: &Reader, kept: &Kept, old: u64) -> Result<serde_json::Value, Failure> {
    let tree = Tree::open(reader).map_err(Failure::unable)?;
    let hashes = tree.consistency(old, kept.size).map_err(Failure::refused)?;
    let old_root = tree.root(old).map_err(Failure::unable)?;
    let root = reader.signed_root(kept).map_err(Failure::refused)?;
    merkle::verify_consistency(old, &old_root, kept.size, &root, &hashes).map_err(no_proof)?;
    Ok(json!({
        "old_size": old,
        "old_root": old_root.to_string(),
        "size": kept.size,
        "root": root.to_string(),
        "hashes": hex(&hashes),
        "checkpoint": kept.note,
    }))
}

/// Nothing is handed out that whoever gets it would refuse.
fn no_proof(error: impl std::fmt::Display) -> Failure {
    Failure::unable(format!(
        "the proof made from `tree` does not hold ({error}); delete that folder, it is made anew"
    ))
}

fn hex(hashes: &[Digest]) -> Vec<String> {
    hashes.iter().map(Digest::to_string).collect()
}

fn write_new(path: &PathBuf, text: &str) -> Result<(), Failure> {
    use std::io::Write;
    std::fs::File::create_new(path)
        .and_then(|mut file| writeln!(file, "{text}"))
        .map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))
}
