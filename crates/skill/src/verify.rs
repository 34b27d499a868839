//! The whole skill: every file by its kind, then what the files say together.

use aegx::Digest;
use model::skill::{Severity, SkillCheck};

use crate::commands::{self, Command};
use crate::documents;
use crate::finding::{FINDINGS_MAX, Finding, Findings};
use crate::front::Front;
use crate::kind::{FileKind, kind};
use crate::manifests;
use crate::names::{self, Index};
use crate::programs::{self, Piece};
use crate::stance::Stance;
use crate::texts;
use crate::tree::{TEXT, Tree};

/// The longest text that is read, in bytes. A longer one is a finding.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Commands of one skill that are followed. Those beyond are a finding.
pub const COMMANDS_MAX: usize = 800;
/// The longest program for a shell that is read in one piece, in bytes.
const SCRIPT_BYTES_MAX: usize = 60 << 10;

/// What is known of a skill.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it calls itself.
    pub name: Option<String>,
    /// What it says that it is for.
    pub description: Option<String>,
    /// The hash of its files.
    pub digest: Digest,
    /// How many there are.
    pub files: usize,
    /// What speaks against it, the worst first.
    pub findings: Vec<Finding>,
    /// Commands in its front matter that install packages, as they stand there.
    pub installs: Vec<String>,
}

/// How much may still be done.
pub(crate) struct Budget {
    commands: usize,
}

impl Budget {
    /// Takes one command. Are there any left?
    pub(crate) fn command(&mut self) -> bool {
        let left = self.commands > 0;
        self.commands = self.commands.saturating_sub(1);
        left
    }
}

/// Looks at every file of a skill. `name` is what it is to be called; without one, what it calls itself counts.
#[must_use]
pub fn verify(tree: &Tree, name: Option<&str>, index: &Index) -> Report {
    let text = tree.file(TEXT).map(String::from_utf8_lossy).unwrap_or_default();
    let front = Front::read(&text);
    let mut budget = Budget { commands: COMMANDS_MAX };
    let mut all = Vec::new();
    about_skill(tree, &front, name, index, &text, &mut all);
    // What runs comes first, so that no document takes its share of what may be done.
    for is_document in [false, true] {
        let wanted = |it: &(&str, &[u8])| (kind(it.0, it.1) == FileKind::Document) == is_document;
        for (path, bytes) in tree.files().filter(wanted) {
            all.extend(file(path, bytes, tree, &mut budget));
        }
    }
    if budget.commands == 0 {
        let mut found = Findings::new(TEXT, &text);
        let why =
            format!("it has more than {COMMANDS_MAX} commands, and the rest was not followed");
        found.add(SkillCheck::Unread, Severity::Medium, (0, 0), why);
        all.extend(found.into_vec());
    }
    all.sort_by(|one, other| {
        let key =
            |it: &Finding| (std::cmp::Reverse(it.severity), it.file.clone(), it.start, it.check);
        key(one).cmp(&key(other))
    });
    all.truncate(FINDINGS_MAX);
    Report {
        name: front.name,
        description: front.description,
        digest: tree.digest(),
        files: tree.files().len(),
        findings: all,
        installs: front.installs,
    }
}

/// Its name, its front matter, its form.
fn about_skill(
    tree: &Tree,
    front: &Front,
    name: Option<&str>,
    index: &Index,
    text: &str,
    all: &mut Vec<Finding>,
) {
    let mut found = Findings::new(TEXT, text);
    if tree.file(TEXT).is_none() {
        let why = format!("there is no `{TEXT}`: this is no skill, or one that hides its text");
        found.add(SkillCheck::Form, Severity::Medium, (0, 0), why);
    }
    if let Some(problem) = front.problem {
        found.add(SkillCheck::Form, Severity::Low, (0, 0), problem);
    }
    let end = front.bytes;
    for (check, severity, why) in front.requests() {
        found.add(check, severity, (0, end), why);
    }
    if let Some(name) = name.or(front.name.as_deref()) {
        for (check, severity, why) in names::check(name, index) {
            found.add(check, severity, (0, end), why);
        }
    }
    all.extend(found.into_vec());
}

