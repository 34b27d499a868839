//! What a command does that lasts or goes out, so that somebody can ask whether anybody wanted it.
//!
//! By what programs are told ([`super::Told`]), from a table. Nothing is decided here.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::judge::{DATABASES, Given, Options, is_true};
use crate::limits::ACTS_MAX;
use crate::wrappers::after_options;
use crate::{Call, Rows, Words, marks, text};

model::rules! {
    /// A kind of thing done that lasts or goes out.
    ///
    /// Published: others can see or use it from then on. Pushed: commits go to a remote that they did not come from.
    /// Merged: work of others is let in. A message: somebody gets to read something. To depend: code of others becomes
    /// part of the work, or of the machine. A source: packages come from somewhere else. Extended: an agent, an editor or a
    /// repository runs something more. Weakened: a check is switched off. Erased: work is gone that nothing brings back.
    /// Granted: somebody gets rights, a key or a secret.
    pub enum Act {
        Publish = "publish",
        Push = "push",
        Merge = "merge",
        Message = "message",
        Depend = "depend",
        Source = "source",
        Extend = "extend",
        Weaken = "weaken",
        Erase = "erase",
        Grant = "grant",
    }
}

impl Act {
    fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == word)
    }
}

/// An act of a command, and on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its kind.
    pub act: Act,
    /// The command: `npm install`.
    pub command: String,
    /// What it names; empty if it names nothing. Of several packages each is an act of its own.
    pub named: String,
}

impl Done {
    pub(super) fn new(act: Act, command: &str, named: &str) -> Self {
        Self { act, command: command.to_owned(), named: marks::shown(named) }
    }
}

/// `= ACT` begins the rows of an act, `@NAME = TEST TEST …` names several tests. A row is `COMMAND, COMMAND …: TEST TEST …`:
/// programs with what they are told, or variables (`$NAME`), whose value is the only argument. All tests must hold for what stands behind
/// the command; they are those of `judge/rules.txt`, and besides them `name` (a word names something elsewhere; each
/// such word is an act) and `first` (the first of them alone).
const TABLE: &str = include_str!("acts.txt");

/// A row of the table.
struct Entry {
    act: Act,
    tests: Vec<&'static str>,
}

/// The rows of each command.
static ENTRIES: LazyLock<HashMap<&str, Vec<Entry>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<Entry>>::new();
    for (act, commands, tests) in rows() {
        for command in commands.split(", ") {
            all.entry(command).or_default().push(Entry { act, tests: tests.clone() });
        }
    }
    all
});

/// Programs with a row, whatever they are told.
static PROGRAMS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ENTRIES.keys().filter_map(|it| it.split(' ').next()).collect());

/// Is there anything that this program can be told that is an act?
pub(super) fn knows(program: &str) -> bool {
    PROGRAMS.contains(program)
}

/// The rows: the act, the commands, the tests.
fn rows() -> impl Iterator<Item = (Act, &'static str, Vec<&'static str>)> {
    let (mut act, mut groups) = (None, HashMap::new());
    TABLE.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("= ") {
            act = Act::named(name);
        } else if let Some((group, tests)) = line.split_once(" = ") {
            groups.insert(group, tests);
        } else if !line.is_empty() && !line.starts_with('#') {
            let (commands, tests) = line.split_once(": ").unwrap_or((line, ""));
            let words = tests.split(' ').filter(|it| !it.is_empty());
            let tests = words.flat_map(|it| groups.get(it).unwrap_or(&it).split(' ')).collect();
            return act.map(|it| (it, commands, tests));
        }
        None
    })
}

/// Options with a value, by the command.
static VALUED: Rows = Rows::named("acts.VALUED");
/// Commands that run what their first word names: options behind it are not theirs.
static RUNNERS: Words = Words::named("acts.RUNNERS");
/// Options with which a command only says what it would do.
static DRY: Rows = Rows::named("acts.DRY");

/// What stands behind a command, read once for all of its rows.
struct Behind<'a> {
    call: &'a Call<'a>,
    options: Options<'a>,
    valued: &'static [&'static str],
}

impl<'a> Behind<'a> {
    fn new(command: &str, call: &'a Call<'a>) -> Self {
        let valued = VALUED.get(command).unwrap_or_default();
        Self { call, options: Options::with(call.plain(), valued), valued }
    }

    fn is_dry(&self, command: &str) -> bool {
        let signs = DRY.get(command).unwrap_or_default();
        let is_off = |it: &Given<'_>| matches!(it.glued, Some("none" | "false" | "no" | "0"));
        let mut given = self.options.given.iter().filter(|it| !is_off(it));
        given.any(|it| signs.iter().any(|sign| is_option(it, sign, true)))
    }

    fn holds(&self, test: &str) -> bool {
        match test.strip_prefix('!') {
            Some(rest) if rest.starts_with('-') => !self.has(rest, true),
            None if matches!(test, "name" | "first") => self.names().next().is_some(),
            None if test.starts_with('-') => self.has(test, false),
            Some(_) | None => is_true(test, self.call),
        }
    }

