//! What a command does that lasts or goes out, so that somebody can ask whether anybody wanted it.
//!
//! By what programs are told ([`super::Told`]), from a table. Nothing is decided here.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::told::Told;

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
    fn new(act: Act, command: &str, named: &str) -> Self {
        Self { act, command: command.to_owned(), named: named.to_owned() }
    }
}

/// Acts of one text that are kept.
pub(super) const ACTS_MAX: usize = 64;

/// `ACT: COMMAND, COMMAND …` by lines; behind a command what must stand among its arguments. `NAME`: a word that is no
/// option and no path. `A|B`: one of these. `A=`: a word that begins so.
const TABLE: &str = include_str!("acts.txt");

/// What stands behind a command in the table, by the command.
static ENTRIES: LazyLock<HashMap<&str, Vec<(Act, &str)>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<_>>::new();
    for (word, entries) in TABLE.lines().filter_map(|line| line.split_once(": ")) {
        let Some(act) = Act::named(word) else { continue };
        for entry in entries.split(", ") {
            let (command, needed) = entry.split_once(" + ").unwrap_or((entry, ""));
            all.entry(command).or_default().push((act, needed));
        }
    }
    all
});

/// What a program that is told `told` does, with these arguments.
pub(super) fn of(program: &str, args: &[&str], told: &Told) -> Vec<Done> {
    let mut found: Vec<Done> = Vec::new();
    let mut commands: BTreeSet<&str> =
        told.programs.iter().chain(&told.commands).map(String::as_str).collect();
    let deeper = deeper(program, args);
    commands.extend(deeper.iter().map(String::as_str));
    for command in commands {
        for (act, needed) in ENTRIES.get(command).into_iter().flatten() {
            let behind = behind(command, args);
            if needed.split(" + ").all(|it| it.is_empty() || stands(it, behind)) {
                let most = if needed.contains("NAME") { ACTS_MAX } else { 1 };
                let before = found.len();
                found.extend(names(behind).take(most).map(|it| Done::new(*act, command, it)));
                if found.len() == before {
                    found.push(Done::new(*act, command, ""));
                }
            }
        }
    }
    if told.commands.contains("gh api") && changes(behind("gh api", args)) {
        let deletes = args.iter().any(|it| it.to_ascii_lowercase().ends_with("delete"));
        let act = if deletes { Act::Erase } else { Act::Message };
        found.push(Done::new(act, "gh api", ""));
    }
    if told.commands.contains("git push") {
        found.extend(pushed(behind("git push", args)));
    }
    if DATABASES.contains(&program) && args.iter().any(|it| empties(it)) {
        found.push(Done::new(Act::Erase, program, ""));
    }
    found
}

/// Words that a program may be told in a row.
const WORDS_MAX: usize = 4;

/// The program with its first words, two and more: `claude mcp add`.
fn deeper(program: &str, args: &[&str]) -> Vec<String> {
    let words = args.iter().filter(|it| !it.starts_with('-')).take(WORDS_MAX);
    let mut command = program.to_owned();
    words
        .map(|word| {
            command = format!("{command} {word}");
            command.clone()
        })
        .collect()
}

/// The arguments behind the words of a command.
fn behind<'a>(command: &str, args: &'a [&'a str]) -> &'a [&'a str] {
    let last = command.rsplit(' ').next().filter(|it| *it != command);
    let at = last.and_then(|it| args.iter().position(|arg| *arg == it));
    args.get(at.map_or(0, |it| it.saturating_add(1))..).unwrap_or_default()
}

fn stands(needed: &str, args: &[&str]) -> bool {
    needed.split('|').any(|one| match one.strip_suffix('=') {
        Some(start) => args.iter().any(|it| it.starts_with(start)),
        None if one == "NAME" => names(args).next().is_some(),
        None => args.contains(&one),
    })
}

/// What the arguments name elsewhere.
fn names<'a>(args: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    args.iter().enumerate().filter_map(|(at, it)| {
        let before = at.checked_sub(1).and_then(|it| args.get(it));
        let is_listed = before.is_some_and(|it| TAKES_A_FILE.contains(it));
        (is_name(it) && (!is_listed || it.contains("://"))).then_some(*it)
    })
}

/// Behind these stands a list of what is there already.
const TAKES_A_FILE: &[&str] =
    &["-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-p", "--prefix", "-C"];

/// A word that names something elsewhere: no option, and no place of this machine.
fn is_name(word: &str) -> bool {
    let is_place = word.starts_with(['.', '/', '~', '$']) || word.is_empty();
    !is_place && !word.starts_with('-') && word != "install"
}

/// Does a request to a service change something there? Fields make it a POST, unless it is said to be a GET; a query is one.
fn changes(args: &[&str]) -> bool {
    let method = args.windows(2).find_map(|it| match it {
        ["-X" | "--method", method] => Some(*method),
        _ => None,
    });
    let glued = args.iter().find_map(|it| it.strip_prefix("--method=").or(it.strip_prefix("-X")));
    let fields = ["-f", "-F", "--field", "--raw-field", "--input"];
    let has_fields = args.iter().any(|it| fields.contains(it) || it.starts_with("--input="));
    match method.or(glued.filter(|it| !it.is_empty())) {
        Some(method) => !method.eq_ignore_ascii_case("get"),
        None if args.contains(&"graphql") => args.iter().any(|it| it.contains("mutation")),
        None => has_fields,
    }
}

