//! Texts that hosts read to their models as instructions, without a call of a tool.
//!
//! By the hosts' documentation, which changes: a name too many has a text heard that nobody reads, a name too few hides one.

/// By which names a host looks for such texts, in the folder where it works and in each one above.
#[derive(Clone, Copy, Debug)]
pub struct Instructions {
    /// Files.
    pub files: &'static [&'static str],
    /// Folders, of which every file counts whose name ends so, however deep.
    pub folders: &'static [(&'static str, &'static str)],
    /// Folders of texts that it puts in the place of a prompt that names one (`/name`), and hands over as the prompt.
    pub commands: &'static [(&'static str, &'static str)],
    /// Files that it looks for in the folders below where it works, too.
    pub below: &'static [&'static str],
}

/// The file that hosts of several makers share.
pub(crate) const SHARED: &str = "AGENTS.md";
