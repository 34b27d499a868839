//! What was found, and where.

use aegx::Digest;
use model::skill::{Severity, SkillCheck};

/// Characters of an excerpt.
const EXCERPT_CHARS_MAX: usize = 120;
/// Findings that are kept. More of them say nothing more.
pub const FINDINGS_MAX: usize = 500;

/// One thing that speaks against a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub check: SkillCheck,
    /// How bad it would be.
    pub severity: Severity,
    /// The file.
    pub file: String,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// Where it begins in the file, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// In one sentence.
    pub why: String,
    /// What stands there, with credentials taken out.
    pub excerpt: String,
    /// The hash of check, severity, file and the lines that it stands in, or all of the file where it is about that: a
    /// suppression is bound to it.
    pub fingerprint: Digest,
}

/// Says that what a fingerprint is made of is nothing else.
const DOMAIN: &[u8] = b"lazaret-skill-finding-v1";

/// Collects the findings about one file.
pub(crate) struct Findings<'a> {
    file: &'a str,
    text: &'a str,
    /// What a finding about the whole file is bound to.
    content: &'a [u8],
    found: Vec<Finding>,
    /// The lines of each, as bytes of the file.
    lines: Vec<(usize, usize)>,
}

impl<'a> Findings<'a> {
    /// For a file of text.
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self::of_bytes(file, text, text.as_bytes())
    }

    /// For a file that may be no text.
    pub(crate) fn of_bytes(file: &'a str, text: &'a str, content: &'a [u8]) -> Self {
        Self { file, text, content, found: Vec::new(), lines: Vec::new() }
    }

    /// Adds one about `start..end` of the file; about all of it, where that is nothing. The same thing said of the same lines
    /// twice is said once, at its worst.
    pub(crate) fn add(
        &mut self,
        check: SkillCheck,
        severity: Severity,
        (start, end): (usize, usize),
        why: impl Into<String>,
    ) {
        let start = self.text.floor_char_boundary(start.min(self.text.len()));
        let end = self.text.ceil_char_boundary(end.clamp(start, self.text.len()));
        let lines = if start == end { (start, start) } else { lines_of(self.text, start, end) };
        let known = self.found.iter().zip(&self.lines);
        let mut known = known.enumerate().filter(|(_, it)| it.0.check == check && *it.1 == lines);
        let at = match known.next() {
            Some((_, (known, _))) if known.severity >= severity => return,
            Some((at, _)) => Some(at),
            // The worst are kept: many small findings do not hide a bad one.
            None if self.found.len() >= FINDINGS_MAX => {
                let mildest = self.found.iter().enumerate().min_by_key(|it| it.1.severity);
                match mildest {
                    Some((at, mildest)) if mildest.severity < severity => Some(at),
                    Some(_) | None => return,
                }
            }
            None => None,
        };
        let finding = self.finding(check, severity, (start, end), lines, why.into());
        let place = at.and_then(|at| Some((self.found.get_mut(at)?, self.lines.get_mut(at)?)));
        match place {
            Some((old, old_lines)) => (*old, *old_lines) = (finding, lines),
            None => {
                self.found.push(finding);
                self.lines.push(lines);
            }
        }
    }

    fn finding(
        &self,
        check: SkillCheck,
        severity: Severity,
        (start, end): (usize, usize),
        lines: (usize, usize),
        why: String,
    ) -> Finding {
        let of_lines = self.text.get(lines.0..lines.1).unwrap_or_default();
        let bound = if start == end { self.content } else { of_lines.as_bytes() };
        let parts: [&[u8]; 9] = [
            DOMAIN,
            b"\0",
            check.as_str().as_bytes(),
            b"\0",
            severity.as_str().as_bytes(),
            b"\0",
            self.file.as_bytes(),
            b"\0",
            bound,
        ];
        Finding {
            check,
            severity,
            file: self.file.to_owned(),
            line: line_of(self.text, start),
            start,
            end,
            why,
            excerpt: excerpt(self.text.get(start..end).unwrap_or_default()),
            fingerprint: Digest::of_parts(&parts),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.found
    }
}

/// From the beginning of the first line to the end of the last.
fn lines_of(text: &str, start: usize, end: usize) -> (usize, usize) {
    let from = text.get(..start).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
    let to = text.get(end..).and_then(|it| it.find('\n')).map_or(text.len(), |it| end + it);
    (from, to)
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().get(..at).map_or(1, |it| it.iter().filter(|it| **it == b'\n').count() + 1)
}

fn excerpt(value: &str) -> String {
    let short: String = value.chars().take(EXCERPT_CHARS_MAX * 2).collect();
    let secrets = scan::secret::find(&short);
    let safe = scan::secret::redacted(&short, &secrets);
    let line = safe.lines().find(|it| !it.trim().is_empty()).unwrap_or_default().trim();
    line.chars().take(EXCERPT_CHARS_MAX).collect()
}