/// Commits go where they came from, or elsewhere; or they take the place of others.
fn pushed(args: &[&str]) -> Vec<Done> {
    let mut found = Vec::new();
    let mut words = args.iter().filter(|it| !it.starts_with('-'));
    let remote = words.next().copied().unwrap_or("origin");
    if !OWN_REMOTES.contains(&remote) {
        found.push(Done::new(Act::Push, "git push", remote));
    }
    let forced = args.iter().any(|it| {
        matches!(*it, "-f" | "--force" | "-d" | "--delete" | "--mirror" | "--prune")
            || it.starts_with('+')
            // `-qf`, `-fu`, `-qd`.
            || it.strip_prefix('-').is_some_and(|it| !it.starts_with('-') && it.contains(['f', 'd']))
    });
    if forced || words.any(|it| it.starts_with([':', '+'])) {
        let named = args.iter().filter(|it| !it.starts_with('-')).nth(1).copied();
        let named = named.unwrap_or_default().trim_start_matches([':', '+']);
        found.push(Done::new(Act::Erase, "git push --force", named));
    }
    found
}

/// Where a clone's commits came from, by the names that git and people give it.
const OWN_REMOTES: &[&str] = &["origin", "upstream"];

/// Programs that take statements for a database.
const DATABASES: &[&str] =
    &["psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "cockroach"];

/// A statement that empties a table or drops it.
fn empties(statement: &str) -> bool {
    statement.to_ascii_lowercase().split(';').any(empties_one)
}

fn empties_one(statement: &str) -> bool {
    let all: Vec<&str> = statement.split_whitespace().collect();
    let drops = all.windows(2).any(|it| {
        matches!(
            it,
            ["drop", "table" | "database" | "schema"] | ["truncate", _] | ["delete", "from"]
        )
    });
    drops && !(all.contains(&"delete") && all.contains(&"where"))
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn acts(text: &str) -> Vec<Act> {
        let mut found: Vec<Act> = read(text).acts.iter().map(|it| it.act).collect();
        found.dedup();
        found
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        for line in TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
            let word = line.split_once(": ").map(|it| it.0).unwrap_or_default();
            assert!(Act::named(word).is_some(), "{line}");
        }
    }

    #[test]
    fn acts_are_known_and_work_is_none() {
        for (text, act) in [
            ("npm publish --access public", Act::Publish),
            ("cargo publish --allow-dirty", Act::Publish),
            ("gh release create v1", Act::Publish),
            ("gh repo edit --visibility public", Act::Publish),
            ("gh pr merge --admin --squash", Act::Merge),
            ("npm install --save left-pad@1", Act::Depend),
            ("python3 -m pip install requests", Act::Depend),
            ("go get example.com/x@v1", Act::Depend),
            ("npx -y @a/b --silent", Act::Depend),
            ("npm config set registry https://r.example/", Act::Source),
            ("claude mcp add --scope user helper -- npx x", Act::Extend),
            ("git config --global http.sslVerify false", Act::Weaken),
            ("npm config set strict-ssl false", Act::Weaken),
            ("git commit -qam x --no-verify", Act::Weaken),
            ("git push review HEAD", Act::Push),
            ("git push --force", Act::Erase),
            ("git push origin :old", Act::Erase),
            ("git reset --hard HEAD~3", Act::Erase),
            ("git clean -fdx", Act::Erase),
            ("git checkout -- .", Act::Erase),
            ("git stash clear", Act::Erase),
            ("psql -c 'DELETE FROM users'", Act::Erase),
            ("helm uninstall web", Act::Erase),
            ("gh pr create --title x", Act::Message),
            ("gh secret set X", Act::Grant),
            ("gh api -X DELETE repos/a/b", Act::Erase),
            ("gh api graphql -f query='mutation { x }'", Act::Message),
        ] {
            assert!(acts(text).contains(&act), "{text}: {:?}", acts(text));
        }
        for text in [
            "git push",
            "git push -u origin feature",
            "git status",
            "git reset HEAD~1",
            "git checkout -- src/a.rs",
            "git checkout -b x",
            "git stash",
            "npm ci",
            "npm install",
            "npm run build",
            "npm config get registry",
            "pip install -r requirements.txt",
            "pip install -e .",
            "cargo build",
            "go test ./...",
            "go mod tidy",
            "npx tsc --noEmit",
            "gh pr view 12",
            "gh run view 1 --log",
            "git commit -m x",
            "git config --get user.name",
            "psql -c 'DELETE FROM users WHERE id = 3'",
            "gh api graphql -f query='query { viewer { login } }'",
            "gh api repos/a/b/pulls/1/comments",
        ] {
            assert_eq!(acts(text), [], "{text}");
        }
    }
}
