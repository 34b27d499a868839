//! Addresses in tags: whatever the attribute is called that holds one.

use cssparser::{ParseError, Parser, Token};
use memchr::memchr_iter;

use super::address;
use super::{Carries, Finding, Kind};

/// The longest name of an element, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// The longest style that is looked at, in bytes.
const STYLE_BYTES_MAX: usize = 64 * 1024;
/// How deep a style is followed into its blocks.
const STYLE_DEPTH_MAX: usize = 32;
/// Elements whose address is gone to only when somebody acts.
const FOLLOWED: &[&str] = &["a", "area", "form", "button", "blockquote", "q", "ins", "del", "cite"];

/// Finds the addresses in the tags and style sheets of `text`.
pub(super) fn find(text: &str, all: &mut Vec<Finding>) {
    let mut done = 0;
    for open in memchr_iter(b'<', text.as_bytes()) {
        if open < done {
            continue;
        }
        let Some(tag) = Tag::read(text, open) else { continue };
        done = tag.end;
        for (name, value) in &tag.attributes {
            all.extend(in_attribute(&tag, name, value));
        }
        if tag.name.eq_ignore_ascii_case("style") {
            done = style_sheet(text, tag.end, all);
        }
    }
}

fn in_attribute(tag: &Tag<'_>, name: &str, value: &str) -> Vec<Finding> {
    let value = address::resolved(value);
    let found = |kind: Kind, url: &url::Url| Finding {
        kind,
        carries: Carries::of(url),
        url: url.as_str().to_owned(),
        start: tag.start,
        end: tag.end,
    };
    if name.eq_ignore_ascii_case("style") {
        return in_style(&value).iter().map(|it| found(Kind::StyleLoad, it)).collect();
    }
    let followed = FOLLOWED.iter().any(|it| it.eq_ignore_ascii_case(tag.name));
    let kind = if followed { Kind::Link } else { Kind::HtmlLoad };
    // A list of addresses, each with its width (`srcset`, `ping`), or behind a word (`0; url=…`).
    let words = value.split([',', ' ']).filter(|it| it.contains(['/', '\\']));
    let all = words.filter_map(|it| address::of(it).or_else(|| address::of(from_scheme(it)?)));
    let mut urls: Vec<url::Url> = all.collect();
    urls.dedup();
    urls.iter().map(|it| found(kind, it)).collect()
}

/// The rest of a word from where a scheme begins in it.
fn from_scheme(word: &str) -> Option<&str> {
    let at = word.find("://")?;
    let letters = word.get(..at)?.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    word.get(at - letters..)
}

/// The addresses of a style, wherever they stand in it.
fn in_style(style: &str) -> Vec<url::Url> {
    let style = style.get(..style.floor_char_boundary(STYLE_BYTES_MAX)).unwrap_or_default();
    let mut all = Vec::new();
    walk(&mut Parser::new(style), STYLE_DEPTH_MAX, &mut all);
    all
}

fn walk(parser: &mut Parser<'_>, depth: usize, all: &mut Vec<url::Url>) {
    while let Ok(token) = parser.next().cloned() {
        if let Token::UnquotedUrl(url) | Token::QuotedString(url) = &token {
            all.extend(address::of(url));
        }
        let opens = matches!(
            token,
            Token::Function(_)
                | Token::ParenthesisBlock
                | Token::SquareBracketBlock
                | Token::CurlyBracketBlock
        );
        if opens && depth > 0 {
            let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| {
                walk(inner, depth - 1, all);
                Ok(())
            });
        }
    }
}

/// Looks into the sheet that begins at `start`; gives where it ends.
fn style_sheet(text: &str, start: usize, all: &mut Vec<Finding>) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let end = memchr::memmem::find(rest.as_bytes(), b"</").map_or(text.len(), |it| start + it);
    let sheet = text.get(start..end).unwrap_or_default();
    all.extend(in_style(sheet).iter().map(|it| Finding {
        kind: Kind::StyleLoad,
        carries: Carries::of(it),
        url: it.as_str().to_owned(),
        start,
        end,
    }));
    end
}

struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    start: usize,
    end: usize,
}

impl<'a> Tag<'a> {
    /// Reads the tag that opens at `start`. One that never closes ends with the text: programs show such ones, too.
    fn read(text: &'a str, start: usize) -> Option<Self> {
        let rest = text.get(start + 1..)?;
        if !rest.starts_with(|it: char| it.is_ascii_alphabetic()) {
            return None;
        }
        let bytes = rest.as_bytes();
        let is_name = |it: &u8| !it.is_ascii_whitespace() && !matches!(it, b'/' | b'>' | b'<');
        let name = bytes.iter().take(NAME_BYTES_MAX).take_while(|it| is_name(it)).count();
        // An address in angle brackets is a link of Markdown.
        if bytes.get(..name)?.contains(&b':') {
            return None;
        }
        let (mut attributes, mut at) = (Vec::new(), name);
        loop {
            at += bytes
                .iter()
                .skip(at)
                .take_while(|it| it.is_ascii_whitespace() || **it == b'/')
                .count();
            match bytes.get(at) {
                None => break,
                Some(b'>') => {
                    at += 1;
                    break;
                }
                Some(_) => {
                    let (attribute, next) = attribute(rest, at)?;
                    attributes.push(attribute);
                    at = next.max(at + 1);
                }
            }
        }
        Some(Self { name: rest.get(..name)?, attributes, start, end: start + 1 + at })
    }
}

/// The attribute at `at`, and where it ends.
fn attribute(text: &str, at: usize) -> Option<((&str, &str), usize)> {
    let bytes = text.as_bytes();
    let run = |from: usize, stops: &dyn Fn(u8) -> bool| {
        from + bytes.iter().skip(from).take_while(|it| !stops(**it)).count()
    };
    let blank = |from: usize| run(from, &|it| !it.is_ascii_whitespace());
    let name_end = run(at + 1, &|it| it.is_ascii_whitespace() || matches!(it, b'=' | b'>' | b'/'));
    let name = text.get(at..name_end)?;
    let equals = blank(name_end);
    if bytes.get(equals) != Some(&b'=') {
        return Some(((name, ""), name_end));
    }
    let start = blank(equals + 1);
    match bytes.get(start) {
        Some(quote @ (b'"' | b'\'')) => {
            let end = run(start + 1, &|it| it == *quote);
            Some(((name, text.get(start + 1..end)?), (end + 1).min(text.len())))
        }
        Some(_) | None => {
            let end = run(start, &|it| it.is_ascii_whitespace() || it == b'>');
            Some(((name, text.get(start..end)?), end))
        }
    }
}