    fn has(&self, signs: &str, is_exact: bool) -> bool {
        let mut given = self.options.given.iter();
        given.any(|it| signs.split('|').any(|sign| is_option(it, sign, is_exact)))
    }

    /// What a row is about: the values of the options that it asks for, or what the words name elsewhere.
    fn named(&self, entry: &Entry) -> Vec<&'a str> {
        let is_asked = |it: &Given<'_>| {
            let signs = entry.tests.iter().filter(|it| it.starts_with('-'));
            signs.flat_map(|it| it.split('|')).any(|sign| is_option(it, sign, false))
        };
        let values = self.options.given.iter().filter(|it| is_asked(it));
        let values: Vec<&str> = values.filter_map(|it| self.value(it)).collect();
        let most = if entry.tests.contains(&"name") { ACTS_MAX + 1 } else { 1 };
        let named = if values.is_empty() { self.names().take(most).collect() } else { values };
        if named.is_empty() { vec![""] } else { named }
    }

    /// What the words name elsewhere, and addresses among the values of options.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let values = self.options.given.iter().filter_map(|it| self.value(it));
        let words = self.options.words.iter().copied().filter(|it| is_name(it));
        values.filter(|it| it.contains("://")).chain(words)
    }

    fn value(&self, given: &Given<'a>) -> Option<&'a str> {
        let is_valued = self.valued.iter().any(|it| is_option(given, it, true));
        given.glued.or_else(|| given.value().filter(|_| is_valued))
    }
}

/// Is it `--name`, or one of the letters of `-xy`? A name may be cut short, unless it must be exact: then it makes nothing
/// harmless that it may not mean.
fn is_option(given: &Given<'_>, sign: &str, is_exact: bool) -> bool {
    match (sign.strip_prefix("--"), is_exact) {
        (Some(name), true) => given.is_one_of("", &[name]),
        (Some(name), false) => given.is("", name),
        (None, _) => given.is_one_of(sign.trim_start_matches('-'), &[]),
    }
}

/// A word that names something elsewhere: no place of this machine.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with(['.', '/', '~', '$', '-'])
}

