//! Reads the style sheets that stand in a page: tolerant, linear, and only for what can hide text.

use std::collections::HashMap;
use std::rc::Rc;

use super::declare::{Declaration, Said, declarations, split, uncomment};
use super::selector::{Key, Selector};

/// The rules of a page that matter, by what they are looked up with.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) rules: Vec<Rule>,
    pub(super) by_key: HashMap<Key, Vec<usize>>,
    /// A background may be set that is not seen here: by a file, or by a selector that is not understood.
    pub(super) unseen_backgrounds: bool,
    /// There were more rules than are kept.
    pub(super) cut: bool,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) selector: Selector,
    pub(super) declarations: Rc<[Declaration]>,
}

/// What a `{` opened.
struct Frame {
    applies: bool,
    /// The selectors of a rule; `None` for a condition around rules.
    selectors: Option<Rc<[String]>>,
    /// Rules around this one.
    depth: usize,
    declarations: Vec<Declaration>,
}

impl Sheet {
    /// Adds the text of one `<style>`.
    pub(super) fn add(&mut self, text: &str) {
        let text = uncomment(text);
        let mut rest = text.as_str();
        let mut open: Vec<Frame> = Vec::new();
        while !rest.is_empty() {
            let (part, sign, after) = next(rest);
            rest = after;
            let part = part.trim().trim_start_matches("<!--").trim_start_matches("-->").trim();
            match sign {
                Some('{') if skipped(part) => rest = behind_block(rest),
                Some('{') => {
                    let frame = self.opened(part, open.last());
                    open.push(frame);
                }
                _ => {
                    match open.last_mut() {
                        Some(frame) if frame.selectors.is_some() => {
                            frame.declarations.extend(declarations(part));
                        }
                        Some(_) | None => self.unseen_backgrounds |= part.starts_with("@import"),
                    }
                    if sign != Some(';')
                        && let Some(frame) = open.pop()
                    {
                        self.close(frame);
                    }
                }
            }
        }
        while let Some(frame) = open.pop() {
            self.close(frame);
        }
    }

    fn opened(&mut self, prelude: &str, parent: Option<&Frame>) -> Frame {
        let outer = parent.and_then(|it| it.selectors.clone());
        let within = parent.is_none_or(|it| it.applies);
        let depth = parent.map_or(0, |it| it.depth);
        if prelude.starts_with('@') {
            let applies = within && applies(prelude);
            return Frame { applies, selectors: outer, depth, declarations: Vec::new() };
        }
        let mut selectors: Vec<String> = Vec::new();
        for own in split(prelude, ',').map(str::trim) {
            let Some(outer) = &outer else {
                selectors.push(own.to_owned());
                continue;
            };
            selectors.extend(outer.iter().take(NESTED_MAX).map(|it| nested(it, own)));
            let long = selectors.last().is_some_and(|it| it.len() > NESTED_BYTES_MAX);
            if long || selectors.len() > NESTED_MAX || depth > NESTED_DEPTH_MAX {
                self.cut = true;
                selectors.clear();
                break;
            }
        }
        let selectors = Some(selectors.into());
        Frame { applies: within, selectors, depth: depth + 1, declarations: Vec::new() }
    }

    fn close(&mut self, frame: Frame) {
        let Some(selectors) = frame.selectors.filter(|_| frame.applies) else { return };
        if frame.declarations.is_empty() {
            return;
        }
        let paints = frame.declarations.iter().any(|it| matches!(it.said, Said::Background(_)));
        let declarations: Rc<[Declaration]> = frame.declarations.into();
        for text in selectors.iter() {
            let Some(selector) = Selector::parse(text) else {
                self.unseen_backgrounds |= paints;
                continue;
            };
            if self.rules.len() >= RULES_MAX {
                self.cut = true;
                return;
            }
            self.by_key.entry(selector.key()).or_default().push(self.rules.len());
            self.rules.push(Rule { selector, declarations: Rc::clone(&declarations) });
        }
    }
}

/// What stands before the next `{`, `}` or `;`, that sign, and the rest.
fn next(text: &str) -> (&str, Option<char>, &str) {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, it) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (quote, it) {
            (_, '\\') => escaped = true,
            (Some(open), _) if it == open || it == '\n' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(it),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, '{' | '}') => return cut(text, at, it),
            (None, ';') if depth == 0 => return cut(text, at, it),
            (None, _) => {}
        }
    }
    (text, None, "")
}

