//! Acts: what a tool does to what, and what a person asked to have done to what.

use std::collections::HashMap;
use std::sync::LazyLock;

use model::{Flow, ToolDef};
use serde::{Deserialize, Serialize};

use super::lexicon::{OBJECTS, VERBS, Verb};
use super::norm::{fold, words};

/// Kinds of doing.
pub(super) mod verb {
    pub(in super::super) const SEND: u32 = 1;
    pub(in super::super) const PAY: u32 = 1 << 1;
    pub(in super::super) const CREATE: u32 = 1 << 2;
    pub(in super::super) const ADD: u32 = 1 << 3;
    pub(in super::super) const UPDATE: u32 = 1 << 4;
    pub(in super::super) const DELETE: u32 = 1 << 5;
    pub(in super::super) const SHARE: u32 = 1 << 6;
    pub(in super::super) const INVITE: u32 = 1 << 7;
    pub(in super::super) const SCHEDULE: u32 = 1 << 8;
    pub(in super::super) const RESERVE: u32 = 1 << 9;
    pub(in super::super) const PUBLISH: u32 = 1 << 10;
    pub(in super::super) const RUN: u32 = 1 << 11;
    pub(in super::super) const MOVE: u32 = 1 << 12;
}

/// Kinds of things.
pub(super) mod object {
    pub(in super::super) const MONEY: u32 = 1;
    pub(in super::super) const MESSAGE: u32 = 1 << 1;
    pub(in super::super) const EVENT: u32 = 1 << 2;
    pub(in super::super) const FILE: u32 = 1 << 3;
    pub(in super::super) const PERSON: u32 = 1 << 4;
    pub(in super::super) const CHANNEL: u32 = 1 << 5;
    pub(in super::super) const PAGE: u32 = 1 << 6;
    pub(in super::super) const BOOKING: u32 = 1 << 7;
    pub(in super::super) const ORDER: u32 = 1 << 8;
    pub(in super::super) const SETTINGS: u32 = 1 << 9;
    pub(in super::super) const CREDENTIAL: u32 = 1 << 10;
    pub(in super::super) const ACCESS: u32 = 1 << 11;
    pub(in super::super) const CODE: u32 = 1 << 12;
}

/// Things that must be named in so many words before they are touched.
const DELICATE: u32 = object::CREDENTIAL | object::ACCESS;

/// What a person asked to have done, or what a text that they handed on asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) verbs: u32,
    pub(super) objects: u32,
    /// Objects that the verbs imply.
    pub(super) implied: u32,
}

impl Asked {
    pub(super) fn add(&mut self, other: Self) {
        self.verbs |= other.verbs;
        self.objects |= other.objects;
        self.implied |= other.implied;
    }

    /// The acts that `text` asks for in its own words.
    pub(super) fn of(text: &str) -> Self {
        let mut asked = Self::default();
        let folded = fold(text);
        // A full stop and a line's end begin a sentence, where an imperative can stand.
        for sentence in folded.split(['.', '!', '?', '\n', ':', ';', ',', '(', '"', '-']) {
            let all: Vec<_> = words(sentence).collect();
            for (at, word) in all.iter().enumerate() {
                let before = at.checked_sub(1).and_then(|it| all.get(it)).map(AsRef::as_ref);
                let after = all.get(at.saturating_add(1)).map(AsRef::as_ref);
                asked.hear(word, before, after);
            }
        }
        asked
    }

    fn hear(&mut self, word: &str, before: Option<&str>, after: Option<&str>) {
        self.objects |= object_of(word);
        let Some(found) = verb_of(word) else { return };
        let can_be_verb = before.is_none_or(|it| LEADS.contains(&it));
        let to_me = after.is_some_and(|it| it == "me" || it == "us") && TELLING.contains(&word);
        let refused = before.is_some_and(|it| it == "dont" || it == "never");
        if to_me || refused || (found.ambiguous && !can_be_verb) {
            return;
        }
        self.verbs |= found.acts;
        self.implied |= found.implies;
    }
}

/// The verb of `word`, in its base form or as `-ing`.
pub(super) fn verb_of(word: &str) -> Option<&'static Verb> {
    let exact = |it: &str| VERB_BY_WORD.get(it).copied();
    exact(word).or_else(|| {
        let stem = word.strip_suffix("ing")?;
        exact(stem).or_else(|| exact(&format!("{stem}e"))).or_else(|| {
            // `running`, `cancelling`: the last letter stands twice.
            let mut chars = stem.chars();
            let last = chars.next_back()?;
            chars.as_str().ends_with(last).then(|| exact(chars.as_str()))?
        })
    })
}

fn object_of(word: &str) -> u32 {
    let of = |it: &str| OBJECT_BY_WORD.get(it).copied();
    of(word).or_else(|| of(singular(word))).unwrap_or_default()
}

static VERB_BY_WORD: LazyLock<HashMap<&str, &Verb>> =
    LazyLock::new(|| VERBS.iter().map(|it| (it.word, it)).collect());

