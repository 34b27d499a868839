//! A command as a tree: what bash would make of the text, before anything is expanded.

mod cursor;
mod escape;
mod heredoc;
mod param;
mod script;
mod simple;
mod word;

pub(super) use escape::{Bytes, ansi_c, letter, octal};
pub(super) use script::{parse, quoted};
pub(super) use simple::literal;

/// The text cannot be read as a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable(pub(super) &'static str);

/// A list of commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) chains: Vec<Chain>,
}

/// `a && b || c`.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) first: Pipeline,
    pub(super) rest: Vec<(Joint, Pipeline)>,
    /// `&` stands behind it.
    pub(super) aside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

/// `a | b | c`.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    pub(super) stages: Vec<Command>,
    /// `!` stands before it.
    pub(super) negated: bool,
}

/// One stage with its redirections.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) kind: Kind,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Simple(Simple),
    Group(Script),
    Subshell(Script),
    If { arms: Vec<(Script, Script)>, other: Option<Script> },
    Loop { condition: Script, body: Script, until: bool },
    For { name: String, words: Option<Vec<Word>>, body: Script },
    ForArithmetic { start: String, condition: String, step: String, body: Script },
    Case { word: Word, arms: Vec<(Vec<Word>, Script)> },
    Function { name: String, body: Box<Command> },
    Arithmetic(String),
    Test(Vec<Word>),
}

/// Assignments and words.
#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
}

#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) index: Option<Word>,
    pub(super) append: bool,
    pub(super) value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Word),
    Array(Vec<(Option<Word>, Word)>),
}

/// Something that becomes any number of arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Without quotes: braces, tildes and patterns have meaning.
    Bare(String),
    /// Quoted or escaped: taken literally.
    Quoted(String),
    /// In double quotes.
    Double(Vec<Part>),
    Parameter(Box<Parameter>),
    Substitution(Script),
    Arithmetic(String),
    Process {
        script: Script,
        is_input: bool,
    },
}

/// `${…}` and its short forms.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) indirect: bool,
    pub(super) index: Option<Word>,
    pub(super) change: Change,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    None,
    Length,
    /// `${!prefix*}`.
    Names,
    /// `:-`, `:=`, `:+`, `:?` and those without a colon.
    Default {
        sign: char,
        or_empty: bool,
        word: Word,
    },
    Strip {
        suffix: bool,
        longest: bool,
        pattern: Word,
    },
    Replace {
        all: bool,
        anchor: Option<char>,
        pattern: Word,
        with: Word,
    },
    /// `^`, `,` or `~`.
    Case {
        sign: char,
        all: bool,
    },
    Slice {
        offset: Word,
        length: Option<Word>,
    },
    Transform(char),
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) fd: Option<u32>,
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    /// `>`, `>|`, `>>`.
    Write,
    /// `&>` and `>&` with a file.
    WriteBoth,
    Read,
    ReadWrite,
    /// `>&2`.
    Duplicate,
    /// The text itself is in the target.
    HereText,
}
