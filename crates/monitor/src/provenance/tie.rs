//! Has a row, or the call that fetched it, to do with what the user said?

use super::bits::Bits;
use super::delegation::{Origin, Slots};
use super::facts::{Facts, Name};
use super::hash::Key;
use super::ledger::Ledger;

/// How closely a source hangs together with the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tie {
    /// Not at all.
    None,
    /// It shares a telling word with them.
    Related,
    /// It comes from a source that they point at by words of every day.
    Source,
    /// It comes from the place that they name.
    Place,
    /// It is what they name.
    Designated,
}

/// How many of the row's names are the user's.
pub(super) fn score(ledger: &Ledger, row: &Facts) -> usize {
    row.names.iter().filter(|it| is_named(ledger, it)).count()
}

/// What the arguments of the call say, and the words of the tool's name.
pub(super) fn call(ledger: &Ledger, (args, tool): (&[Key], &[Key]), words: &[Key]) -> Tie {
    let is_exact = |key: &Key| {
        let bits = ledger.bits(*key);
        let given = bits.has(Bits::USER) || bits.has(Bits::DESIGNATED);
        let followed = bits.has(Bits::MENTIONED)
            && !bits.has(Bits::FLAGGED)
            && ledger.may_fill(*key, Slots::LINK);
        given || followed
    };
    if args.iter().chain(tool).any(is_exact) {
        return Tie::Place;
    }
    if args.iter().any(|it| ledger.is_source(*it)) {
        return Tie::Source;
    }
    let related = words.iter().any(|key| ledger.bits(*key).has(Bits::TELLING));
    if related { Tie::Related } else { Tie::None }
}

/// Did a text from outside, and nobody else, name what the call asked for?
pub(super) fn is_lured(ledger: &Ledger, args: &[Key], tool: &[Key]) -> bool {
    let mut all = args.iter().chain(tool);
    let vouched = all.clone().any(|key| ledger.bits(*key).is_vouched_for());
    let named = all.any(|key| {
        let bits = ledger.bits(*key);
        bits.has(Bits::FLAGGED) || (bits.has(Bits::ORDERED) && !bits.has(Bits::HANDED_ON))
    });
    named && !vouched
}

/// What a row says: the rows with the most names of the user's are designated, `best` being that
/// number among the rows beside it; if there is none, the call may make the place count. `has_tasks` if its tasks were
/// handed on.
pub(super) fn row(
    ledger: &Ledger,
    origin: &Origin<'_>,
    call: Tie,
    best: usize,
    has_tasks: bool,
) -> Tie {
    let (row, alone) = (origin.facts, origin.alone);
    let score = score(ledger, row);
    if score > 0 && score >= best {
        return Tie::Designated;
    }
    // A search for the user's words that finds one thing has found the tasks that were handed on.
    let found = call != Tie::None && alone && has_tasks;
    // One of several rows of a source is not the source.
    let is_source = call == Tie::Source && alone;
    if (call == Tie::Place && (best == 0 || alone)) || found || is_source {
        return Tie::Place;
    }
    if call != Tie::None || is_own(ledger, row) { Tie::Related } else { Tie::None }
}

/// Do the row's own names share a telling word with the user's?
pub(super) fn is_own(ledger: &Ledger, row: &Facts) -> bool {
    row.names.iter().any(|name| {
        let words = name.words.iter().any(|it| ledger.bits(*it).has(Bits::TELLING));
        words || ledger.bits(name.whole).has(Bits::USER)
    })
}

/// Is the name one that the user said, or made of the user's words throughout?
fn is_named(ledger: &Ledger, name: &Name) -> bool {
    if name.number {
        return false;
    }
    let bits = ledger.bits(name.whole);
    let telling =
        |keys: &[Key]| keys.iter().filter(|it| ledger.bits(**it).has(Bits::TELLING)).count();
    let covered =
        name.words.len() >= 2 && name.words.iter().all(|it| ledger.bits(*it).has(Bits::SPOKEN));
    let whole = bits.has(Bits::USER) && !name.words.is_empty();
    // `Jana` is `jana.kovac@…`; `Hansen Gardens` is `office@hansen-gardens.example`.
    whole || covered || telling(&name.who) > 0 || telling(&name.words) >= 2
}
