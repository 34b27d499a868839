//! Words with markup inside: `ig<b>no</b>re`, `ig<!-- x -->nore`.

use memchr::memchr_iter;

use super::encoded::Layer;
use super::finding::Coding;

/// The longest tag or comment that is taken for one, in bytes.
const TAG_BYTES_MAX: usize = 200;
/// How much before the first word with markup inside is looked at, in bytes, and how much behind the last one.
const BEFORE_BYTES: usize = 200;
const BEHIND_BYTES: usize = 64 * 1024;
/// Elements that stand inside of lines, and are used to break words.
const INLINE: &[&str] = &[
    "a", "b", "i", "u", "s", "em", "strong", "span", "font", "small", "wbr", "sup", "sub", "mark",
    "tt", "code", "bdo",
];

/// Returns the text without its inline markup, if there is any inside of a word.
pub(super) fn layer(text: &str) -> Option<Layer> {
    let bytes = text.as_bytes();
    let first = memchr_iter(b'<', bytes).find(|at| joins(text, *at))?;
    let start = text.floor_char_boundary(first.saturating_sub(BEFORE_BYTES));
    let last = memchr::memrchr_iter(b'<', bytes).find(|at| joins(text, *at)).unwrap_or(first);
    let limit = text.floor_char_boundary(text.len().min(last + BEHIND_BYTES));
    let mut layer = Layer::whole(String::new(), start, limit, Coding::Markup);
    let mut at = start;
    while at < limit {
        let open = memchr::memchr(b'<', bytes.get(at..limit)?).map_or(limit, |it| at + it);
        if open > at {
            layer.map.push((layer.text.len(), at));
            layer.text.push_str(text.get(at..open)?);
        }
        at = match tag(text, open) {
            Some(end) => end,
            None if open < limit => {
                layer.map.push((layer.text.len(), open));
                layer.text.push('<');
                open + 1
            }
            None => limit,
        };
    }
    Some(layer)
}

/// Tells whether the tag at `open` stands between two letters, alone or with others.
fn joins(text: &str, open: usize) -> bool {
    let letter = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
    let Some(end) = tag(text, open) else { return false };
    open.checked_sub(1).is_some_and(letter) && letter(end)
}

/// Returns where the inline tag or the comment at `open` ends.
fn tag(text: &str, open: usize) -> Option<usize> {
    let rest = text.get(open..)?.strip_prefix('<')?;
    let near = rest.get(..rest.floor_char_boundary(TAG_BYTES_MAX))?;
    if near.starts_with("!--") {
        return near.find("-->").map(|it| open + it + 4);
    }
    let inner = near.strip_prefix('/').unwrap_or(near);
    let name = inner.split(|it: char| !it.is_ascii_alphanumeric()).next()?;
    INLINE.iter().find(|it| it.eq_ignore_ascii_case(name))?;
    near.find('>').map(|it| open + it + 2)
}
