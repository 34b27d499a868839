//! Reads the text of style sheets into rules.

use cssparser::{
    AtRuleParser, BasicParseError, CowRcStr, DeclarationParser, Delimiter, ParseError, Parser,
    ParserState, QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token,
    parse_important,
};

use super::condition::{Sure, media, supports};
use super::property::Property;
use super::selector::{NESTED_MAX, Selectors};
use super::sheet::{Block, Rule, Sheet};
use super::value::block;

/// Adds the rules of a style sheet; `doubtful` if it cannot be known whether it holds.
pub(super) fn read_sheet(sheet: &mut Sheet, text: &str, doubtful: bool) {
    let of = Origin { doubtful, ..Origin::default() };
    Reader { sheet, of, block: Block::default() }.sheet(text);
}

/// Adds the rules that browsers have of their own.
pub(super) fn read_browser_sheet(sheet: &mut Sheet) {
    let of = Origin { of_browser: true, ..Origin::default() };
    Reader { sheet, of, block: Block::default() }.sheet(BROWSER);
}

/// The declarations of a `style` attribute.
pub(super) fn read_style(text: &str) -> Block {
    let mut sheet = Sheet::default();
    let of = Origin { within: Some(Within::Declarations), ..Origin::default() };
    let mut reader = Reader { sheet: &mut sheet, of, block: Block::default() };
    reader.body(&mut Parser::new(text));
    reader.block
}

/// What stands around a rule.
#[derive(Clone, Default)]
struct Origin {
    within: Option<Within>,
    layer: Option<usize>,
    doubtful: bool,
    of_browser: bool,
    /// How many rules and imports stand around it.
    depth: usize,
}

/// The block that is read.
#[derive(Clone)]
enum Within {
    /// Of a rule for these elements.
    Rule(Selectors),
    /// `@scope` of these elements.
    Scope(Selectors),
    /// `@keyframes`.
    Animation(String),
    /// Declarations alone.
    Declarations,
}

struct Reader<'s> {
    sheet: &'s mut Sheet,
    of: Origin,
    block: Block,
}

/// What stands before a block.
enum Prelude {
    Selectors(Selectors),
    /// A step of an animation; is it the last one?
    Step(bool),
}

type Failed = ParseError<()>;

impl Reader<'_> {
    fn sheet(&mut self, text: &str) {
        let mut input = Parser::new(text);
        input.set_nested_block_limit(NESTED_MAX);
        for _ in StyleSheetParser::new(&mut input, self) {}
    }

    fn body(&mut self, input: &mut Parser<'_>) {
        for _ in RuleBodyParser::new(input, self) {}
    }

    /// Reads a block within this one, and adds what it declares.
    fn inside(&mut self, of: Origin, input: &mut Parser<'_>) -> Block {
        self.sheet.begun += 1;
        let order = self.sheet.begun;
        let mut reader = Reader { sheet: &mut *self.sheet, of, block: Block::default() };
        reader.body(input);
        let (block, of) = (reader.block, reader.of);
        if let Some(Within::Rule(list)) = &of.within
            && block.len() > 0
        {
            let Origin { layer, doubtful, of_browser, .. } = of;
            self.sheet.add(list, Rule { block: block.clone(), layer, doubtful, of_browser, order });
        }
        block
    }

    fn import(&mut self, prelude: &str) {
        let mut input = Parser::new(prelude);
        let Ok(address) = input.expect_url_or_string() else { return };
        let Some(text) = of_data(&address).filter(|_| self.of.depth < IMPORTS_MAX) else { return };
        let doubtful = self.of.doubtful || !input.is_exhausted();
        let of = Origin { doubtful, depth: self.of.depth + 1, ..self.of.clone() };
        Reader { sheet: &mut *self.sheet, of, block: Block::default() }.sheet(&text);
    }
}

impl<'i> QualifiedRuleParser<'i> for Reader<'_> {
    type Prelude = Prelude;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Prelude, Failed> {
        let text = rest(input);
        if let Some(Within::Animation(_)) = self.of.within {
            let is_last =
                |it: &str| matches!(it.trim().to_ascii_lowercase().as_str(), "to" | "100%");
            return Ok(Prelude::Step(text.split(',').any(is_last)));
        }
        let around = match &self.of.within {
            Some(Within::Rule(list) | Within::Scope(list)) => Some(list),
            Some(Within::Animation(_) | Within::Declarations) | None => None,
        };
        let scoped = matches!(self.of.within, Some(Within::Scope(_)));
        let text = if scoped { text.replace(":scope", "&") } else { text.to_owned() };
        let list = Selectors::parse(&text, around);
        list.map(Prelude::Selectors).ok_or_else(ParseError::unexpected_token)
    }

    fn parse_block(
        &mut self,
        prelude: Prelude,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), Failed> {
        let depth = self.of.depth + 1;
        if depth > RULES_DEEP_MAX {
            self.sheet.cut = true;
            return Ok(());
        }
        match prelude {
            Prelude::Selectors(list) => {
                let of = Origin { within: Some(Within::Rule(list)), depth, ..self.of.clone() };
                self.inside(of, input);
            }
            Prelude::Step(is_last) => {
                let of = Origin { within: Some(Within::Declarations), depth, ..self.of.clone() };
                let block = self.inside(of, input);
                let shows = block.normal.iter().any(|(property, value)| {
                    matches!(property, Property::Opacity | Property::Visibility)
                        && !value.hides(*property)
                });
                if let Some(Within::Animation(name)) = &self.of.within
                    && is_last
                {
                    self.sheet.animations.insert(name.clone(), shows && !self.of.doubtful);
                }
            }
        }
        Ok(())
    }
}

