//! A reader of profiles, as far as ours go: parentheses, literals with escapes, patterns, and the last rule that matches.
//! It is written apart from what writes them, so that a slip in quoting is seen.

/// A profile that was read.
pub(crate) struct Profile(Vec<Rule>);

struct Rule {
    allow: bool,
    operations: Vec<String>,
    filters: Vec<Filter>,
}

enum Filter {
    Subpath(String),
    Literal(String),
    Pattern(String),
    Other,
}

#[derive(Debug)]
enum Node {
    List(Vec<Node>),
    Word(String),
    Text(String),
    Pattern(String),
}

impl Profile {
    pub(crate) fn parse(text: &str) -> Self {
        let mut characters = text.chars().peekable();
        let mut rules = Vec::new();
        while let Some(node) = read(&mut characters) {
            let Node::List(parts) = node else { panic!("{node:?} stands alone") };
            rules.extend(rule(parts));
        }
        Self(rules)
    }

    /// What the last rule says that matches.
    pub(crate) fn allows(&self, operation: &str, path: &str) -> bool {
        let matches = |rule: &&Rule| {
            let named = rule.operations.iter().any(|it| match it.strip_suffix('*') {
                Some(start) => operation.starts_with(start),
                None => it == operation || it == "default",
            });
            named && (rule.filters.is_empty() || rule.filters.iter().any(|it| it.matches(path)))
        };
        self.0.iter().rev().find(matches).unwrap().allow
    }
}

fn rule(parts: Vec<Node>) -> Option<Rule> {
    let mut rule = Rule { allow: false, operations: Vec::new(), filters: Vec::new() };
    for (at, part) in parts.into_iter().enumerate() {
        match (at, part) {
            (0, Node::Word(word)) if word == "version" => return None,
            (0, Node::Word(word)) => {
                assert!(word == "allow" || word == "deny", "{word}");
                rule.allow = word == "allow";
            }
            (_, Node::Word(word)) => rule.operations.push(word),
            (_, Node::List(parts)) => rule.filters.push(filter(parts)),
            (_, other) => panic!("{other:?} in a rule"),
        }
    }
    assert!(!rule.operations.is_empty());
    Some(rule)
}

fn filter(mut parts: Vec<Node>) -> Filter {
    match (parts.pop(), parts.pop()) {
        (Some(Node::Text(path)), Some(Node::Word(word))) if word == "subpath" => {
            Filter::Subpath(path)
        }
        (Some(Node::Text(path)), Some(Node::Word(word))) if word == "literal" => {
            Filter::Literal(path)
        }
        (Some(Node::Pattern(it)), Some(Node::Word(word))) if word == "regex" => Filter::Pattern(it),
        _ => Filter::Other,
    }
}

impl Filter {
    fn matches(&self, path: &str) -> bool {
        match self {
            Self::Literal(it) => it == path,
            Self::Subpath(it) => path
                .strip_prefix(it.as_str())
                .is_some_and(|it| it.is_empty() || it.starts_with('/')),
            Self::Pattern(it) => {
                let it = it.strip_prefix('^').unwrap().strip_suffix('$').unwrap();
                // The one other pattern is that of terminals.
                let Some(it) = it.strip_suffix("(/.*)?") else {
                    return path.starts_with("/dev/ttys");
                };
                fits(it.as_bytes(), path.as_bytes())
            }
            Self::Other => false,
        }
    }
}

/// Does the path, or a folder of it, fit the pattern? Classes of two letters, `.`, `.+`, and letters as they are. All places
/// of the path that the pattern may have come to are walked at once: going back takes time without end.
fn fits(mut pattern: &[u8], path: &[u8]) -> bool {
    let mut places = std::collections::BTreeSet::from([0]);
    while let [first, rest @ ..] = pattern {
        let step = |fit: &dyn Fn(u8) -> bool| {
            let next = places.iter().filter(|it| path.get(**it).is_some_and(|it| fit(*it)));
            next.map(|it| it + 1).collect()
        };
        (places, pattern) = match (first, rest) {
            (b'.', [b'+', rest @ ..]) => {
                let first = places.first().map_or(path.len(), |it| it + 1);
                ((first..=path.len()).collect(), rest)
            }
            (b'.', rest) => (step(&|_| true), rest),
            (b'[', [one, other, b']', rest @ ..]) => (step(&|it| it == *one || it == *other), rest),
            (one, rest) => (step(&|it| it == *one), rest),
        };
    }
    places.into_iter().any(|it| it == path.len() || path[it..].starts_with(b"/"))
}

/// How a plain path looks in a pattern.
pub(crate) fn pattern_of(path: &str) -> String {
    path.chars()
        .map(|it| match it {
            it if it.is_ascii_alphabetic() => {
                format!("[{}{}]", it.to_ascii_lowercase(), it.to_ascii_uppercase())
            }
            '.' => ".".to_owned(),
            it => it.to_string(),
        })
        .collect()
}

fn read(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Node> {
    loop {
        match characters.next()? {
            ' ' | '\n' => {}
            ';' => while characters.next().is_some_and(|it| it != '\n') {},
            '(' => {
                let mut parts = Vec::new();
                while characters.peek() != Some(&')') {
                    parts.push(read(characters).expect("a parenthesis is not closed"));
                    while characters.peek().is_some_and(|it| it.is_ascii_whitespace()) {
                        characters.next();
                    }
                }
                characters.next();
                return Some(Node::List(parts));
            }
            '"' => return Some(Node::Text(text(characters))),
            '#' => {
                assert_eq!(characters.next(), Some('"'));
                let mut pattern = String::new();
                loop {
                    match characters.next().unwrap() {
                        '"' => return Some(Node::Pattern(pattern)),
                        it => pattern.push(it),
                    }
                }
            }
            first => {
                let mut word = String::from(first);
                while let Some(it) = characters.peek().filter(|it| !" \n()\"".contains(**it)) {
                    word.push(*it);
                    characters.next();
                }
                return Some(Node::Word(word));
            }
        }
    }
}

fn text(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    loop {
        match characters.next().expect("a literal is not closed") {
            '"' => return text,
            '\\' => match characters.next().unwrap() {
                'x' => {
                    let digits: String = characters.by_ref().take(2).collect();
                    text.push(char::from(u8::from_str_radix(&digits, 16).unwrap()));
                }
                it @ ('"' | '\\') => text.push(it),
                it => panic!("an escape that is none: {it}"),
            },
            it => text.push(it),
        }
    }
}
