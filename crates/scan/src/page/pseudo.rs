//! Pseudo-classes and pseudo-elements: what they ask of an element.

use std::rc::Rc;

use super::css::{Part, Token, inside};
use super::selector::{List, Specificity};

#[derive(Debug)]
pub(super) enum Pseudo {
    /// One of these selects it.
    Is(Rc<List>),
    /// The same, but it adds nothing to the rank.
    Where(Rc<List>),
    Not(Rc<List>),
    /// Not as long as nobody touches the page, or not the text of the element itself.
    Never,
    /// Not the element, but a box before or after what is in it.
    Generated,
    /// It depends on what is not known here.
    Unknown,
    /// Not even that is known, whether browsers know it.
    Doubtful,
    Root,
    /// What the styles around are for: an element, or the root.
    Scope,
    /// One of these selects something that stands so to it.
    Has(Rc<List>),
    /// That to which it stands so.
    Anchor,
    /// The place among those that one of these selects.
    NthOf(Nth, Rc<List>),
    /// The element that has the shadow tree of these styles, if one of these selects it.
    Host(Option<Rc<List>>),
    /// The same, if something around it is what is not looked at.
    HostMaybe,
    /// Not the slot, but what one of these selects and stands in it.
    Slotted(Rc<List>),
    /// Not the element, but what has these names in its shadow tree.
    Part(Vec<String>),
    Empty,
    Link,
    Checked,
    Open,
    Disabled(bool),
    Nth(Nth),
}

/// The place among the children of the parent: `step` times something plus `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nth {
    pub(super) step: i64,
    pub(super) start: i64,
    pub(super) from_end: bool,
    pub(super) of_type: bool,
    /// Both the first and the last.
    pub(super) only: bool,
}

impl Nth {
    pub(super) fn is_at(self, at: u32) -> bool {
        let past = i64::from(at) - self.start;
        match self.step {
            0 => past == 0,
            step => past % step == 0 && past / step >= 0,
        }
    }
}

impl Pseudo {
    /// Lists too deep within each other are not looked into.
    pub(super) fn is(list: Rc<List>) -> Self {
        if list.depth < DEPTH_MAX { Self::Is(list) } else { Self::Unknown }
    }

    pub(super) fn is_doubtful(&self) -> bool {
        match self {
            Self::Doubtful => true,
            Self::Not(list) => list.doubtful,
            Self::Is(_)
            | Self::Where(_)
            | Self::Never
            | Self::Generated
            | Self::Unknown
            | Self::Root
            | Self::Scope
            | Self::Has(_)
            | Self::Anchor
            | Self::NthOf(..)
            | Self::Host(_)
            | Self::HostMaybe
            | Self::Slotted(_)
            | Self::Part(_)
            | Self::Empty
            | Self::Link
            | Self::Checked
            | Self::Open
            | Self::Disabled(_)
            | Self::Nth(_) => false,
        }
    }

    pub(super) fn is_host(&self) -> bool {
        matches!(self, Self::Host(_) | Self::HostMaybe)
    }

    pub(super) fn depth(&self) -> usize {
        self.list().map_or(0, |it| it.depth)
    }

    fn list(&self) -> Option<&List> {
        match self {
            Self::Is(list)
            | Self::Where(list)
            | Self::Not(list)
            | Self::Has(list)
            | Self::NthOf(_, list)
            | Self::Slotted(list) => Some(list),
            Self::Host(list) => list.as_deref(),
            Self::Never
            | Self::Generated
            | Self::Unknown
            | Self::Doubtful
            | Self::Root
            | Self::Scope
            | Self::Anchor
            | Self::HostMaybe
            | Self::Part(_)
            | Self::Empty
            | Self::Link
            | Self::Checked
            | Self::Open
            | Self::Disabled(_)
            | Self::Nth(_) => None,
        }
    }

    pub(super) fn specificity(&self) -> Specificity {
        match self {
            Self::Where(_) => (0, 0, 0),
            Self::Is(list) | Self::Not(list) | Self::Has(list) => list.specificity(),
            Self::Anchor => (0, 0, 0),
            Self::Slotted(list) | Self::Host(Some(list)) | Self::NthOf(_, list) => {
                let (ids, classes, names) = list.specificity();
                (ids, classes + 1, names)
            }
            Self::Never
            | Self::Generated
            | Self::Unknown
            | Self::Doubtful
            | Self::Root
            | Self::Scope
            | Self::Host(None)
            | Self::HostMaybe
            | Self::Part(_)
            | Self::Empty
            | Self::Link
            | Self::Checked
            | Self::Open
            | Self::Disabled(_)
            | Self::Nth(_) => (0, 1, 0),
        }
    }
}