/// What a program does that is told these commands, each with the arguments behind it.
pub(super) fn of<'a>(
    call: &Call<'_>,
    told: impl Iterator<Item = (&'a str, &'a [&'a str])>,
) -> Vec<Done> {
    let mut found: Vec<Done> = Vec::new();
    for (command, behind) in told {
        let entries = ENTRIES.get(command).map(Vec::as_slice).unwrap_or_default();
        let is_special = matches!(command, "gh api" | "glab api" | "git push");
        if entries.is_empty() && !is_special {
            continue;
        }
        let mut args: Vec<String> = behind.iter().map(|it| (*it).to_owned()).collect();
        if RUNNERS.contains(&command) {
            let valued = VALUED.get(command).unwrap_or_default();
            let run = after_options(&args, valued, 0).len();
            args.truncate(args.len() - run.saturating_sub(1));
        }
        let given = Call::new(String::new(), &args, call.stdin);
        let behind = Behind::new(command, &given);
        if behind.is_dry(command) {
            continue;
        }
        for it in entries.iter().filter(|it| it.tests.iter().all(|test| behind.holds(test))) {
            let named = behind.named(it).into_iter();
            found.extend(named.map(|name| Done::new(it.act, command, name)));
        }
        match command {
            "git push" => found.extend(pushed(&behind.options)),
            "gh api" | "glab api" => found.extend(requested(command, &behind.options)),
            _ => {}
        }
    }
    let program = call.name.as_str();
    if DATABASES.contains(&program) {
        let given = call.stdin.map(text).unwrap_or_default();
        let statements = call.plain().iter().map(String::as_str).chain([given.as_str()]);
        if statements.into_iter().any(empties) {
            found.push(Done::new(Act::Erase, program, ""));
        }
    }
    found
}

/// What a variable with this value does for all that reads it.
pub(super) fn of_variable(name: &str, value: &str) -> Vec<Done> {
    let key = format!("${name}");
    let Some(entries) = ENTRIES.get(key.as_str()) else { return Vec::new() };
    let args = [value.to_owned()];
    let call = Call::new(String::new(), &args, None);
    let holds = |it: &&Entry| it.tests.iter().all(|test| is_true(test, &call));
    entries.iter().filter(holds).map(|it| Done::new(it.act, name, value)).collect()
}

/// A request to a service that changes something there. Fields make it a POST, unless it is said to be a GET; a query is one.
fn requested(command: &str, options: &Options<'_>) -> Option<Done> {
    let method = options.values("X", "method").last();
    let reads_file = options.has("", "input");
    let fields: Vec<&str> =
        options.values("fF", "field").chain(options.values("", "raw-field")).collect();
    let changes = match method {
        Some(method) => !method.eq_ignore_ascii_case("get"),
        None if options.words.contains(&"graphql") => {
            reads_file || fields.iter().any(|it| it.contains("mutation") || it.contains("=@"))
        }
        None => reads_file || !fields.is_empty(),
    };
    let deletes = method.is_some_and(|it| it.eq_ignore_ascii_case("delete"));
    let act = if deletes { Act::Erase } else { Act::Message };
    changes.then(|| Done::new(act, command, ""))
}

/// Commits go where they came from, or elsewhere; or they take the place of others.
fn pushed(options: &Options<'_>) -> Vec<Done> {
    let mut found = Vec::new();
    let (named, refs) =
        options.words.split_first().map_or((None, &[][..]), |it| (Some(*it.0), it.1));
    let remote = named.or_else(|| options.values("", "repo").last()).unwrap_or("origin");
    if !OWN_REMOTES.contains(&remote) {
        found.push(Done::new(Act::Push, "git push", remote));
    }
    let forced = [("f", "force"), ("d", "delete"), ("", "mirror"), ("", "prune")];
    let is_forced = forced.iter().any(|it| options.has(it.0, it.1));
    if is_forced || options.words.iter().any(|it| it.starts_with([':', '+'])) {
        let branch = refs.first().copied().unwrap_or_default();
        let branch = branch.trim_start_matches([':', '+']);
        found.push(Done::new(Act::Erase, "git push --force", branch));
    }
    found
}

/// Where a clone's commits came from, by the names that git and people give it.
const OWN_REMOTES: &[&str] = &["origin", "upstream"];

/// Is there a statement that empties a table or drops it?
fn empties(statements: &str) -> bool {
    statements.to_ascii_lowercase().split(';').any(|statement| {
        let all: Vec<&str> = statement.split_whitespace().collect();
        let is_losing = |it: &[&str]| {
            matches!(
                it,
                ["drop", "table" | "database" | "schema" | "column"]
                    | ["truncate", _]
                    | ["delete", "from"]
            )
        };
        let has_where = all.contains(&"delete") && all.contains(&"where");
        let is_of_documents =
            [".drop(", "dropdatabase(", "deletemany({})"].iter().any(|it| statement.contains(it));
        (all.windows(2).any(is_losing) && !has_where) || is_of_documents
    })
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    /// What a test of a row asks for: the first of what it names.
    fn argument(test: &str) -> String {
        let first = |it: &str| it.split('|').next().unwrap_or_default().to_owned();
        match test {
            "name" | "first" => "some-name".to_owned(),
            _ if test.starts_with("--") => first(test),
            _ if test.starts_with('-') => test.chars().take(2).collect(),
            _ if test.starts_with('!') || test.contains('>') => String::new(),
            _ => {
                let wanted = first(test.split_once('=').unwrap().1);
                wanted.replace('*', "x").replace("\\a", "'*'")
            }
        }
    }

    fn example(command: &str, tests: &[&str]) -> String {
        if let Some(name) = command.strip_prefix('$') {
            return format!("{name}=https://x.example/ true");
        }
        let args: Vec<String> = tests.iter().map(|it| argument(it)).collect();
        let many = tests.iter().any(|it| it.starts_with("words>"));
        let one = args.iter().filter(|it| !it.is_empty() && !it.starts_with('-')).count() == 1;
        let last = if many && one { " x" } else { "" };
        format!("{command} {}{last}", args.join(" "))
    }

    #[test]
    fn every_row_has_an_act_and_can_match() {
        let known = ["w", "l", "o", "o1", "a", "1"];
        for line in TABLE.lines() {
            let is_row = !line.is_empty() && !line.starts_with(['#', '=', '@']);
            let is_group = line.starts_with('@') && line.contains(" = ");
            let is_act = line.strip_prefix("= ").is_some_and(|it| Act::named(it).is_some());
            let is_note = line.is_empty() || line.starts_with("# ");
            assert!(is_row || is_group || is_act || is_note, "{line}");
            let commands = line.split(": ").next().unwrap_or_default();
            assert!(!is_row || !commands.contains(['=', '|', '@', '+']), "{line}");
        }
        for (act, commands, tests) in rows() {
            for test in &tests {
                let bare = test.trim_start_matches('!');
                let is_subject = bare.split_once('=').is_some_and(|it| known.contains(&it.0));
                let is_known = matches!(bare, "name" | "first") || bare.starts_with("words>");
                assert!(bare.starts_with('-') || is_known || is_subject, "{commands}: {test}");
            }
            for command in commands.split(", ") {
                let text = example(command, &tests);
                let found = read(&text).acts;
                assert!(found.iter().any(|it| it.act == act), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn options_with_values_and_dry_runs_are_those_of_rows() {
        for command in VALUED.keys().chain(DRY.keys()) {
            let is_special = matches!(command, "gh api" | "glab api" | "git push" | "git add");
            assert!(is_special || ENTRIES.contains_key(command), "{command}");
        }
    }
}