impl<'i> AtRuleParser<'i> for Reader<'_> {
    type Prelude = (String, &'i str);
    type AtRule = ();
    type Error = ();

    fn parse_prelude(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
    ) -> Result<(String, &'i str), Failed> {
        Ok((name.to_ascii_lowercase(), rest(input)))
    }

    fn rule_without_block(
        &mut self,
        (name, prelude): (String, &'i str),
        _: &ParserState,
    ) -> Result<(), ()> {
        match name.as_str() {
            "layer" => prelude.split(',').for_each(|it| {
                self.sheet.layer(it, self.of.layer);
            }),
            "import" => self.import(prelude),
            _ => {}
        }
        Ok(())
    }

    fn parse_block(
        &mut self,
        (name, prelude): (String, &'i str),
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), Failed> {
        let mut of = Origin { depth: self.of.depth + 1, ..self.of.clone() };
        if of.depth > RULES_DEEP_MAX {
            self.sheet.cut = true;
            return Ok(());
        }
        let sure = match name.as_str() {
            "media" => media(prelude),
            "supports" => supports(prelude),
            "container" => Sure::Maybe,
            "layer" => {
                of.layer = self.sheet.layer(prelude, of.layer);
                Sure::Yes
            }
            "scope" => {
                let mut input = Parser::new(prelude);
                let start = input.try_parse(|it| {
                    it.expect_parenthesis_block()?;
                    block(it, |it| rest(it).to_owned())
                        .ok_or_else(BasicParseError::unexpected_token)
                });
                let list = start.ok().and_then(|it| Selectors::parse(&it, None));
                let known = list.is_some() && input.is_exhausted();
                of.within = list.map(Within::Scope).or(of.within);
                if known { Sure::Yes } else { Sure::Maybe }
            }
            _ if name.ends_with("keyframes") => {
                of.within = Some(Within::Animation(prelude.trim().to_ascii_lowercase()));
                Sure::Yes
            }
            _ => Sure::No,
        };
        of.doubtful |= sure == Sure::Maybe;
        if sure > Sure::No {
            self.inside(of, input);
        }
        Ok(())
    }
}

impl<'i> DeclarationParser<'i> for Reader<'_> {
    type Declaration = ();
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _: &ParserState,
    ) -> Result<(), Failed> {
        let custom = name.starts_with("--");
        let text = input.parse_until_before(Delimiter::Bang, |it| {
            let start = it.position();
            while let Ok(token) = it.next() {
                let bad =
                    token.is_parse_error() || matches!(token, Token::CurlyBracketBlock) && !custom;
                if bad {
                    return Err(ParseError::unexpected_token());
                }
            }
            Ok::<_, Failed>(it.slice_from(start))
        })?;
        let important = input.try_parse(parse_important).is_ok();
        input.expect_exhausted()?;
        self.block.declare(&name, text, important);
        Ok(())
    }
}

impl RuleBodyItemParser<'_, (), ()> for Reader<'_> {
    fn parse_declarations(&self) -> bool {
        matches!(self.of.within, Some(Within::Rule(_) | Within::Declarations))
    }

    fn parse_qualified(&self) -> bool {
        !matches!(self.of.within, Some(Within::Declarations))
    }
}

/// What is left, as it stands.
fn rest<'i>(input: &mut Parser<'i>) -> &'i str {
    let start = input.position();
    while input.next().is_ok() {}
    input.slice_from(start)
}

/// The style sheet in an address such as `data:text/css,…`.
pub(super) fn of_data(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once(':')?;
    let (kind, text) = rest.split_once(',')?;
    let kind = kind.to_ascii_lowercase();
    (scheme.eq_ignore_ascii_case("data") && kind.starts_with("text/css")).then_some(())?;
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |it: &u8| char::from(*it).to_digit(16);
        let code = match (first, after) {
            (b'%', [high, low, ..]) => hex(high).zip(hex(low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
        bytes.push(code.and_then(|it| u8::try_from(it).ok()).unwrap_or(*first));
    }
    if kind.ends_with(";base64") {
        bytes.retain(|it| !it.is_ascii_whitespace() && *it != b'=');
        bytes = data_encoding::BASE64_NOPAD.decode(&bytes).ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Of the styles that browsers bring along, those that matter here.
const BROWSER: &str = "
    [hidden], datalist, rp, dialog:not([open]), [popover]:not(dialog[open]) { display: none }
    button, input, select, textarea, option { color: #000; background-color: #eee; text-indent: 0 }
    button, input, select, textarea { font-size: 13px; letter-spacing: normal }
    mark { color: #000; background-color: #ff0 }
    input[type=image] { background-color: transparent }
";

/// Rules within rules.
const RULES_DEEP_MAX: usize = 12;
/// Style sheets in addresses within each other.
const IMPORTS_MAX: usize = 3;
