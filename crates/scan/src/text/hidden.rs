//! Text that people do not see: characters without width, marks of direction, comments, hidden elements.

use memchr::memmem::Finder;

use super::finding::{Category, Coding, Finding, Severity};

/// The longest comment or hidden element that is looked at, in bytes.
const HIDDEN_BYTES_MAX: usize = 16 * 1024;
/// What an order inside of hidden text must say by itself.
const ORDER_FROM: f64 = 0.2;

/// Adds findings about what is hidden in `text`. `findings` are the orders that were found in it.
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    let mut orders: Vec<(usize, usize)> =
        findings.iter().filter(|it| it.weight >= ORDER_FROM).map(|it| (it.start, it.end)).collect();
    orders.sort_unstable();
    if !orders.is_empty() {
        findings.extend(MARKS.iter().filter_map(|it| orders_within(text.as_bytes(), it, &orders)));
    }
    if !text.is_ascii() {
        invisible(text, findings);
    }
}

fn invisible(text: &str, findings: &mut Vec<Finding>) {
    let (mut tags, mut overrides, mut joined, mut marks) =
        (Run::default(), Run::default(), Run::default(), Run::default());
    let mut base = ' ';
    for (at, found) in wide(text) {
        let before = text.get(..at).and_then(|it| it.chars().next_back()).unwrap_or(' ');
        let end = at + found.len_utf8();
        let is_tag = matches!(found, '\u{e0001}' | '\u{e0020}'..='\u{e007f}');
        match found {
            // A flag of a region is an emoji and a few tags.
            _ if is_tag => tags.count(base != '\u{1f3f4}' || before.is_ascii(), at, end),
            '\u{202d}' | '\u{202e}' => overrides.count(true, at, end),
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{180e}' => {
                joined.count(before.is_alphanumeric(), at, end);
            }
            '\u{300}'..='\u{36f}' => marks.count(matches!(before, '\u{300}'..='\u{36f}'), at, end),
            _ => {}
        }
        if !is_tag {
            base = found;
        }
    }
    findings.extend(tags.report(1, "tag_characters", 0.9));
    findings.extend(overrides.report(1, "direction_override", 0.3));
    findings.extend(joined.report(1, "zero_width_chars", 0.2));
    findings.extend(marks.report(MARKS_MIN, "stacked_marks", 0.3));
}

/// The characters that are not ASCII.
fn wide(text: &str) -> impl Iterator<Item = (usize, char)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes.get(at..)?.iter().position(|it| !it.is_ascii())?;
        let (place, found) = (at, text.get(at..)?.chars().next()?);
        at += found.len_utf8();
        Some((place, found))
    })
}

/// Marks on top of marks that no language writes.
const MARKS_MIN: usize = 24;

/// How often something was seen, and where.
#[derive(Default)]
struct Run {
    count: usize,
    start: Option<usize>,
    end: usize,
}

impl Run {
    fn count(&mut self, counts: bool, at: usize, end: usize) {
        if counts {
            self.count += 1;
            self.start.get_or_insert(at);
            self.end = end;
        }
    }

    fn report(&self, least: usize, rule: &'static str, weight: f64) -> Option<Finding> {
        let start = self.start.filter(|_| self.count >= least)?;
        Some(finding(rule, start, self.end, weight))
    }
}

fn finding(rule: &'static str, start: usize, end: usize, weight: f64) -> Finding {
    let (category, severity) = (Category::HiddenText, Severity::Medium);
    Finding { rule, category, severity, coding: Coding::Plain, start, end, weight }
}

/// What begins text that a browser does not show, and what ends it.
struct Mark {
    rule: &'static str,
    begin: &'static str,
    end: &'static str,
}

const fn element(begin: &'static str) -> Mark {
    Mark { rule: "orders_in_hidden_element", begin, end: "</" }
}

const COMMENT: &str = "orders_in_comment";
/// How far is looked back for the beginning of a tag, in bytes.
const TAG_BYTES_MAX: usize = 300;

/// Tells whether a style at `start` is an attribute, and not one of a style sheet or of a drawing.
fn is_inside_tag(text: &[u8], start: usize) -> bool {
    let before = text.get(start.saturating_sub(TAG_BYTES_MAX)..start).unwrap_or_default();
    let open = memchr::memrchr(b'<', before);
    open.is_some() && open > memchr::memrchr(b'>', before)
}

const MARKS: &[Mark] = &[
    Mark { rule: COMMENT, begin: "<!--", end: "-->" },
    Mark { rule: COMMENT, begin: "[//]: #", end: "\n" },
    Mark { rule: COMMENT, begin: "[comment]: #", end: "\n" },
    element("display:none"),
    element("display: none"),
    element("visibility:hidden"),
    element("visibility: hidden"),
    element("font-size:0"),
    element("font-size: 0"),
    element("font-size:1px"),
    element("font-size: 1px"),
    element("opacity:0"),
    element("opacity: 0"),
    element("color:white"),
    element("color: white"),
    element("color:#fff"),
    element("color: #fff"),
    element("aria-hidden=\"true\""),
    element(" hidden>"),
];

/// Returns the first passage between such marks that holds one of the orders.
fn orders_within(text: &[u8], mark: &Mark, orders: &[(usize, usize)]) -> Option<Finding> {
    let begin = Finder::new(mark.begin);
    let finish = Finder::new(mark.end);
    let mut from = 0;
    while let Some(at) = begin.find(text.get(from..)?) {
        let start = from + at;
        let inner = start + mark.begin.len();
        let limit = text.len().min(inner + HIDDEN_BYTES_MAX);
        let end = finish.find(text.get(inner..limit)?).map_or(limit, |it| inner + it);
        let first = orders.partition_point(|it| it.0 < inner);
        let is_there = mark.rule == COMMENT || is_inside_tag(text, start);
        if is_there && orders.get(first).is_some_and(|it| it.1 <= end) {
            return Some(finding(mark.rule, start, end, 0.5));
        }
        from = end.max(inner);
    }
    None
}
