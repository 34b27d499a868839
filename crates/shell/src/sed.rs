//! `sed` on text that is known: lines that are kept, dropped, printed, changed.

use regex::{Regex, RegexBuilder};

/// A compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 18;
/// Commands of one program.
const COMMANDS_MAX: usize = 64;

struct Command {
    from: Option<Address>,
    to: Option<Address>,
    negated: bool,
    action: Action,
}

enum Address {
    Line(usize),
    Last,
    Match(Regex),
}

enum Action {
    Delete,
    Print,
    Quit,
    Substitute { pattern: Regex, with: Vec<Piece>, all: bool, nth: usize, print: bool },
    Translate(Vec<char>, Vec<char>),
}

enum Piece {
    Text(String),
    Group(usize),
    /// `\U`, `\L`, `\u`, `\l`, `\E`.
    Case(char),
}

/// What `sed` prints; `None` if the program is not understood.
pub(super) fn sed(args: &[String], text: &str) -> Option<Vec<u8>> {
    let mut quiet = false;
    let mut extended = false;
    let mut programs: Vec<&str> = Vec::new();
    let mut rest = args.iter();
    let mut has_e = false;
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "-n" | "--quiet" | "--silent" => quiet = true,
            "-E" | "-r" | "--regexp-extended" => extended = true,
            "-nE" | "-nr" | "-En" | "-rn" => (quiet, extended) = (true, true),
            "-e" | "--expression" => {
                has_e = true;
                programs.push(rest.next()?);
            }
            "-ne" | "-Ee" | "-re" => {
                quiet |= arg == "-ne";
                extended |= arg != "-ne";
                has_e = true;
                programs.push(rest.next()?);
            }
            it if it.starts_with('-') && it.len() > 1 => {
                programs.push(it.strip_prefix("-e").or_else(|| it.strip_prefix("--expression="))?);
                has_e = true;
            }
            it if programs.is_empty() && !has_e => programs.push(it),
            _ => return None,
        }
    }
    let mut commands = Vec::new();
    for program in programs {
        Reader { rest: program, extended }.program(&mut commands)?;
    }
    Some(run(&commands, text, quiet).into_bytes())
}

fn run(commands: &[Command], text: &str, quiet: bool) -> String {
    let mut output = String::new();
    let count = text.lines().count();
    let mut open = vec![false; commands.len()];
    'lines: for (index, raw) in text.split_inclusive('\n').enumerate() {
        let mut line = raw.trim_end_matches('\n').to_owned();
        let end = if line.len() < raw.len() { "\n" } else { "" };
        let mut quits = false;
        for (command, open) in commands.iter().zip(&mut open) {
            if command.selects(&line, index + 1, count, open) == command.negated {
                continue;
            }
            match &command.action {
                Action::Delete => continue 'lines,
                Action::Print => output.push_str(&format!("{line}\n")),
                Action::Quit => quits = true,
                Action::Translate(from, to) => {
                    let change = |it: char| {
                        from.iter().position(|letter| *letter == it).and_then(|at| to.get(at))
                    };
                    line = line.chars().map(|it| change(it).copied().unwrap_or(it)).collect();
                }
                Action::Substitute { pattern, with, all, nth, print } => {
                    let changed = substituted(&line, pattern, with, *all, *nth);
                    if *print && changed != line {
                        output.push_str(&format!("{changed}\n"));
                    }
                    line = changed;
                }
            }
        }
        if !quiet {
            output.push_str(&line);
            output.push_str(end);
        }
        if quits {
            break;
        }
    }
    output
}

fn substituted(line: &str, pattern: &Regex, with: &[Piece], all: bool, nth: usize) -> String {
    let mut changed = String::new();
    let mut at = 0;
    for (count, found) in pattern.captures_iter(line).enumerate() {
        let Some(whole) = found.get(0) else { continue };
        if count + 1 < nth || (count + 1 > nth && !all) {
            continue;
        }
        changed.push_str(line.get(at..whole.start()).unwrap_or_default());
        let (mut case, mut next) = ('E', 'E');
        for piece in with {
            let text = match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Group(group) => found.get(*group).map_or("", |it| it.as_str()),
                Piece::Case(sign @ ('u' | 'l')) => {
                    next = *sign;
                    continue;
                }
                Piece::Case(sign) => {
                    case = *sign;
                    continue;
                }
            };
            for letter in text.chars() {
                match (std::mem::replace(&mut next, 'E'), case) {
                    ('u', _) | ('E', 'U') => changed.extend(letter.to_uppercase()),
                    ('l', _) | ('E', 'L') => changed.extend(letter.to_lowercase()),
                    _ => changed.push(letter),
                }
            }
        }
        at = whole.end();
    }
    changed + line.get(at..).unwrap_or_default()
}

impl Command {
    fn selects(&self, line: &str, number: usize, count: usize, open: &mut bool) -> bool {
        let at = |address: &Address| match address {
            Address::Line(wanted) => *wanted == number,
            Address::Last => number == count,
            Address::Match(pattern) => pattern.is_match(line),
        };
        let Some(from) = &self.from else { return true };
        let Some(to) = &self.to else { return at(from) };
        if *open {
            *open = !at(to);
            return true;
        }
        let begins = at(from);
        let past = matches!(to, Address::Line(last) if *last <= number);
        *open = begins && !past;
        begins
    }
}

