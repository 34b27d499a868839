//! Selectors: which elements of the tree a rule of a style sheet is about.

use std::fmt;

use cssparser::{ParseError, Parser, ToCss, Token};
use precomputed_hash::PrecomputedHash;
use selectors::parser::{
    NonTSPseudoClass, ParseRelative, PseudoElement, SelectorImpl, SelectorList,
    SelectorParseErrorKind,
};

use super::value::{block, is_one_of};

/// The types that selectors are made of here: all of them are names.
#[derive(Clone, Debug)]
pub(super) struct Names;

/// A name or a value in a selector; of a pseudo-class or a pseudo-element in small letters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Name(Box<str>);

impl SelectorImpl for Names {
    type ExtraMatchingData<'a> = ();
    type AttrValue = Name;
    type Identifier = Name;
    type LocalName = Name;
    type NamespaceUrl = Name;
    type NamespacePrefix = Name;
    type BorrowedNamespaceUrl = Name;
    type BorrowedLocalName = Name;
    type NonTSPseudoClass = Name;
    type PseudoElement = Name;
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PrecomputedHash for Name {
    fn precomputed_hash(&self) -> u32 {
        // Only filters ask for it, and none is in use.
        0
    }
}

impl ToCss for Name {
    fn to_css<W: fmt::Write>(&self, dest: &mut W) -> fmt::Result {
        dest.write_str(&self.0)
    }
}

impl NonTSPseudoClass for Name {
    fn is_active_or_hover(&self) -> bool {
        false
    }

    fn is_user_action_state(&self) -> bool {
        is_one_of(NEVER, &self.0)
    }
}

impl PseudoElement for Name {
    fn accepts_state_pseudo_classes(&self) -> bool {
        true
    }

    fn is_before_or_after(&self) -> bool {
        matches!(&*self.0, "before" | "after")
    }
}

/// Selectors before a block, and what one step of matching them costs.
#[derive(Clone)]
pub(super) struct Selectors {
    pub(super) list: SelectorList<Names>,
    pub(super) price: usize,
}

impl Selectors {
    /// Parses a list; `around` are those of the rule that the block stands in. Nothing if a browser reads it in no
    /// other way, or if it is too much.
    pub(super) fn parse(text: &str, around: Option<&Self>) -> Option<Self> {
        let (longest, all) = tokens(&mut Parser::new(text));
        // Each `&` stands for all that is around.
        let outer =
            around.map_or(0, |it| it.price.saturating_mul(text.matches('&').count().max(1)));
        let relative = if around.is_some() { ParseRelative::ForNesting } else { ParseRelative::No };
        let mut parser = Parser::new(text);
        parser.set_nested_block_limit(NESTED_MAX);
        if longest > LONGEST_MAX {
            return None;
        }
        let parse = |it: &mut Parser<'_>| SelectorList::parse(&Grammar, it, relative);
        let list = parser.parse_entirely(parse).ok()?;
        let price = 1 + all / list.len().max(1) / TOKENS_OF_A_STEP + outer;
        let list = around.map(|it| list.replace_parent_selector(&it.list)).unwrap_or(list);
        (price <= PRICE_MAX).then_some(Self { list, price })
    }
}

/// How many tokens selectors have: the longest of a list, so deep matching may call itself; and all.
fn tokens(input: &mut Parser<'_>) -> (usize, usize) {
    let (mut longest, mut all, mut here) = (0_usize, 0_usize, 0_usize);
    while let Ok(token) = input.next() {
        here = if matches!(token, Token::Comma) { 0 } else { here + 1 };
        all += 1;
        if matches!(token, Token::Function(_)) {
            let inside = block(input, tokens).unwrap_or((LONGEST_MAX, 0));
            here = here.saturating_add(inside.0);
            all = all.saturating_add(inside.1);
        }
        longest = longest.max(here);
    }
    (longest, all)
}

/// What selectors may say.
struct Grammar;

/// Lists what is understood.
macro_rules! always {
    ($($name:ident),+) => { $(fn $name(&self) -> bool { true })+ };
}

type Parsed = Result<Name, ParseError<SelectorParseErrorKind>>;

impl<'i> selectors::Parser<'i> for Grammar {
    type Impl = Names;
    type Error = SelectorParseErrorKind;

    always! { parse_nth_child_of, parse_is_and_where, parse_has, parse_parent_selector }

    fn is_is_alias(&self, name: &str) -> bool {
        is_one_of("-webkit-any -moz-any matches", &name.to_ascii_lowercase())
    }

    fn parse_non_ts_pseudo_class(&self, name: &str) -> Parsed {
        known(name, &[TREE, ALWAYS, NEVER])
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        parser: &mut Parser<'i>,
        _after_part: bool,
    ) -> Parsed {
        while parser.next().is_ok() {}
        known(name, &["lang dir state active-view-transition-type"])
    }

    fn parse_pseudo_element(&self, name: &str) -> Parsed {
        Ok(name.to_ascii_lowercase().as_str().into())
    }

    fn parse_functional_pseudo_element(&self, name: &str, arguments: &mut Parser<'i>) -> Parsed {
        while arguments.next().is_ok() {}
        self.parse_pseudo_element(name)
    }
}

/// A name that stands in one of these lists.
fn known(name: &str, lists: &[&str]) -> Parsed {
    let name = name.to_ascii_lowercase();
    let unknown = SelectorParseErrorKind::UnsupportedPseudoClassOrElement;
    let known = lists.iter().any(|it| is_one_of(it, &name));
    if known { Ok(name.as_str().into()) } else { Err(ParseError::custom(unknown)) }
}

/// How deep brackets of a selector or of a sheet may stand in each other.
pub(super) const NESTED_MAX: u8 = 24;
/// Tokens of one selector: matching calls itself at most so deep.
const LONGEST_MAX: usize = 256;
/// Tokens that are looked at for one step's fuel, and the fuel that a step may cost.
const TOKENS_OF_A_STEP: usize = 16;
const PRICE_MAX: usize = 4096;
/// Pseudo-classes that tell of an element what the tree says.
const TREE: &str = "link any-link -webkit-any-link checked";
/// Those that hold for every element of a page.
pub(super) const ALWAYS: &str = "defined enabled optional read-only";
/// Those that hold for nothing as long as nobody touches the page.
const NEVER: &str = "hover active focus focus-within focus-visible visited target target-within indeterminate default \
    valid invalid in-range out-of-range required disabled open read-write placeholder-shown autofill -webkit-autofill \
    modal popover-open fullscreen -webkit-full-screen paused playing user-valid user-invalid current past future \
    local-link picture-in-picture muted seeking stalled buffering";
