//! Text that people do not see: invisible characters, comments, styles.

use super::{Category, Finding};

/// Tag characters that spell something.
const TAGS_MIN: usize = 4;
/// Invisible characters inside of words that are more than a slip.
const INVISIBLE_MIN: usize = 8;
/// How long a comment or a hidden element is believed to be, in bytes.
const HIDDEN_BYTES_MAX: usize = 4096;

/// The weight from which on a finding counts as an order here.
const ORDERS_FROM: f64 = 0.4;

/// Adds what is hidden in `text`. Orders that were found in hidden places weigh more.
pub(super) fn find(text: &str, findings: &mut Vec<Finding>) {
    if !text.is_ascii() {
        characters(text, findings);
    }
    let order = |it: &&Finding| it.category != Category::Hidden && it.weight >= ORDERS_FROM;
    let mut orders: Vec<_> = findings.iter().filter(order).map(|it| (it.start, it.end)).collect();
    if orders.is_empty() {
        return;
    }
    orders.sort_unstable();
    findings.extend(MARKS.iter().filter_map(|it| orders_within(text.as_bytes(), it, &orders)));
}

fn characters(text: &str, findings: &mut Vec<Finding>) {
    let mut tags = Run::default();
    let mut turns = Run::default();
    let mut joined = Run::default();
    let mut before = ' ';
    for (at, found) in text.char_indices() {
        let end = at + found.len_utf8();
        match found {
            '\u{e0020}'..='\u{e007e}' => tags.see(at, end),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => turns.see(at, end),
            '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' if before.is_alphanumeric() => {
                joined.see(at, end);
            }
            _ => {}
        }
        before = found;
    }
    // A flag of England is an emoji and five tags; text is longer than any flag.
    tags.report(TAGS_MIN + 4, "tag_characters", 0.9, findings);
    turns.report(1, "direction_override", 0.2, findings);
    joined.report(INVISIBLE_MIN, "invisible_characters", 0.3, findings);
}

/// How often something was seen, and where.
#[derive(Default)]
struct Run {
    count: usize,
    start: Option<usize>,
    end: usize,
}

impl Run {
    fn see(&mut self, at: usize, end: usize) {
        self.count += 1;
        self.start.get_or_insert(at);
        self.end = end;
    }

    fn report(&self, least: usize, rule: &'static str, weight: f64, findings: &mut Vec<Finding>) {
        if let Some(start) = self.start
            && self.count >= least
        {
            let (category, end) = (Category::Hidden, self.end);
            findings.push(Finding { rule, category, start, end, weight });
        }
    }
}

/// What begins text that a browser does not show, and what ends it.
struct Mark {
    rule: &'static str,
    begin: &'static str,
    end: &'static str,
}

const MARKS: &[Mark] = &[
    Mark { rule: "orders_in_comment", begin: "<!--", end: "-->" },
    Mark { rule: "orders_in_hidden_element", begin: "display:none", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "display: none", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "visibility:hidden", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "font-size:0", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "font-size: 0", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "font-size:1px", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "opacity:0", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "opacity: 0", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "color:white", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "color: white", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "color:#fff", end: "</" },
    Mark { rule: "orders_in_hidden_element", begin: "color: #fff", end: "</" },
];

/// The first passage between such marks that holds one of the orders.
fn orders_within(text: &[u8], mark: &Mark, orders: &[(usize, usize)]) -> Option<Finding> {
    let begin = memchr::memmem::Finder::new(mark.begin);
    let finish = memchr::memmem::Finder::new(mark.end);
    let mut from = 0;
    while let Some(at) = begin.find(text.get(from..)?) {
        let start = from + at;
        let inner = start + mark.begin.len();
        let limit = text.len().min(inner + HIDDEN_BYTES_MAX);
        let end = finish.find(text.get(inner..limit)?).map_or(limit, |it| inner + it);
        let first = orders.partition_point(|it| it.0 < inner);
        if orders.get(first).is_some_and(|it| it.1 <= end) {
            let (rule, category) = (mark.rule, Category::Hidden);
            return Some(Finding { rule, category, start, end, weight: 0.5 });
        }
        from = end.max(inner);
    }
    None
}
