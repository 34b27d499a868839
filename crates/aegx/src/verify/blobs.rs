//! Hashes the blobs of a bundle, on all cores, and compares them with what the records say.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::finding::{Code, Finding};
use super::report::Findings;
use super::{Progress, Threads};
use crate::archive::Rules;
use crate::digest::{Digest, Hasher};
use crate::source::{BLOBS, KEEP, Member, MemberKind, RECORDS, Source};

/// What the records say of one blob.
pub(crate) struct Expected {
    /// The length that the first of them says.
    pub(crate) bytes: u64,
    /// The line of that record.
    pub(crate) line: u64,
}

/// How many blobs there are and how long they are together.
pub(crate) struct Counted {
    pub(crate) blobs: u64,
    pub(crate) bytes: u64,
}

/// A buffer that stays in a core's own cache while it is hashed.
const BUFFER_BYTES: usize = 256 << 10;

pub(crate) fn check(
    source: &Source,
    rules: Rules,
    expected: &HashMap<Digest, Expected>,
    threads: Threads,
    progress: &Progress<'_>,
    findings: &mut Findings,
) -> Counted {
    let members = match source.blobs() {
        Ok(members) => members,
        Err(error) => {
            findings.add(Finding::of_unreadable(BLOBS, error));
            Vec::new()
        }
    };
    let (blobs, strays) = sort_out(&members, rules);
    findings.extend(strays);

    let present: HashSet<Digest> = blobs.iter().filter_map(|(name, _)| *name).collect();
    let mut missing: Vec<_> =
        expected.iter().filter(|(blob, _)| !present.contains(*blob)).collect();
    missing.sort_by_key(|(_, claim)| claim.line);
    for (blob, claim) in missing {
        let detail = format!("the blob {blob} is not in the bundle");
        findings.add(Finding::new(Code::BlobMissing, format!("{RECORDS}:{}", claim.line), detail));
    }

    let wanted = |it: &&(Option<Digest>, &Member)| {
        rules == Rules::Strict || it.0.is_some_and(|name| expected.contains_key(&name))
    };
    let work: Vec<_> = blobs.iter().filter(wanted).collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads.0.min(work.len()) {
            scope.spawn(|| {
                while let Some((name, member)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let claim = name.and_then(|name| expected.get(&name));
                    let finding = check_one(source, rules, *name, member, claim, progress);
                    if let (Some(finding), Ok(mut found)) = (finding, found.lock()) {
                        found.push(finding);
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by(|a: &Finding, b| a.at.cmp(&b.at));
    findings.extend(found);
    let bytes = blobs.iter().map(|(_, member)| member.bytes).sum();
    Counted { blobs: blobs.len() as u64, bytes }
}

/// The names of blobs that no record names.
pub(crate) fn unreferenced(source: &Source, expected: &HashMap<Digest, Expected>) -> Vec<String> {
    // A listing that fails was reported when the blobs were hashed.
    let members = source.blobs().unwrap_or_default().into_iter();
    let is_unreferenced = |member: &Member| {
        let base = member.name.rsplit('/').next().unwrap_or_default();
        let name = Digest::from_hex(base.as_bytes());
        member.kind == MemberKind::File && name.is_some_and(|it| !expected.contains_key(&it))
    };
    members.filter(is_unreferenced).map(|it| it.name).collect()
}

/// The files that count as blobs, and what else lies there.
fn sort_out(members: &[Member], rules: Rules) -> (Vec<(Option<Digest>, &Member)>, Vec<Finding>) {
    let mut blobs = Vec::new();
    let mut strays = Vec::new();
    for member in members {
        let base = member.name.rsplit('/').next().unwrap_or_default();
        let name = Digest::from_hex(base.as_bytes());
        match member.kind {
            MemberKind::File if base == KEEP && member.bytes == 0 => continue,
            MemberKind::File if name.is_some() => {}
            MemberKind::File => {
                strays.push(Finding::new(Code::BlobName, &member.name, "the name is no hash"));
            }
            MemberKind::Directory | MemberKind::Other => {
                let detail = "neither a blob nor a placeholder";
                strays.push(Finding::new(Code::FileNotRegular, &member.name, detail));
            }
        }
        // Upstream counts every plain file but the placeholder, and follows links.
        if member.kind != MemberKind::Directory && base != KEEP {
            blobs.push((name, member));
        }
    }
    strays.retain(|_| rules == Rules::Strict);
    (blobs, strays)
}

fn check_one(
    source: &Source,
    rules: Rules,
    name: Option<Digest>,
    member: &Member,
    claim: Option<&Expected>,
    progress: &Progress<'_>,
) -> Option<Finding> {
    let name = name?;
    let (actual, bytes) = match hash(source, rules, &member.name, progress) {
        Ok(hashed) => hashed,
        Err(error) => return Some(Finding::of_unreadable(&member.name, error)),
    };
    if actual != name {
        let code = if claim.is_some() { Code::BlobHash } else { Code::BlobUnreferencedHash };
        let detail = format!("the content has the hash {actual}");
        return Some(Finding::new(code, &member.name, detail));
    }
    let claim = claim.filter(|claim| claim.bytes != bytes && rules == Rules::Strict)?;
    let at = format!("{RECORDS}:{}", claim.line);
    let detail = format!("`size` is {}, the blob {name} has {bytes} bytes", claim.bytes);
    Some(Finding::new(Code::BlobSize, at, detail))
}

fn hash(
    source: &Source,
    rules: Rules,
    member: &str,
    progress: &Progress<'_>,
) -> io::Result<(Digest, u64)> {
    let mut input = source.open_under(member, rules)?;
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    loop {
        let read = input.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Ok((hasher.finish(), total));
        };
        hasher.update(bytes);
        total += read as u64;
        progress.add(read as u64);
    }
}
