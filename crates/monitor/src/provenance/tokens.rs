//! Cuts a text into the tokens in which atoms are looked for.

/// The pieces of a text between cuts, as `split` would give them.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    rest: Option<&'a str>,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.next_classed().map(|(token, _)| token)
    }
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { rest: Some(text) }
    }

    /// The next token, and whether something in it is telling.
    pub(super) fn next_classed(&mut self) -> Option<(&'a str, bool)> {
        let rest = self.rest?;
        let mut all = 0;
        // Byte by byte as long as the text is plain.
        let odd = |it: u8| {
            let class = class(it);
            all |= class;
            class & (CUT | BEYOND_ASCII) != 0
        };
        let plain = rest.bytes().position(odd).unwrap_or(rest.len());
        let (token, after) = if all & BEYOND_ASCII == 0 {
            rest.split_at_checked(plain)?
        } else {
            let split = rest.split_at_checked(rest.find(is_cut).unwrap_or(rest.len()))?;
            all |= if is_plain(split.0) { 0 } else { TELLING };
            split
        };
        let mut after = after.chars();
        self.rest = after.next().map(|_| after.as_str());
        Some((token, all & TELLING != 0))
    }

    /// How much is not read yet, in bytes; nothing at the end.
    pub(super) fn left(&self) -> Option<usize> {
        self.rest.map(str::len)
    }
}

/// Is there nothing telling in it?
pub(super) fn is_plain(token: &str) -> bool {
    !token.bytes().any(|it| class(it) & TELLING != 0)
}

/// Where a token ends.
fn is_cut(it: char) -> bool {
    match it {
        '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '|' => true,
        '“' | '”' | '‘' | '’' | '«' | '»' => true,
        _ => it.is_whitespace(),
    }
}

/// What each byte means for the tokens. A table, because every byte of every text passes here.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0_u8;
    loop {
        let class = match at {
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => CUT,
            b',' | b';' | b'|' | b' ' | b'\t'..=b'\r' => CUT,
            b'0'..=b'9' | b'@' | b'.' | b'/' | b'\\' | b':' | b'=' | b'%' => TELLING,
            128.. => BEYOND_ASCII,
            _ => 0,
        };
        #[expect(clippy::indexing_slicing, reason = "a byte is a place among 256")]
        {
            classes[at as usize] = class;
        }
        match at.checked_add(1) {
            Some(next) => at = next,
            None => break classes,
        }
    }
};
const CUT: u8 = 1;
/// Without one of these nothing is or begins an atom.
const TELLING: u8 = 2;
const BEYOND_ASCII: u8 = 4;

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(BEYOND_ASCII)
}