static OBJECT_BY_WORD: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (noun, object) in OBJECTS {
        *all.entry(*noun).or_default() |= object;
    }
    all
});

/// `files` → `file`, `activities` stays: good enough to compare nouns by.
pub(super) fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

/// Words after which an ambiguous word is a verb.
const LEADS: &[&str] = &[
    "please",
    "and",
    "then",
    "to",
    "you",
    "also",
    "or",
    "just",
    "now",
    "lets",
    "kindly",
    "finally",
    "first",
    "next",
    "afterwards",
    "should",
    "must",
    "can",
    "could",
    "would",
    "will",
    "ill",
    "i",
    "we",
    "so",
    "but",
    "after",
    "before",
    "by",
    "not",
    "forget",
    "immediately",
    "bitte",
    "1",
    "2",
    "3",
    "4",
    "5",
];

/// Verbs that ask for an answer when `me` follows, not for a message.
const TELLING: &[&str] = &["tell", "inform", "notify", "say", "ask", "give", "show"];

/// What a tool does to what, as far as its name and description say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Act {
    pub(super) verbs: u32,
    pub(super) objects: u32,
    /// It shows one document as it stands: a page, a file. Nothing in it is the tool's own word.
    pub(super) document: bool,
    /// The words of its name, for people.
    pub(super) words: Vec<String>,
}

impl Act {
    /// What `tool` does.
    #[must_use]
    pub fn of(tool: &ToolDef, flow: &Flow) -> Self {
        let mut act = Self::named(tool.name.as_str());
        act.document = is_document(&act.words, tool, flow);
        if act.verbs == 0 {
            act.verbs = lead_verb(&tool.description);
        }
        if act.objects == 0 {
            let first = tool.description.split(['.', '\n']).next().unwrap_or_default();
            act.objects = words(&fold(first)).fold(0, |all, it| all | object_of(&it));
        }
        act
    }

    /// The same for a tool of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let words = name_words(name);
        let mut act = Self { words, ..Self::default() };
        for word in &act.words {
            act.objects |= object_of(word);
        }
        act.verbs = act.words.iter().find_map(|it| tool_verb(it)).unwrap_or_default();
        // `send` with money is a payment, with anything else a message.
        if act.verbs & verb::SEND != 0 && act.objects & object::MONEY != 0 {
            act.verbs = verb::PAY;
        }
        if act.verbs == verb::SCHEDULE && act.objects & object::MONEY != 0 {
            act.verbs = verb::PAY | verb::SCHEDULE;
        }
        if act.verbs & verb::ADD != 0 && act.objects & object::PERSON != 0 {
            act.verbs |= verb::INVITE;
        }
        act
    }

    /// Did somebody who may ask for it ask for it?
    pub(super) fn is_asked_for(&self, asked: &Asked) -> bool {
        if self.verbs == 0 {
            return false;
        }
        if self.verbs & asked.verbs == 0 {
            return false;
        }
        let delicate = self.objects & DELICATE;
        if delicate != 0 && asked.objects & delicate == 0 {
            return false;
        }
        self.objects == 0 || self.objects & (asked.objects | asked.implied) != 0
    }
}

