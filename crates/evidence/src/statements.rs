//! Signed statements about the tree, held against the records and, where those were retired, against
//! the hashes that are left of them.
//!
//! Retention takes records away and leaves their leaves in `tree/`. Whoever holds the key can claim
//! a retention and begin anew behind it, so that a statement about what was retired is never passed
//! over: the leaves must lead to its root and on to the tree that the oldest segment begins with.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};

use aegx::Digest;
use aegx::merkle::Frontier;

use crate::chain::Damage;
use crate::checkpoints;
use crate::layout::Layout;
use crate::segment::{Checked, Header};
use crate::tree;
use crate::verify::{Against, Verified};
use files::private;

/// A signed claim about the tree.
pub(crate) struct Statement {
    pub(crate) origin: String,
    pub(crate) size: u64,
    root: Digest,
    what: String,
}

/// Reads the checkpoints of the journal and the one that was given, and verifies their signatures.
pub(crate) fn read(
    layout: &Layout,
    against: &Against,
    damages: &mut Vec<Damage>,
) -> Vec<Statement> {
    let mut complain = |what: String| damages.push(Damage::of_journal(what));
    let kept = match checkpoints::read(layout) {
        Ok(kept) => kept,
        Err(error) => {
            complain(error.to_string());
            Vec::new()
        }
    };
    let Some(key) = against.key.clone().or_else(|| checkpoints::own_key(layout)) else {
        if !kept.is_empty() || against.checkpoint.is_some() {
            complain("there is no public key to verify the checkpoints with".to_owned());
        }
        return Vec::new();
    };
    let own = kept.iter().map(|it| (it.note.as_str(), format!("checkpoint of {}", it.size)));
    let outside =
        against.checkpoint.iter().map(|it| (it.as_str(), "the checkpoint given".to_owned()));
    let mut statements = Vec::new();
    for (note, what) in own.chain(outside) {
        match checkpoints::verify(note, &key) {
            Ok(it) => statements.push(Statement {
                origin: it.origin().to_owned(),
                size: it.size(),
                root: it.root(),
                what,
            }),
            Err(why) => complain(format!("{what}: {why}")),
        }
    }
    for pair in statements.windows(2) {
        if let [older, newer] = pair
            && newer.what.starts_with("checkpoint of")
            && newer.size < older.size
        {
            complain(format!("{} follows {}", newer.what, older.what));
        }
    }
    statements
}

/// Compares each statement with the tree at its size.
pub(crate) fn check(
    layout: &Layout,
    statements: &[Statement],
    segments: &BTreeMap<u64, Checked>,
    verified: &mut Verified,
) {
    let mut roots: BTreeMap<u64, Digest> = segments
        .values()
        .flat_map(|it| it.roots.iter().map(|(size, root)| (*size, *root)))
        .collect();
    let end = segments.values().next_back().map_or(0, |it| it.next_idx);
    let first = verified.first;
    let retired: BTreeSet<u64> =
        statements.iter().map(|it| it.size).filter(|it| *it < first).collect();
    let mut lost = None;
    if let Some(oldest) = segments.values().next().filter(|_| !retired.is_empty()) {
        match retired_roots(layout, &oldest.header, &retired) {
            Ok(found) => roots.extend(found),
            Err(why) => lost = Some(why),
        }
    }
    let mut covers_any = false;
    for Statement { size, root, what, .. } in statements {
        let complaint = match roots.get(size) {
            Some(found) if found == root => None,
            Some(_) => Some("the records are not those that were signed".to_owned()),
            None if *size > end => Some(format!("{size} records were signed, {end} are left")),
            // Said once for all of them.
            None if *size < first && lost.is_some() => continue,
            None => Some("its place in the journal cannot be verified".to_owned()),
        };
        match complaint {
            None => {
                verified.checkpoints += 1;
                verified.signed_size = verified.signed_size.max(*size);
                covers_any |= *size >= first;
            }
            Some(why) => verified.damages.push(Damage::of_journal(format!("{what}: {why}"))),
        }
    }
    if let Some(why) = lost {
        let sizes = retired.len();
        let what = format!(
            "checkpoints of {sizes} sizes up to record {first}, which were retired, cannot be \
             verified: {why}"
        );
        verified.damages.push(Damage::of_journal(what));
    }
    if verified.pinned && verified.records > 0 && !covers_any {
        let what = "no checkpoint by the pinned key covers any of these records".to_owned();
        verified.damages.push(Damage::of_journal(what));
    }
}

/// Returns the roots at `sizes` of the tree that the segment with header `oldest` goes on from.
///
/// They are computed from the leaves: the kept levels above could be of another tree.
fn retired_roots(
    layout: &Layout,
    oldest: &Header,
    sizes: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, Digest>, String> {
    let (frontier, roots) =
        fold_leaves(layout, oldest.first, sizes).map_err(|error| format!("`tree/`: {error}"))?;
    let goes_on = oldest.frontier().is_ok_and(|it| it == frontier);
    goes_on.then_some(roots).ok_or_else(|| {
        "the tree of the oldest segment does not go on from the hashes in `tree/`".to_owned()
    })
}

/// Appends the first `size` leaves to a tree, noting its root at each of `sizes`.
fn fold_leaves(
    layout: &Layout,
    size: u64,
    sizes: &BTreeSet<u64>,
) -> io::Result<(Frontier, BTreeMap<u64, Digest>)> {
    let mut leaves = BufReader::new(private::open(&tree::leaves_path(layout))?);
    let mut frontier = Frontier::new();
    let mut roots = BTreeMap::new();
    loop {
        if sizes.contains(&frontier.size()) {
            roots.insert(frontier.size(), frontier.root());
        }
        if frontier.size() == size {
            return Ok((frontier, roots));
        }
        let mut leaf = [0; tree::HASH_BYTES];
        leaves.read_exact(&mut leaf)?;
        frontier.push(Digest::from_bytes(leaf));
    }
}
