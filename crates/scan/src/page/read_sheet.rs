//! Reads the text of style sheets into rules.

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, Delimiter, ParseError, Parser, ParserState,
    QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, StyleSheetParser, Token,
    parse_important,
};

use super::condition::{Sure, media, supports};
use super::selector::{NESTED_MAX, Selectors};
use super::sheet::{Block, Declared, Rule, Sheet};
use super::style::closed;
use super::value::rest;

/// Adds the rules of a style sheet; `doubtful` if it cannot be known whether it holds.
pub(super) fn read_sheet(sheet: &mut Sheet, text: &str, doubtful: bool) {
    // The browser's own comes before all others.
    let of_browser = sheet.begun == 0;
    let of = Origin { doubtful, of_browser, ..Origin::default() };
    Reader { sheet, of, block: Block::default() }.sheet(text);
}

/// The declarations of a `style` attribute.
pub(super) fn read_style(text: &str) -> Block {
    let of = Origin { within: Within::Declarations, ..Origin::default() };
    let mut reader = Reader { sheet: &mut Sheet::default(), of, block: Block::default() };
    for _ in RuleBodyParser::new(&mut Parser::new(text), &mut reader) {}
    reader.block
}

/// What stands around a rule.
#[derive(Clone, Default)]
struct Origin {
    within: Within,
    layer: Vec<isize>,
    doubtful: bool,
    of_browser: bool,
    /// How many rules and imports stand around it.
    depth: usize,
}

/// The block that is read.
#[derive(Clone, Default)]
enum Within {
    #[default]
    Sheet,
    /// Of a rule or an `@scope` for these elements.
    Rule(Selectors),
    /// Declarations alone.
    Declarations,
}

struct Reader<'s> {
    sheet: &'s mut Sheet,
    of: Origin,
    block: Block,
}

type Failed = ParseError<()>;

impl Reader<'_> {
    fn sheet(&mut self, text: &str) {
        let mut input = Parser::new(text);
        input.set_nested_block_limit(NESTED_MAX);
        for _ in StyleSheetParser::new(&mut input, self) {}
    }

    /// Reads a block within this one, and adds what it declares.
    fn inside(&mut self, mut of: Origin, input: &mut Parser<'_>) {
        of.depth += 1;
        if of.depth > RULES_DEEP_MAX {
            self.sheet.cut = true;
            return;
        }
        self.sheet.begun += 1;
        let order = self.sheet.begun;
        let mut reader = Reader { sheet: &mut *self.sheet, of, block: Block::default() };
        for _ in RuleBodyParser::new(input, &mut reader) {}
        let Reader { of: Origin { within, layer, doubtful, of_browser, .. }, block, .. } = reader;
        if let Within::Rule(list) = within {
            let above = (!layer.is_empty()).then_some(isize::MAX);
            let layer = layer.into_iter().chain(above).collect();
            self.sheet.add(&list, Rule { block, layer, of_browser, order }, doubtful);
        }
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
    type Prelude = Selectors;
    type QualifiedRule = ();
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Result<Selectors, Failed> {
        let text = rest(input);
        let list = match &self.of.within {
            Within::Rule(around) => Selectors::parse(&text.replace(":scope", "&"), Some(around)),
            Within::Sheet | Within::Declarations => Selectors::parse(text, None),
        };
        list.ok_or_else(ParseError::unexpected_token)
    }

    fn parse_block(
        &mut self,
        list: Selectors,
        _: &ParserState,
        input: &mut Parser<'i>,
    ) -> Result<(), Failed> {
        self.inside(Origin { within: Within::Rule(list), ..self.of.clone() }, input);
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
            "layer" => prelude.split(',').for_each(|it| drop(self.sheet.layer(it, &self.of.layer))),
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
        let mut of = self.of.clone();
        let sure = match name.as_str() {
            "media" => media(prelude),
            "supports" => supports(prelude),
            "container" => Sure::Maybe,
            "layer" => {
                of.layer = self.sheet.layer(prelude, &of.layer);
                Sure::Yes
            }
            "scope" => {
                let (start, end) = closed(prelude.trim().trim_start_matches('('));
                let list = Selectors::parse(start, None);
                let known = list.is_some() && end.is_empty();
                of.within = list.map_or(of.within, Within::Rule);
                if known { Sure::Yes } else { Sure::Maybe }
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
                let curly = matches!(token, Token::CurlyBracketBlock) && !custom;
                if token.is_parse_error() || curly {
                    return Err(ParseError::unexpected_token());
                }
            }
            Ok::<_, Failed>(it.slice_from(start))
        })?;
        let important = input.try_parse(parse_important).is_ok();
        input.expect_exhausted()?;
        self.block.push(Declared::new(&name, text, important));
        Ok(())
    }
}

impl RuleBodyItemParser<'_, (), ()> for Reader<'_> {
    fn parse_declarations(&self) -> bool {
        matches!(self.of.within, Within::Rule(_) | Within::Declarations)
    }

    fn parse_qualified(&self) -> bool {
        !matches!(self.of.within, Within::Declarations)
    }
}

/// The style sheet in an address such as `data:text/css,…`.
pub(super) fn of_data(address: &str) -> Option<String> {
    let (scheme, rest) = address.trim().split_once(':')?;
    let (kind, text) = rest.split_once(',')?;
    let kind = kind.to_ascii_lowercase();
    (scheme.eq_ignore_ascii_case("data") && kind.starts_with("text/css")).then_some(())?;
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(code.unwrap_or(b'%'));
        bytes.extend(part.bytes().skip(if code.is_some() { 2 } else { 0 }));
    }
    if kind.ends_with(";base64") {
        bytes.retain(|it| !it.is_ascii_whitespace() && *it != b'=');
        bytes = data_encoding::BASE64_NOPAD.decode(&bytes).ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Of the styles that browsers bring along, those that matter here.
pub(super) const BROWSER: &str = "
    [hidden], datalist, rp, dialog:not([open]), [popover]:not(dialog[open]) { display: none }
    annotation, annotation-xml, maction > * ~ *, semantics > * ~ * { display: none }
    mphantom { visibility: hidden }
    [hidden=until-found i] { content-visibility: hidden }
    button, input, select, textarea, option { color: #000; background-color: #eee; text-indent: 0 }
    button, input, select, textarea { font-size: 13px }
    mark { color: #000; background-color: #ff0 }
    input[type=image] { background-color: transparent }
    marquee[width='0'] { width: 0; overflow: hidden }
";

/// Rules within rules.
const RULES_DEEP_MAX: usize = 12;
/// Style sheets in addresses within each other.
const IMPORTS_MAX: usize = 3;
