//! Lists, pipelines and compound commands.

use super::cursor::{Cursor, Read};
use super::word::is_name;
use super::{Chain, Command, Joint, Kind, Part, Pipeline, Script, Unreadable, Word};

/// Reads a whole text; with it, where the names of its commands begin.
pub(crate) fn parse(text: &str, depth: usize) -> Read<(Script, Vec<usize>)> {
    let mut cursor = Cursor::new(text, depth);
    let script = cursor.whole()?;
    Ok((script, cursor.names))
}

/// Reads a whole text as if it stood in double quotes.
pub(crate) fn quoted(text: &str, depth: usize) -> Read<Vec<Part>> {
    Cursor::new(text, depth).quoted_parts(0)
}

/// What can only follow a command that it ends.
const CLOSING: [&str; 9] = ["then", "else", "elif", "fi", "do", "done", "esac", "in", "}"];

impl Cursor<'_> {
    pub(super) fn whole(&mut self) -> Read<Script> {
        let script = self.script_until(&[])?;
        if !self.is_done() {
            return Err(Unreadable("something is closed that was not opened"));
        }
        Ok(script)
    }

    pub(super) fn script_until_paren(&mut self) -> Read<Script> {
        let script = self.script_until(&[])?;
        if !self.take(")") {
            return Err(Unreadable("a parenthesis has no end"));
        }
        Ok(script)
    }

    /// Commands up to one of the words, `)` or `;;`, which stay.
    pub(super) fn script_until(&mut self, ends: &[&str]) -> Read<Script> {
        self.enter()?;
        let mut chains = Vec::new();
        loop {
            self.lines()?;
            let closed = self.peek() == b')' || self.rest().starts_with(";;");
            if closed || self.rest().starts_with(";&") || self.is_done() {
                break;
            }
            if ends.iter().any(|it| self.at_keyword(it)) {
                break;
            }
            if CLOSING.iter().any(|it| *it != "in" && self.at_keyword(it)) {
                return Err(Unreadable("something is closed that was not opened"));
            }
            chains.push(self.chain()?);
            self.blanks();
            match (self.peek(), self.peek_at(1)) {
                (b';', b';' | b'&') | (b')' | b'\n', _) => {}
                (b';' | b'&', _) => self.skip(1),
                _ if self.is_done() => {}
                _ if ends.iter().any(|it| self.at_keyword(it)) => {}
                _ => return Err(Unreadable("a command does not end where it should")),
            }
        }
        self.leave();
        Ok(Script { chains })
    }

    fn chain(&mut self) -> Read<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else {
                let aside = self.peek() == b'&' && self.peek_at(1) != b'&';
                return Ok(Chain { first, rest, aside });
            };
            self.lines()?;
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let mut stages = Vec::new();
        let mut negated = false;
        loop {
            self.blanks();
            loop {
                if self.take_keyword("!") {
                    negated = !negated;
                } else if !self.takes_time() {
                    break;
                }
                self.blanks();
            }
            stages.push(self.command()?);
            self.blanks();
            if self.take("|&") || (self.peek_at(1) != b'|' && self.take("|")) {
                self.lines()?;
                continue;
            }
            return Ok(Pipeline { stages, negated });
        }
    }

    /// `time` before a compound command; elsewhere it is read as any other command.
    fn takes_time(&mut self) -> bool {
        let after = self.rest().strip_prefix("time").unwrap_or_default();
        let after = after.trim_start_matches([' ', '\t']);
        let after = after.strip_prefix("-p").unwrap_or(after).trim_start_matches([' ', '\t']);
        let is_compound = after.starts_with(['{', '(']) && self.at_keyword("time");
        if is_compound {
            self.skip(self.rest().len() - after.len());
        }
        is_compound
    }

    pub(super) fn command(&mut self) -> Read<Command> {
        self.enter()?;
        let Some(kind) = self.compound()? else {
            let command = self.simple()?;
            self.leave();
            return Ok(command);
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(it) => redirects.push(it),
                None => break,
            }
        }
        self.leave();
        Ok(Command { kind, redirects })
    }

    fn compound(&mut self) -> Read<Option<Kind>> {
        if self.rest().starts_with("((") {
            let from = self.at();
            self.skip(2);
            if let Some(inside) = self.arithmetic_until("))") {
                return Ok(Some(Kind::Arithmetic(inside)));
            }
            self.seek(from);
        }
        if self.take("(") {
            return Ok(Some(Kind::Subshell(self.script_until_paren()?)));
        }
        let kind = if self.take_keyword("{") {
            let body = self.script_until(&["}"])?;
            self.expect_keyword("}")?;
            Kind::Group(body)
        } else if self.take_keyword("if") {
            self.conditional()?
        } else if self.at_keyword("while") || self.at_keyword("until") {
            let until = self.take_keyword("until");
            self.take_keyword("while");
            let condition = self.script_until(&["do"])?;
            Kind::Loop { condition, body: self.body()?, until }
        } else if self.take_keyword("for") || self.take_keyword("select") {
            self.for_loop()?
        } else if self.take_keyword("case") {
            self.case()?
        } else if self.take_keyword("function") {
            self.blanks();
            let name = self.word()?.ok_or(Unreadable("a function has no name"))?;
            self.blanks();
            if self.take("(") {
                self.blanks();
                self.take(")");
            }
            self.function(&name)?
        } else if self.take_keyword("[[") {
            self.test()?
        } else {
            return Ok(None);
        };
        Ok(Some(kind))
    }

    fn conditional(&mut self) -> Read<Kind> {
        let mut arms = Vec::new();
        loop {
            let condition = self.script_until(&["then"])?;
            self.expect_keyword("then")?;
            let body = self.script_until(&["elif", "else", "fi"])?;
            arms.push((condition, body));
            if !self.take_keyword("elif") {
                break;
            }
        }
        let other = self.take_keyword("else").then(|| self.script_until(&["fi"])).transpose()?;
        self.expect_keyword("fi")?;
        Ok(Kind::If { arms, other })
    }

    /// `do … done` or `{ … }`.
    fn body(&mut self) -> Read<Script> {
        self.lines()?;
        let end = if self.take_keyword("{") {
            "}"
        } else {
            self.expect_keyword("do")?;
            "done"
        };
        let body = self.script_until(&[end])?;
        self.expect_keyword(end)?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Read<Kind> {
        self.blanks();
        if self.take("((") {
            let inside = self.arithmetic_until("))").ok_or(Unreadable("arithmetic has no end"))?;
            self.blanks();
            self.take(";");
            let mut parts = inside.splitn(3, ';').map(|it| it.trim().to_owned());
            let mut part = || parts.next().unwrap_or_default();
            let (start, condition, step) = (part(), part(), part());
            return Ok(Kind::ForArithmetic { start, condition, step, body: self.body()? });
        }
        let length = self.rest().bytes().take_while(|it| is_name(*it)).count();
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Unreadable("a loop has no variable"));
        }
        self.skip(length);
        self.lines()?;
        let words = self.take_keyword("in").then(|| self.words()).transpose()?;
        self.blanks();
        self.take(";");
        Ok(Kind::For { name, words, body: self.body()? })
    }

    fn words(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => return Ok(words),
            }
        }
    }

    fn case(&mut self) -> Read<Kind> {
        self.blanks();
        let word = self.word()?.ok_or(Unreadable("`case` has no word"))?;
        self.lines()?;
        self.expect_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.take_keyword("esac") {
                return Ok(Kind::Case { word, arms });
            }
            self.take("(");
            let mut patterns = Vec::new();
            loop {
                self.blanks();
                patterns.push(self.word()?.ok_or(Unreadable("a pattern is missing"))?);
                self.blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return Err(Unreadable("a pattern has no end"));
                }
            }
            let body = self.script_until(&["esac"])?;
            arms.push((patterns, body));
            if !self.take(";;&") && !self.take(";;") {
                self.take(";&");
            }
        }
    }

    pub(super) fn function(&mut self, name: &Word) -> Read<Kind> {
        self.lines()?;
        let name = super::simple::literal(name).ok_or(Unreadable("a function has an odd name"))?;
        let body = Box::new(self.command()?);
        Ok(Kind::Function { name, body })
    }

    /// After `[[`: the words, and signs between them as words of their own.
    fn test(&mut self) -> Read<Kind> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.take_keyword("]]") {
                return Ok(Kind::Test(words));
            }
            match self.word()? {
                Some(word) => {
                    let matches = super::literal(&word).is_some_and(|it| it == "=~");
                    words.push(word);
                    if matches {
                        self.blanks();
                        words.push(Word { parts: self.word_until(b" \t\n")? });
                    }
                }
                None if self.is_done() => return Err(Unreadable("`[[` has no end")),
                None => {
                    let sign = self.next_char().unwrap_or_default().to_string();
                    words.push(Word { parts: vec![Part::Bare(sign)] });
                }
            }
        }
    }
}