fn cut(text: &str, at: usize, sign: char) -> (&str, Option<char>, &str) {
    let (part, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    (part, Some(sign), rest.strip_prefix(sign).unwrap_or_default())
}

/// Blocks that hold no rules for elements.
fn skipped(prelude: &str) -> bool {
    let lower = prelude.to_ascii_lowercase();
    [
        "@font-",
        "@keyframes",
        "@-webkit-keyframes",
        "@-moz-keyframes",
        "@-o-keyframes",
        "@page",
        "@property",
        "@counter-style",
        "@view-transition",
    ]
    .iter()
    .any(|it| lower.starts_with(it))
}

fn behind_block(text: &str) -> &str {
    let mut depth = 1_usize;
    let mut rest = text;
    while !rest.is_empty() && depth > 0 {
        let (_, sign, after) = next(rest);
        match sign {
            Some('{') => depth += 1,
            Some('}') => depth -= 1,
            Some(_) | None => {}
        }
        rest = after;
    }
    rest
}

/// Does what stands under this condition hold on an ordinary screen? What is not understood is taken to
/// hold: text that may be hidden is not shown.
fn applies(prelude: &str) -> bool {
    let lower = prelude.to_ascii_lowercase();
    let Some(queries) = lower.strip_prefix("@media") else {
        return !lower.trim_start_matches("@supports").trim_start().starts_with("not");
    };
    media(queries)
}

/// Does a list of media queries hold on an ordinary screen?
pub(super) fn media(queries: &str) -> bool {
    split(queries, ',').any(|query| {
        let query = query.trim();
        let (query, turned) = match query.strip_prefix("not ") {
            Some(query) => (query, true),
            None => (query, false),
        };
        query.split(" and ").all(holds) != turned
    })
}

fn holds(condition: &str) -> bool {
    let condition = condition.trim().trim_start_matches("only ").trim();
    let Some(inside) = condition.strip_prefix('(').map(|it| it.trim_end_matches(')')) else {
        return ![
            "print",
            "speech",
            "aural",
            "braille",
            "embossed",
            "tty",
            "tv",
            "projection",
            "handheld",
        ]
        .contains(&condition);
    };
    let (feature, value) = inside.split_once(':').unwrap_or((inside, ""));
    let (feature, value) = (feature.trim(), value.trim());
    let pixels = |factor: f64, unit| {
        value.strip_suffix(unit).and_then(|it| it.trim().parse::<f64>().ok()).map(|it| it * factor)
    };
    let width = pixels(1.0, "px").or_else(|| pixels(16.0, "rem")).or_else(|| pixels(16.0, "em"));
    match feature {
        "max-width" | "max-device-width" => width.is_none_or(|it| it >= SCREEN_PIXELS),
        "min-width" | "min-device-width" => width.is_none_or(|it| it <= SCREEN_PIXELS),
        _ => !UNLIKELY.contains(&(feature, value)),
    }
}

/// `own` inside a rule for `outer`.
fn nested(outer: &str, own: &str) -> String {
    if own.contains('&') { own.replace('&', outer) } else { format!("{outer} {own}") }
}

/// What an ordinary screen does not say of itself.
const UNLIKELY: &[(&str, &str)] = &[
    ("prefers-color-scheme", "dark"),
    ("prefers-reduced-motion", "reduce"),
    ("prefers-contrast", "more"),
    ("forced-colors", "active"),
    ("hover", "none"),
    ("any-hover", "none"),
    ("pointer", "coarse"),
    ("orientation", "portrait"),
    ("scripting", "none"),
    ("display-mode", "standalone"),
];

/// How wide an ordinary screen is.
const SCREEN_PIXELS: f64 = 1280.0;
/// Selectors that rules within rules may come to.
const NESTED_MAX: usize = 64;
/// How long such a selector may get, in bytes.
const NESTED_BYTES_MAX: usize = 512;
/// Rules within rules within rules.
const NESTED_DEPTH_MAX: usize = 8;
/// Rules of a page that say something about what is seen.
const RULES_MAX: usize = 50_000;