/// One file.
fn file(path: &str, bytes: &[u8], tree: &Tree, budget: &mut Budget) -> Vec<Finding> {
    let kind = kind(path, bytes);
    let text = match kind {
        FileKind::Machine(_) | FileKind::Packed(_) | FileKind::Data => None,
        FileKind::Document
        | FileKind::Shell
        | FileKind::Code(_)
        | FileKind::OtherScript
        | FileKind::Json
        | FileKind::Text => std::str::from_utf8(bytes).ok(),
    };
    let mut found = Findings::of_bytes(path, text.unwrap_or_default(), bytes);
    let Some(text) = text else {
        packed(kind, path, bytes, &mut found);
        return found.into_vec();
    };
    if text.len() > TEXT_BYTES_MAX {
        let why = format!("it has more than {TEXT_BYTES_MAX} bytes, and was not read");
        found.add(SkillCheck::Unread, Severity::Medium, (0, 0), why);
        return found.into_vec();
    }
    let has_file = |path: &str| tree.file(path).is_some();
    let stance = match kind {
        FileKind::Document => Stance::Document,
        FileKind::Shell
        | FileKind::Code(_)
        | FileKind::OtherScript
        | FileKind::Json
        | FileKind::Text
        | FileKind::Machine(_)
        | FileKind::Packed(_)
        | FileKind::Data => Stance::Program,
    };
    match kind {
        FileKind::Document => documents::check(text, tree, budget, &mut found),
        FileKind::Shell => shell(text, &has_file, budget, &mut found),
        FileKind::Code(language) => {
            let piece = Piece { language, text, start: 0, stance, has_file: &has_file };
            programs::check(&piece, budget, &mut found);
        }
        FileKind::OtherScript => {
            let why = "a program in a language that is not read here";
            found.add(SkillCheck::Unread, Severity::Medium, (0, 0), why);
            manifests::lines(text, &has_file, budget, &mut found);
        }
        FileKind::Json => manifests::json(path, text, &has_file, budget, &mut found),
        FileKind::Text => manifests::lines(text, &has_file, budget, &mut found),
        FileKind::Machine(_) | FileKind::Packed(_) | FileKind::Data => {}
    }
    texts::check(text, stance, &has_file, budget, &mut found);
    found.into_vec()
}

fn packed(kind: FileKind, path: &str, bytes: &[u8], found: &mut Findings<'_>) {
    let end = path.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
    let is_disguised =
        ["png", "jpg", "jpeg", "gif", "svg", "pdf", "md", "txt", "json", "csv", "ico", "ttf"];
    match kind {
        FileKind::Machine(what) if is_disguised.contains(&end.as_str()) => {
            let why = format!("{what} under the name of something else");
            found.add(SkillCheck::Binary, Severity::Critical, (0, 0), why);
        }
        FileKind::Machine(what) => {
            found.add(
                SkillCheck::Binary,
                Severity::Medium,
                (0, 0),
                format!("{what}, which cannot be read"),
            );
        }
        FileKind::Packed(what) => {
            let why = format!("{what}: what is in it was not read");
            found.add(SkillCheck::Binary, Severity::Medium, (0, 0), why);
        }
        FileKind::Data if documents::is_text_name(&end) && !bytes.is_empty() => {
            let why = "it is no UTF-8, or has bytes that no text has, and was not read";
            found.add(SkillCheck::Unread, Severity::Medium, (0, 0), why);
        }
        FileKind::Data
        | FileKind::Document
        | FileKind::Shell
        | FileKind::Code(_)
        | FileKind::OtherScript
        | FileKind::Json
        | FileKind::Text => {}
    }
}

/// A program for a shell.
fn shell(
    text: &str,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    if text.len() > SCRIPT_BYTES_MAX {
        let why = format!(
            "a shell script of more than {SCRIPT_BYTES_MAX} bytes was read line by line only"
        );
        found.add(SkillCheck::Unread, Severity::Medium, (0, 0), why);
        manifests::lines(text, has_file, budget, found);
        return;
    }
    block(text, 0, Stance::Program, has_file, budget, found);
}

/// Commands that belong together, and in which of their lines each thing stands.
pub(crate) fn block(
    text: &str,
    start: usize,
    stance: Stance,
    has_file: &dyn Fn(&str) -> bool,
    budget: &mut Budget,
    found: &mut Findings<'_>,
) {
    if text.trim().is_empty() || !budget.command() {
        return;
    }
    let facts = commands::facts(&Command { text, stance, is_sure: true, has_file });
    if facts.is_empty() {
        return;
    }
    // Only what was found is looked for again, line by line.
    let mut of_lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = (start + at, start + at + line.trim_end().len());
        at += line.len();
        if line.trim().len() > 3 && !line.trim_start().starts_with('#') && budget.command() {
            let command = Command { text: line.trim(), stance, is_sure: true, has_file };
            of_lines.push((span, commands::facts(&command)));
        }
    }
    for fact in facts {
        let line = of_lines.iter().find(|it| it.1.iter().any(|it| it.check == fact.check));
        let span = line.map_or((start, start + text.trim_end().len()), |it| it.0);
        found.add(fact.check, fact.severity, span, fact.why);
    }
}
