//! Commands and options that a program has, by what its own `--help` says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// A command with its options and the commands below it.
#[derive(Default)]
pub struct Known {
    options: BTreeSet<String>,
    below: BTreeMap<String, Known>,
    /// Lines of its help that show how it is used.
    examples: Vec<String>,
}

impl Known {
    /// Asks `program` and all of its commands.
    #[must_use]
    pub fn ask(program: &str) -> Self {
        Self::below(program, &[])
    }

    fn below(program: &str, path: &[&str]) -> Self {
        let output = Command::new(program).args(path).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{path:?}: {text}");
        let mut known = Self::default();
        let mut section = "";
        for line in text.lines() {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            if indent == 0 && !trimmed.is_empty() {
                section = if trimmed.ends_with(':') { trimmed } else { "" };
                continue;
            }
            if section == "Commands:" && indent == 2 {
                let name = trimmed.split_whitespace().next().unwrap();
                if name != "help" {
                    let deeper: Vec<&str> = path.iter().copied().chain([name]).collect();
                    known.below.insert(name.to_owned(), Self::below(program, &deeper));
                }
            } else if section == "Options:" && trimmed.starts_with('-') {
                let names =
                    trimmed.split([' ', ',', '=', '[', '<']).filter(|it| it.starts_with("--"));
                known.options.extend(names.take(1).map(str::to_owned));
            } else if trimmed.starts_with("lazaret ") {
                known.examples.push(trimmed.to_owned());
            }
        }
        known
    }

    /// What is wrong with the words behind the program's name; placeholders in capitals or brackets are anything, and of `…` nothing is known.
    #[must_use]
    pub fn wrong(&self, words: &[&str]) -> Option<String> {
        if words.contains(&"…") {
            return None;
        }
        let mut here = self;
        let mut words = words.iter().copied().peekable();
        while let Some(next) = words.peek().and_then(|it| here.below.get(*it)) {
            here = next;
            words.next();
        }
        if !here.below.is_empty()
            && let Some(word) = words.peek().filter(|it| is_command(it))
        {
            return Some(format!("there is no command `{word}`"));
        }
        // What follows `--` is somebody else's.
        for word in words.take_while(|it| *it != "--") {
            let word = word.trim_matches(|it: char| "[]|,.".contains(it));
            let option = word.split('=').next().unwrap_or_default();
            let known =
                here.options.contains(option) || option == "--help" || option == "--version";
            if option.len() > 2 && option.starts_with("--") && !known {
                return Some(format!("there is no option `{option}`"));
            }
        }
        None
    }

    /// The examples of all help texts.
    #[must_use]
    pub fn examples(&self) -> Vec<&str> {
        let own = self.examples.iter().map(String::as_str);
        own.chain(self.below.values().flat_map(Self::examples)).collect()
    }

    /// Does any command have this option?
    #[must_use]
    pub fn has_option(&self, option: &str) -> bool {
        self.options.contains(option) || self.below.values().any(|it| it.has_option(option))
    }
}

/// The words behind the name of a program, where a text is such a command, also at the end of a pipe.
#[must_use]
pub fn words_behind<'a>(program: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let said = text.split(" #").next().unwrap_or_default();
    let last = said.rsplit(" | ").next().unwrap_or_default();
    let mut words = last.trim().trim_start_matches("$ ").split_whitespace();
    (words.next() == Some(program)).then(|| words.collect())
}

fn is_command(word: &str) -> bool {
    word.chars().all(|it| it.is_ascii_lowercase() || it == '-') && !word.starts_with('-')
}
