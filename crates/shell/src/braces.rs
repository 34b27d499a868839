//! Brace expansion: `{a,b}`, `{1..3}`, `{a..e}`.

use crate::limits::{BRACE_LEVELS_MAX, BRACED_LETTERS_MAX, BRACES_MAX, FIELDS_MAX};
use crate::syntax::{Part, Word};

/// A letter outside quotes, or a part that braces do not see into.
#[derive(Clone)]
enum Piece {
    Letter(char),
    Closed(Part),
}

/// What a word with braces stands for.
pub(super) enum Braced {
    Words(Vec<Word>),
    /// More words or longer ones than are made.
    TooMuch,
}

/// The words that a word stands for; `None` if it has no braces to expand.
pub(super) fn expand(word: &Word) -> Option<Braced> {
    let is_bare_brace = |it: &Part| matches!(it, Part::Bare(text) if text.contains('{'));
    if !word.parts.iter().any(is_bare_brace) {
        return None;
    }
    let braces = |it: &Part| if let Part::Bare(text) = it { text.matches('{').count() } else { 0 };
    if word.parts.iter().map(braces).sum::<usize>() > BRACES_MAX {
        return Some(Braced::TooMuch);
    }
    let mut pieces = Vec::new();
    for part in &word.parts {
        if let Part::Bare(text) = part {
            pieces.extend(text.chars().map(Piece::Letter));
        } else {
            pieces.push(Piece::Closed(part.clone()));
        }
    }
    let mut room = BRACED_LETTERS_MAX.max(pieces.len());
    let Some(words) = expanded(&pieces, 0, &mut room) else { return Some(Braced::TooMuch) };
    (words.len() > 1 || words.first().is_some_and(|it| it.len() != pieces.len()))
        .then(|| Braced::Words(words.into_iter().map(word_of).collect()))
}

fn word_of(pieces: Vec<Piece>) -> Word {
    let mut parts = Vec::new();
    let mut bare = String::new();
    for piece in pieces {
        match piece {
            Piece::Letter(letter) => bare.push(letter),
            Piece::Closed(part) => {
                if !bare.is_empty() {
                    parts.push(Part::Bare(std::mem::take(&mut bare)));
                }
                parts.push(part);
            }
        }
    }
    if !bare.is_empty() {
        parts.push(Part::Bare(bare));
    }
    Word { parts }
}

/// `None`: there is no `room` for all of them.
fn expanded(pieces: &[Piece], level: usize, room: &mut usize) -> Option<Vec<Vec<Piece>>> {
    if level > BRACE_LEVELS_MAX {
        return None;
    }
    for (at, piece) in pieces.iter().enumerate() {
        if !matches!(piece, Piece::Letter('{')) {
            continue;
        }
        let Some((choices, end)) = choices(pieces, at) else { continue };
        let before = pieces.get(..at).unwrap_or_default();
        let after = expanded(pieces.get(end..).unwrap_or_default(), level + 1, room)?;
        let mut words = Vec::new();
        for choice in choices {
            for middle in expanded(&choice, level + 1, room)? {
                for tail in &after {
                    if words.len() >= FIELDS_MAX {
                        return None;
                    }
                    *room = room.checked_sub(before.len() + middle.len() + tail.len())?;
                    words.push([before, middle.as_slice(), tail.as_slice()].concat());
                }
            }
        }
        return Some(words);
    }
    *room = room.checked_sub(pieces.len())?;
    Some(vec![pieces.to_vec()])
}

/// What stands between the braces that open at `at`, and where it goes on behind them.
fn choices(pieces: &[Piece], at: usize) -> Option<(Vec<Vec<Piece>>, usize)> {
    let mut depth = 0_usize;
    let mut choices = vec![Vec::new()];
    for (index, piece) in pieces.iter().enumerate().skip(at) {
        match piece {
            Piece::Letter('{') => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            Piece::Letter('}') => {
                depth -= 1;
                if depth == 0 {
                    let one = choices.len() == 1;
                    let choices = if one { range(choices.first()?)? } else { choices };
                    return Some((choices, index + 1));
                }
            }
            Piece::Letter(',') if depth == 1 => {
                choices.push(Vec::new());
                continue;
            }
            Piece::Letter(_) | Piece::Closed(_) => {}
        }
        choices.last_mut()?.push(piece.clone());
    }
    None
}

/// `1..9`, `a..z`, `1..9..2`.
fn range(pieces: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let letter = |it: &Piece| match it {
        Piece::Letter(letter) => Some(*letter),
        Piece::Closed(_) => None,
    };
    let text: String = pieces.iter().map(letter).collect::<Option<_>>()?;
    let mut parts = text.split("..");
    let (first, last) = (parts.next()?, parts.next()?);
    let step = parts.next().map_or(Some(1), |it| it.parse::<i64>().ok())?;
    let step = step.unsigned_abs().max(1);
    let step = usize::try_from(step).ok()?;
    let letters = |text: String| text.chars().map(Piece::Letter).collect::<Vec<_>>();
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let (low, high) = (from.min(to), from.max(to));
        let width = if first.starts_with('0') && first.len() > 1 { first.len() } else { 0 };
        let numbers = (low..=high).step_by(step).take(FIELDS_MAX + 1);
        let mut words: Vec<_> = numbers.map(|it| letters(format!("{it:0width$}"))).collect();
        if from > to {
            words.reverse();
        }
        return Some(words);
    }
    let (mut from, mut to) = (first.chars(), last.chars());
    let (low, high) = (from.next()?, to.next()?);
    if from.next().is_some() || to.next().is_some() || !low.is_ascii() || !high.is_ascii() {
        return None;
    }
    let mut words: Vec<_> =
        (low.min(high)..=low.max(high)).step_by(step).map(|it| letters(it.to_string())).collect();
    if low > high {
        words.reverse();
    }
    Some(words)
}
