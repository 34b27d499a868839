//! Attributes in selectors: what one must be.

use super::css::Part;

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) compare: Compare,
    pub(super) value: String,
    pub(super) any_case: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Exists,
    Is,
    Word,
    Dash,
    Starts,
    Ends,
    Holds,
}

/// `name`, `name=value`, `name^="value" i`.
pub(super) fn attribute(parts: &[Part<'_>]) -> Option<Attribute> {
    let mut rest = parts.iter().filter(|it| !it.is_space()).peekable();
    // A namespace of any kind is none.
    if rest.peek()?.is('*') || rest.peek()?.is('|') {
        rest.next();
        rest.next_if(|it| it.is('|'));
    }
    let name = rest.next()?.word()?.to_ascii_lowercase();
    let old = OLD_ATTRIBUTES.contains(&name.as_str());
    let Some(sign) = rest.next() else {
        return Some(Attribute {
            name,
            compare: Compare::Exists,
            value: String::new(),
            any_case: old,
        });
    };
    let compare = match sign.sign()? {
        '=' => Compare::Is,
        '~' => Compare::Word,
        '|' => Compare::Dash,
        '^' => Compare::Starts,
        '$' => Compare::Ends,
        '*' => Compare::Holds,
        _ => return None,
    };
    if compare != Compare::Is && !rest.next()?.is('=') {
        return None;
    }
    let value = rest.next()?;
    let value = value.word().or_else(|| value.text())?.to_owned();
    let any_case = match rest.next() {
        None => old,
        Some(it) if it.is_word("i") => true,
        Some(it) if it.is_word("s") => false,
        Some(_) => return None,
    };
    rest.next().is_none().then_some(Attribute { name, compare, value, any_case })
}

/// Attributes whose values browsers compare in any case.
const OLD_ATTRIBUTES: &[&str] = &[
    "accept",
    "accept-charset",
    "align",
    "alink",
    "axis",
    "bgcolor",
    "charset",
    "checked",
    "clear",
    "codetype",
    "color",
    "compact",
    "declare",
    "defer",
    "dir",
    "direction",
    "disabled",
    "enctype",
    "face",
    "frame",
    "hreflang",
    "http-equiv",
    "lang",
    "language",
    "link",
    "media",
    "method",
    "multiple",
    "nohref",
    "noresize",
    "noshade",
    "nowrap",
    "readonly",
    "rel",
    "rev",
    "rules",
    "scope",
    "scrolling",
    "selected",
    "shape",
    "target",
    "text",
    "type",
    "valign",
    "valuetype",
    "vlink",
];
