//! Acts: what a tool does to what.

use std::sync::Arc;

use model::{Flow, Reach, Shows, ToolDef};

use super::asked::{Asked, MAYBE_SOMEBODY, object_of, reads_as_foreign, singular};
use super::infer::infer;
use super::norm::{fold, words};
use super::words::{JOINERS, READERS, WHOLE, WIDE, bare_stem_acts, stem_acts, tool_verb};

macro_rules! kinds {
    ($($name:ident = $word:literal @ $place:literal),+ $(,)?) => {
        $(pub(in super::super) const $name: u32 = 1 << $place;)+

        /// The kind of this name in the tables.
        pub(in super::super) fn named(word: &str) -> Option<u32> {
            match word { $($word => Some($name),)+ _ => None }
        }
    };
}

/// Kinds of doing.
pub(super) mod verb {
    kinds! {
        SEND = "send" @ 0, PAY = "pay" @ 1, CREATE = "create" @ 2, ADD = "add" @ 3, UPDATE = "update" @ 4,
        DELETE = "delete" @ 5, SHARE = "share" @ 6, INVITE = "invite" @ 7, SCHEDULE = "schedule" @ 8,
        RESERVE = "reserve" @ 9, PUBLISH = "publish" @ 10, RUN = "run" @ 11, MOVE = "move" @ 12,
        OPERATE = "operate" @ 13, PROCLAIM = "proclaim" @ 14,
    }
}

/// Kinds of things.
pub(super) mod object {
    kinds! {
        MONEY = "money" @ 0, MESSAGE = "message" @ 1, EVENT = "event" @ 2, FILE = "file" @ 3,
        PERSON = "person" @ 4, CHANNEL = "channel" @ 5, PAGE = "page" @ 6, BOOKING = "booking" @ 7,
        ORDER = "order" @ 8, SETTINGS = "settings" @ 9, CREDENTIAL = "credential" @ 10,
        ACCESS = "access" @ 11, CODE = "code" @ 12,
    }
}

/// Things that must be named in so many words before they are touched.
const DELICATE: u32 = object::CREDENTIAL | object::ACCESS;

/// What a tool does to what, as far as its name and description say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Act {
    pub(super) verbs: u32,
    pub(super) objects: u32,
    pub(super) shows: Shows,
    /// It does something: it is none that only looks.
    pub(super) acts: bool,
    /// Its name, its server or a catalogue says that it destroys something.
    pub(super) is_said_to_destroy: bool,
    /// The words of its name, for people.
    pub(super) words: Arc<[String]>,
}

impl Act {
    /// What `tool` does.
    #[must_use]
    pub fn of(tool: &ToolDef, flow: &Flow) -> Self {
        let mut act = Self::named(tool.name.as_str());
        if is_document(&act.words, tool, flow) {
            act.shows = Shows::Document;
        }
        act.acts = Self::is_done(flow);
        let hinted = tool.annotations.get("destructiveHint").and_then(serde_json::Value::as_bool);
        let by_name = act.verbs & verb::DELETE != 0;
        let is_said = by_name || hinted == Some(true) || !infer(tool).destructive;
        act.is_said_to_destroy = flow.destructive && is_said;
        if act.verbs == 0 {
            act.verbs = lead_verb(&tool.description);
        }
        if act.verbs == 0 && act.acts {
            act.verbs = foreign_verbs(&act.words, &tool.description);
        }
        if act.objects == 0 {
            let first = tool.description.split(['.', '\n']).next().unwrap_or_default();
            act.objects = words(&fold(first)).fold(0, |all, it| all | object_of(&it));
        }
        act
    }

    /// Does something that flows so do anything, or does it only look?
    pub(crate) fn is_done(flow: &Flow) -> bool {
        flow.reach != Reach::Read || flow.destructive
    }

    /// The same for a tool of which only the name is known.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let words: Arc<[String]> = name_words(name).into();
        let mut act = Self { words: Arc::clone(&words), ..Self::default() };
        for word in words.iter() {
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
        if act.verbs & verb::CREATE != 0 && act.objects & object::EVENT != 0 {
            act.verbs |= verb::SCHEDULE;
        }
        if act.verbs & verb::ADD != 0 && act.objects & object::PERSON != 0 {
            act.verbs |= verb::INVITE;
        }
        act
    }