/// The words of a name in `snake_case`, `camelCase`, `kebab-case` or `a__b`.
pub(super) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for it in name.chars() {
        let begins = !it.is_alphanumeric() || (it.is_uppercase() && small);
        if begins {
            words.push(String::new());
        }
        small = it.is_lowercase() || it.is_ascii_digit();
        if let (true, Some(last)) = (it.is_alphanumeric(), words.last_mut()) {
            last.extend(it.to_lowercase());
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

/// What a verb in the name of a tool means: narrower than what it can mean from a person.
fn tool_verb(word: &str) -> Option<u32> {
    let found = TOOL_VERBS.iter().find(|(verb, _)| *verb == word);
    found.map(|(_, acts)| *acts)
}

fn lead_verb(description: &str) -> u32 {
    let folded = fold(description);
    let first = words(&folded).next().unwrap_or_default();
    // `Sends a message`, `Send a message`.
    tool_verb(&first).or_else(|| tool_verb(singular(&first))).unwrap_or_default()
}

fn is_document(words: &[String], tool: &ToolDef, flow: &Flow) -> bool {
    let reads = words.iter().any(|it| READERS.contains(&it.as_str()));
    let whole = |name: &str| {
        let name = name_words(name);
        name.iter().any(|it| WHOLE.contains(&it.as_str()))
            && !name.iter().any(|it| it == "id" || it == "query")
    };
    flow.reach == model::Reach::Read && reads && tool.parameters().any(|(name, _)| whole(name))
}

const READERS: &[&str] = &[
    "read", "get", "fetch", "open", "view", "visit", "browse", "download", "load", "cat", "show",
    "scrape", "crawl", "navigate", "extract", "curl", "webfetch",
];
const WHOLE: &[&str] =
    &["url", "uri", "link", "path", "href", "file", "filename", "page", "website", "document"];

const TOOL_VERBS: &[(&str, u32)] = &[
    ("send", verb::SEND),
    ("reply", verb::SEND),
    ("forward", verb::SEND),
    ("email", verb::SEND),
    ("notify", verb::SEND),
    ("message", verb::SEND),
    ("respond", verb::SEND),
    ("dm", verb::SEND),
    ("pay", verb::PAY),
    ("transfer", verb::PAY),
    ("refund", verb::PAY),
    ("wire", verb::PAY),
    ("purchase", verb::PAY),
    ("buy", verb::PAY),
    ("order", verb::PAY | verb::RESERVE),
    ("checkout", verb::PAY),
    ("create", verb::CREATE),
    ("make", verb::CREATE),
    ("new", verb::CREATE),
    ("write", verb::CREATE | verb::UPDATE),
    ("save", verb::CREATE | verb::UPDATE),
    ("register", verb::CREATE),
    ("generate", verb::CREATE),
    ("draft", verb::CREATE),
    ("put", verb::CREATE | verb::UPDATE),
    ("copy", verb::CREATE | verb::MOVE),
    ("add", verb::ADD),
    ("append", verb::ADD),
    ("insert", verb::ADD),
    ("attach", verb::ADD),
    ("join", verb::ADD),
    ("update", verb::UPDATE),
    ("change", verb::UPDATE),
    ("modify", verb::UPDATE),
    ("edit", verb::UPDATE),
    ("set", verb::UPDATE),
    ("patch", verb::UPDATE),
    ("rename", verb::MOVE | verb::UPDATE),
    ("reset", verb::UPDATE),
    ("reschedule", verb::UPDATE),
    ("mark", verb::UPDATE),
    ("merge", verb::UPDATE),
    ("replace", verb::UPDATE),
    ("assign", verb::UPDATE | verb::ADD),
    ("move", verb::MOVE | verb::UPDATE),
    ("archive", verb::DELETE | verb::UPDATE),
    ("delete", verb::DELETE),
    ("remove", verb::DELETE),
    ("cancel", verb::DELETE),
    ("drop", verb::DELETE),
    ("erase", verb::DELETE),
    ("clear", verb::DELETE),
    ("kick", verb::DELETE),
    ("ban", verb::DELETE),
    ("trash", verb::DELETE),
    ("purge", verb::DELETE),
    ("destroy", verb::DELETE),
    ("revoke", verb::DELETE),
    ("unshare", verb::DELETE),
    ("unsubscribe", verb::DELETE),
    ("block", verb::DELETE | verb::UPDATE),
    ("share", verb::SHARE),
    ("grant", verb::SHARE),
    ("invite", verb::INVITE),
    ("schedule", verb::SCHEDULE),
    ("remind", verb::SCHEDULE),
    ("reserve", verb::RESERVE),
    ("book", verb::RESERVE),
    ("rent", verb::RESERVE),
    ("post", verb::PUBLISH),
    ("publish", verb::PUBLISH),
    ("upload", verb::PUBLISH),
    ("submit", verb::PUBLISH | verb::CREATE),
    ("tweet", verb::PUBLISH),
    ("comment", verb::PUBLISH | verb::ADD),
    ("push", verb::PUBLISH | verb::RUN),
    ("broadcast", verb::PUBLISH),
    ("run", verb::RUN),
    ("execute", verb::RUN),
    ("exec", verb::RUN),
    ("bash", verb::RUN),
    ("shell", verb::RUN),
    ("install", verb::RUN),
    ("deploy", verb::RUN),
    ("eval", verb::RUN),
    ("invoke", verb::RUN),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str, tool: &str) -> bool {
        Act::named(tool).is_asked_for(&Asked::of(text))
    }

    #[test]
    fn words_of_people_ask_for_acts_of_tools() {
        for (text, tool) in [
            ("Can you please pay the bill 'x.txt' for me?", "send_money"),
            ("Please adjust my rent payment accordingly.", "update_scheduled_transaction"),
            ("Email Bob the minutes", "send_email"),
            ("Please add Eve to the workspace", "inviteUser"),
            ("Find and delete the largest file", "delete_file"),
            ("book a table for two", "reserve_restaurant"),
            ("Put it on my calendar", "create_calendar_event"),
            ("update the password to x", "update_password"),
            ("Lösche die Datei, the file", "delete_file"),
        ] {
            assert!(asks(text, tool), "{text} → {tool}");
        }
    }

    #[test]
    fn nothing_else_is_asked_for() {
        for (text, tool) in [
            ("What's my total spending in March?", "send_money"),
            ("Tell me when my next class is", "send_email"),
            ("What does the last email say?", "send_email"),
            ("Summarize the article that Bob posted", "post_webpage"),
            ("Send an email to Bob", "send_money"),
            ("Update my address", "update_password"),
            ("Create a file with the list", "create_calendar_event"),
            ("Send the report", "delete_file"),
            ("do something", "frobnicate"),
        ] {
            assert!(!asks(text, tool), "{text} → {tool}");
        }
    }
}
