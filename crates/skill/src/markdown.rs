//! Markdown taken apart: code in fences, code in lines, comments, and what is left. Spans are bytes of the text.

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) kind: PartKind<'a>,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind<'a> {
    /// Between two fences, with the first word behind the first of them.
    Fence(&'a str),
    /// Between backticks in a line.
    Inline,
    /// `<!-- … -->`, which no reader sees.
    Comment,
    /// A line of prose, with its code.
    Line,
}

/// Parts that are looked at.
const PARTS_MAX: usize = 20_000;

/// Takes a document apart. The second value says whether these are all parts.
pub(crate) fn parts(text: &str) -> (Vec<Part<'_>>, bool) {
    let mut found = Vec::new();
    let mut fence: Option<Fence<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if found.len() >= PARTS_MAX {
            return (found, false);
        }
        let marks = fence_marks(line);
        match (&fence, marks) {
            (Some(open), Some((mark, count, info)))
                if mark == open.mark && count >= open.count && info.is_empty() =>
            {
                push_fence(text, open, start, &mut found);
                fence = None;
            }
            (Some(_), _) => {}
            (None, Some((mark, count, info))) => {
                fence = Some(Fence { mark, count, info, inner: at });
            }
            (None, None) => {
                let trimmed = line.trim_end_matches(['\n', '\r']);
                found.push(Part { kind: PartKind::Line, text: trimmed, start });
                inline(trimmed, start, &mut found);
            }
        }
    }
    if let Some(open) = &fence {
        // One that is not closed goes on to the end.
        push_fence(text, open, text.len(), &mut found);
    }
    comments(text, &mut found);
    let whole = found.len() < PARTS_MAX;
    (found, whole)
}

struct Fence<'a> {
    mark: u8,
    count: usize,
    info: &'a str,
    inner: usize,
}

fn push_fence<'a>(text: &'a str, open: &Fence<'a>, end: usize, found: &mut Vec<Part<'a>>) {
    let inner = text.get(open.inner..end).unwrap_or_default();
    let is_joint = |it: char| it.is_whitespace() || it == '{' || it == ',';
    let word = open.info.split(is_joint).next().unwrap_or_default();
    found.push(Part { kind: PartKind::Fence(word), text: inner, start: open.inner });
}

/// The letter, the number and what stands behind the marks of a fence; in lists and quotes, too.
fn fence_marks(line: &str) -> Option<(u8, usize, &str)> {
    let rest = line.trim_start_matches([' ', '\t', '>']);
    let rest = rest.strip_prefix("- ").or_else(|| rest.strip_prefix("* ")).unwrap_or(rest);
    let mark = *rest.as_bytes().first()?;
    let count = rest.bytes().take_while(|it| *it == mark).count();
    let info = rest.get(count..)?.trim();
    let is_fence =
        matches!(mark, b'`' | b'~') && count >= 3 && !(mark == b'`' && info.contains('`'));
    is_fence.then_some((mark, count, info))
}

/// Code between backticks, of one line.
fn inline<'a>(line: &'a str, start: usize, found: &mut Vec<Part<'a>>) {
    let mut open: Option<(usize, usize)> = None;
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.get(at) != Some(&b'`') {
            at += 1;
            continue;
        }
        let count = bytes.iter().skip(at).take_while(|it| **it == b'`').count();
        match open {
            Some((from, number)) if number == count => {
                let text = line.get(from..at).unwrap_or_default();
                if !text.trim().is_empty() && found.len() < PARTS_MAX {
                    found.push(Part { kind: PartKind::Inline, text, start: start + from });
                }
                open = None;
            }
            Some(_) => {}
            None => open = Some((at + count, count)),
        }
        at += count;
    }
}

fn comments<'a>(text: &'a str, found: &mut Vec<Part<'a>>) {
    let mut from = 0;
    while let Some(open) = text.get(from..).and_then(|it| it.find("<!--")) {
        let inner = from + open + 4;
        let rest = text.get(inner..).unwrap_or_default();
        let end = rest.find("-->").unwrap_or(rest.len());
        if found.len() < PARTS_MAX {
            let comment = rest.get(..end).unwrap_or_default();
            found.push(Part { kind: PartKind::Comment, text: comment, start: inner });
        }
        from = (inner + end).min(text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_lines_code_and_comments_are_found_where_they_stand() {
        let text = "Run `ls -l` or ``a`b``.\n```bash title=x\ncurl x | sh\n```\n<!-- do\nthis -->\n~~~~\n```\n~~~~\n> ```\n> tail";
        let (found, whole) = parts(text);
        assert!(whole);
        for it in &found {
            assert_eq!(text.get(it.start..it.start + it.text.len()), Some(it.text));
        }
        let of = |kind: PartKind<'_>| -> Vec<&str> {
            found.iter().filter(|it| it.kind == kind).map(|it| it.text).collect()
        };
        assert_eq!(of(PartKind::Inline), ["ls -l", "a`b"]);
        assert_eq!(of(PartKind::Fence("bash")), ["curl x | sh\n"]);
        assert_eq!(of(PartKind::Fence("")), ["```\n", "> tail"]);
        assert_eq!(of(PartKind::Comment), [" do\nthis "]);
    }

    #[test]
    fn hostile_marks_take_linear_time() {
        for text in [
            "`".repeat(200_000),
            "<!--".repeat(100_000),
            "```\n".repeat(100_000),
            "` ".repeat(100_000),
        ] {
            let (found, _) = parts(&text);
            assert!(found.len() <= PARTS_MAX);
        }
    }
}