    /// The same with another form of what it gives back.
    #[must_use]
    pub(crate) fn showing(self, shows: Shows) -> Self {
        Self { shows, ..self }
    }

    /// Is it asked for? `spoken` knows the words of whoever asks.
    pub(super) fn is_asked_for(&self, asked: &Asked, spoken: impl Fn(&str) -> bool) -> bool {
        let named = self.nouns().any(&spoken);
        // The tool's own word for what it does stands for itself, whatever the tables say.
        // A thing that it names as well (`alarm`) says nothing of what is done to it.
        let telling = |it: &&String| it.len() > 3 && !WIDE.has(it.as_str());
        let doing = self.words.iter().filter(telling).any(|it| object_of(it) == 0 && spoken(it))
            && (self.words.len() == 1
                || self.words.iter().filter(|it| it.len() > 2 && spoken(it)).count() > 1);
        let delicate = self.objects & DELICATE;
        if delicate != 0 && !asked.clauses().iter().any(|it| it.objects & delicate != 0) {
            return false;
        }
        if doing && (named || self.objects == 0) {
            return true;
        }
        if delicate == 0 && asked.clauses().iter().any(|it| it.foreign & self.verbs != 0) {
            return true;
        }
        asked.clauses().iter().any(|clause| {
            let mut things = clause.objects | clause.implied;
            // Code is in files, and to work on it is to run commands.
            if things & object::CODE != 0 {
                things |= object::FILE;
            }
            let code =
                self.verbs & verb::RUN != 0 && things & object::CODE != 0 && clause.verbs != 0;
            let verbs = clause.verbs & self.verbs != 0;
            if things & MAYBE_SOMEBODY != 0 && self.objects & object::PERSON != 0 {
                things |= object::PERSON;
            }
            let objects = self.objects & things != 0 || things & !MAYBE_SOMEBODY == 0;
            code || (verbs
                && (objects || named || (self.objects == 0 && self.nouns().next().is_none())))
        })
    }

    /// The words of its name for what it acts on.
    fn nouns(&self) -> impl Iterator<Item = &str> {
        let plain = |it: &&str| tool_verb(it).is_none() && it.len() > 2 && !JOINERS.has(it);
        self.words.iter().map(String::as_str).filter(plain)
    }

    /// The same for what other texts ask for: there a hint is enough.
    pub(super) fn is_hinted_at(&self, asked: &Asked, heard: impl Fn(&str) -> bool) -> bool {
        asked.clauses().iter().any(|it| (it.verbs | it.foreign) & self.verbs != 0)
            || self.nouns().any(heard)
    }

    /// Does it touch what must be named in so many words?
    pub(super) fn is_delicate(&self) -> bool {
        self.objects & DELICATE != 0
    }
}

/// The words of a name in `snake_case`, `camelCase`, `kebab-case` or `a__b`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
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

fn lead_verb(description: &str) -> u32 {
    let folded = fold(description);
    let first = words(&folded).next().unwrap_or_default();
    // `Sends a message`, `Send a message`.
    tool_verb(&first).or_else(|| tool_verb(singular(&first))).unwrap_or_default()
}

/// The verbs of a tool that is described in another language than English: `poczta_wyslij`. Beginnings of words of other
/// languages are those of English words, too.
pub(super) fn foreign_verbs(name: &[String], description: &str) -> u32 {
    if !reads_as_foreign(&fold(description)) {
        return 0;
    }
    let of_name = name.iter().fold(0, |all, it| all | bare_stem_acts(it));
    if of_name != 0 {
        return of_name;
    }
    let folded = fold(description);
    words(&folded).next().map_or(0, |it| stem_acts(&it))
}

fn is_document(words: &[String], tool: &ToolDef, flow: &Flow) -> bool {
    let reads = words.iter().any(|it| READERS.has(it.as_str()));
    let whole = |name: &str| {
        let name = name_words(name);
        name.iter().any(|it| WHOLE.has(it.as_str()))
            && !name.iter().any(|it| it == "id" || it == "query")
    };
    flow.reach == Reach::Read && reads && tool.parameters().any(|(name, _)| whole(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str, tool: &str) -> bool {
        {
            let folded = fold(text);
            let spoken = |word: &str| words(&folded).any(|it| it == word || singular(&it) == word);
            Act::named(tool).is_asked_for(&Asked::of(text), spoken)
        }
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
