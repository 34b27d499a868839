//! What the user asked for, as a reader of their words sees it.

/// Did the user ask for a tool?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// They did.
    Asked,
    /// They did not: a person is asked.
    NotAsked,
    /// It cannot be said: other readers decide.
    Unsure,
    /// No reader has read it.
    Unread,
}

/// A tool as it was pinned: its name and what it is said to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolText<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
}

/// A reader of the user's words.
///
/// It is given the user's own words and the pinned texts of tools, never arguments, quotes or text from outside: nobody but
/// the user can steer it. What it says never lifts a rule about values.
pub trait IntentReader: std::fmt::Debug + Send + Sync {
    /// Do `words` ask for `tool`? `others` are the other tools of the session that act.
    fn read(&self, words: &str, tool: ToolText<'_>, others: &[ToolText<'_>]) -> Intent;
}