/// `:name` or `:name(…)`; nothing for what breaks the selector.
pub(super) fn pseudo_class(one: &[Part<'_>], outer: Option<&Rc<List>>) -> Option<Pseudo> {
    let first = one.first()?;
    match first.word() {
        Some(name) => Some(plain(&name.to_ascii_lowercase())),
        None => called(&first.call()?.to_ascii_lowercase(), inside(one), outer),
    }
}

fn plain(name: &str) -> Pseudo {
    let nth =
        |from_end, of_type, only| Pseudo::Nth(Nth { step: 0, start: 1, from_end, of_type, only });
    match name {
        "root" => Pseudo::Root,
        "scope" => Pseudo::Scope,
        "host" => Pseudo::Host(None),
        "empty" => Pseudo::Empty,
        "link" | "any-link" | "-webkit-any-link" | "-moz-any-link" => Pseudo::Link,
        "checked" => Pseudo::Checked,
        "open" => Pseudo::Open,
        "disabled" => Pseudo::Disabled(true),
        "enabled" => Pseudo::Disabled(false),
        "first-child" => nth(false, false, false),
        "last-child" => nth(true, false, false),
        "only-child" => nth(false, false, true),
        "first-of-type" => nth(false, true, false),
        "last-of-type" => nth(true, true, false),
        "only-of-type" => nth(false, true, true),
        "first-line" => Pseudo::Unknown,
        "before" | "after" => Pseudo::Generated,
        _ if NEVER.contains(&name) => Pseudo::Never,
        _ if UNKNOWN.contains(&name) => Pseudo::Unknown,
        _ => Pseudo::Doubtful,
    }
}

fn called(name: &str, parts: &[Part<'_>], outer: Option<&Rc<List>>) -> Option<Pseudo> {
    let place = |from_end, of_type| nth(parts, from_end, of_type);
    match name {
        "is" | "matches" | "-webkit-any" | "-moz-any" => {
            Some(Pseudo::is(Rc::new(List::parse_forgiving(parts, inner(parts, outer)))))
        }
        "where" => {
            let list = Rc::new(List::parse_forgiving(parts, inner(parts, outer)));
            Some(if list.depth < DEPTH_MAX { Pseudo::Where(list) } else { Pseudo::Unknown })
        }
        "not" => {
            let list = Rc::new(List::parse(parts, inner(parts, outer))?);
            Some(if list.depth < DEPTH_MAX { Pseudo::Not(list) } else { Pseudo::Unknown })
        }
        "nth-child" => place(false, false),
        "nth-last-child" => place(true, false),
        "nth-of-type" => place(false, true),
        "nth-last-of-type" => place(true, true),
        "host" => {
            let list = Rc::new(List::parse(parts, None)?);
            Some(if list.depth < DEPTH_MAX { Pseudo::Host(Some(list)) } else { Pseudo::HostMaybe })
        }
        "host-context" => Some(Pseudo::HostMaybe),
        "has" if !parts.iter().any(|it| it.is('&')) => {
            let list = Rc::new(List::parse(parts, Some(&Rc::new(List::anchor())))?);
            Some(if list.depth < DEPTH_MAX { Pseudo::Has(list) } else { Pseudo::Unknown })
        }
        "has" | "lang" | "dir" | "heading" => Some(Pseudo::Unknown),
        "state" | "active-view-transition-type" => Some(Pseudo::Never),
        _ => Some(Pseudo::Doubtful),
    }
}

/// In brackets nothing is nested unless `&` says so.
fn inner<'o>(parts: &[Part<'_>], outer: Option<&'o Rc<List>>) -> Option<&'o Rc<List>> {
    outer.filter(|_| parts.iter().any(|it| it.is('&')))
}

/// `::name`. What it says is not said of the text of the element, but for the first line of it.
pub(super) fn pseudo_element(one: &[Part<'_>]) -> Option<Pseudo> {
    let first = one.first()?;
    let name = first.word().or_else(|| first.call())?.to_ascii_lowercase();
    Some(match name.as_str() {
        "slotted" => {
            let list = Rc::new(List::parse(inside(one), None)?);
            if list.depth < DEPTH_MAX { Pseudo::Slotted(list) } else { Pseudo::Never }
        }
        "part" => {
            Pseudo::Part(inside(one).iter().filter_map(Part::word).map(str::to_owned).collect())
        }
        "first-line" | "details-content" => Pseudo::Unknown,
        "before" | "after" => Pseudo::Generated,
        _ if name.starts_with("-webkit-") || ELEMENTS.contains(&name.as_str()) => Pseudo::Never,
        _ => Pseudo::Doubtful,
    })
}

/// `2n+1`, `odd`, `-n + 3`, `4`.
fn nth(parts: &[Part<'_>], from_end: bool, of_type: bool) -> Option<Pseudo> {
    let of = parts.iter().position(|it| it.is_word("of"));
    let (parts, others) = parts.split_at_checked(of.unwrap_or(parts.len()))?;
    let mut text = String::new();
    for part in parts {
        match &part.token {
            Token::Space => {}
            Token::Word(word) => text.push_str(word),
            Token::Number(value) => text.push_str(&format!("{value:+}")),
            Token::Length(value, unit) => text.push_str(&format!("{value}{unit}")),
            Token::Sign(sign @ ('+' | '-')) => text.push(*sign),
            Token::Call(_)
            | Token::At(_)
            | Token::Hash(..)
            | Token::Text(_)
            | Token::Url(_)
            | Token::Broken
            | Token::Share(_)
            | Token::Mark
            | Token::Sign(_) => return None,
        }
    }
    let text = text.to_ascii_lowercase().replace("++", "+").replace("-+", "-");
    let number = |it: &str| match it {
        "" | "+" => Some(1),
        "-" => Some(-1),
        _ => it.parse::<i64>().ok(),
    };
    let (step, start) = match text.as_str() {
        "odd" => (2, 1),
        "even" => (2, 0),
        _ => match text.split_once('n') {
            Some((step, "")) => (number(step)?, 0),
            Some((step, start)) => (number(step)?, start.parse().ok()?),
            None => (0, text.parse().ok()?),
        },
    };
    let nth = Nth { step, start, from_end, of_type, only: false };
    if others.is_empty() {
        return Some(Pseudo::Nth(nth));
    }
    let list = Rc::new(List::parse(others.get(1..)?, None)?);
    Some(if list.depth < DEPTH_MAX { Pseudo::NthOf(nth, list) } else { Pseudo::Unknown })
}

/// What holds only once somebody does something.
const NEVER: &[&str] = &[
    "hover",
    "active",
    "focus",
    "focus-visible",
    "focus-within",
    "visited",
    "local-link",
    "target",
    "target-within",
    "target-current",
    "fullscreen",
    "-webkit-full-screen",
    "-moz-full-screen",
    "modal",
    "picture-in-picture",
    "popover-open",
    "autofill",
    "-webkit-autofill",
    "user-valid",
    "user-invalid",
    "playing",
    "paused",
    "seeking",
    "buffering",
    "stalled",
    "muted",
    "volume-locked",
    "current",
    "past",
    "future",
    "-moz-focusring",
    "first-letter",
    "active-view-transition",
];

/// What browsers know and what cannot be known here.
const UNKNOWN: &[&str] = &[
    "default",
    "indeterminate",
    "valid",
    "invalid",
    "in-range",
    "out-of-range",
    "required",
    "optional",
    "read-only",
    "read-write",
    "placeholder-shown",
    "defined",
    "first",
    "left",
    "right",
    "blank",
    "has-slotted",
];

/// Pseudo-elements that all browsers know.
const ELEMENTS: &[&str] = &[
    "marker",
    "placeholder",
    "selection",
    "backdrop",
    "cue",
    "cue-region",
    "file-selector-button",
    "first-letter",
    "target-text",
    "highlight",
    "spelling-error",
    "grammar-error",
    "view-transition",
    "view-transition-group",
    "view-transition-image-pair",
    "view-transition-new",
    "view-transition-old",
];

/// Lists of selectors within lists of selectors.
const DEPTH_MAX: usize = 16;