struct Reader<'a> {
    rest: &'a str,
    extended: bool,
}

impl Reader<'_> {
    fn program(mut self, commands: &mut Vec<Command>) -> Option<()> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', ';', '\n']);
            if self.rest.is_empty() {
                return Some(());
            }
            if commands.len() >= COMMANDS_MAX {
                return None;
            }
            let from = self.address()?;
            let to = if from.is_some() && self.take(',') { Some(self.address()??) } else { None };
            self.rest = self.rest.trim_start();
            let negated = self.take('!');
            let action = self.action()?;
            commands.push(Command { from, to, negated, action });
        }
    }

    fn take(&mut self, sign: char) -> bool {
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn letter(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let found = letters.next()?;
        self.rest = letters.as_str();
        Some(found)
    }

    /// The outer `None`: not understood.
    fn address(&mut self) -> Option<Option<Address>> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let (number, after) = self.rest.split_at_checked(digits)?;
            self.rest = after;
            return Some(Some(Address::Line(number.parse().ok()?)));
        }
        if self.take('$') {
            return Some(Some(Address::Last));
        }
        if self.take('/') {
            let pattern = self.until('/')?;
            return Some(Some(Address::Match(compiled(&pattern, self.extended, false)?)));
        }
        Some(None)
    }

    fn action(&mut self) -> Option<Action> {
        let action = match self.letter()? {
            'd' => Action::Delete,
            'p' => Action::Print,
            'q' => Action::Quit,
            's' => self.substitute()?,
            'y' => {
                let by = self.letter()?;
                let (from, to) = (self.until(by)?, self.until(by)?);
                Action::Translate(from.chars().collect(), to.chars().collect())
            }
            _ => return None,
        };
        let after = self.rest.trim_start_matches([' ', '\t']);
        (after.is_empty() || after.starts_with([';', '\n'])).then_some(action)
    }

    fn substitute(&mut self) -> Option<Action> {
        let by = self.letter()?;
        let (pattern, with) = (self.until(by)?, self.until(by)?);
        let (mut all, mut print, mut folds, mut nth) = (false, false, false, 1);
        while let Some(flag) = self.rest.chars().next() {
            match flag {
                'g' => all = true,
                'p' => print = true,
                'i' | 'I' => folds = true,
                '1'..='9' => nth = usize::try_from(flag.to_digit(10)?).ok()?,
                ';' | '\n' | ' ' => break,
                _ => return None,
            }
            self.letter();
        }
        let pattern = compiled(&pattern, self.extended, folds)?;
        Some(Action::Substitute { pattern, with: replacement(&with), all, nth, print })
    }

    /// Up to `end`; an escaped `end` is the letter itself.
    fn until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.letter()? {
                '\\' => match self.letter()? {
                    it if it == end => text.push(it),
                    other => text.extend(['\\', other]),
                },
                it if it == end => return Some(text),
                it => text.push(it),
            }
        }
    }
}

fn replacement(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let group = match letter {
            '&' => Some(0),
            '\\' => match letters.next() {
                Some('n') => {
                    plain.push('\n');
                    None
                }
                Some('t') => {
                    plain.push('\t');
                    None
                }
                Some(sign @ ('U' | 'L' | 'u' | 'l' | 'E')) => {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    pieces.push(Piece::Case(sign));
                    None
                }
                Some(other) => {
                    let group = other.to_digit(10).and_then(|it| usize::try_from(it).ok());
                    if group.is_none() {
                        plain.push(other);
                    }
                    group
                }
                None => None,
            },
            other => {
                plain.push(other);
                None
            }
        };
        if let Some(group) = group {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Group(group));
        }
    }
    pieces.push(Piece::Text(plain));
    pieces
}

/// A pattern of `sed` and `grep` as one of ours; `None` where the two differ too much.
pub(super) fn compiled(pattern: &str, extended: bool, folds: bool) -> Option<Regex> {
    let pattern = translated(pattern, extended)?;
    let mut builder = RegexBuilder::new(&pattern);
    builder.case_insensitive(folds).size_limit(PATTERN_BYTES_MAX).build().ok()
}

fn translated(pattern: &str, extended: bool) -> Option<String> {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                it @ ('(' | ')' | '{' | '}' | '|' | '+' | '?') => {
                    if extended {
                        out.push('\\');
                    }
                    out.push(it);
                }
                '0'..='9' => return None,
                it if it.is_ascii_alphanumeric() && !"nwWsSbBt".contains(it) => return None,
                it => out.extend(['\\', it]),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' if !extended => out.extend(['\\', letter]),
            '*' if out.is_empty() || out.ends_with('(') => out.push_str("\\*"),
            '[' => {
                let rest = letters.as_str();
                let skip = usize::from(rest.starts_with('^')) + 1;
                let end = rest.get(skip..)?.find(']')? + skip;
                let inside = rest.get(..end)?;
                if inside.contains('[') {
                    return None;
                }
                let escaped = inside.replace('\\', "\\\\").replace('&', "\\&").replace('~', "\\~");
                out.push_str(&format!("[{escaped}]"));
                letters = rest.get(end + 1..)?.chars();
            }
            it => out.push(it),
        }
    }
    Some(out)
}
