//! Files that no agent reads, by the host's settings (`files.denyRead`): which call would read one.
//!
//! The text of the call is looked at, with its `..` followed; whoever knows the disk adds where the text leads ([`OwnPlaces`]).

use model::ipc::ActionName;
use model::{Caller, EffectKind, Role};
use policy::access::Glob;

use crate::own_places::OwnPlaces;
use crate::target::{self, FILE_PARAMS};
use crate::understood::Understood;

/// Paths of one call that are compared. Beyond it the rest counts as one that is denied.
const PATHS_MAX: usize = 4096;

/// What a call would read although nobody reads it here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeniedRead {
    /// The path, as the call writes it.
    pub(crate) path: String,
    /// The pattern of the settings.
    pub(crate) pattern: String,
}

/// The first of what a call would read that one of the patterns denies.
pub(crate) fn of(
    patterns: &[Glob],
    places: Option<&dyn OwnPlaces>,
    who: &Caller,
    asked: &Understood,
) -> Option<DeniedRead> {
    if patterns.is_empty() {
        return None;
    }
    let of_commands = asked.commands.iter().flat_map(|it| &it.reading.places).filter(|it| {
        // What is moved away or linked can be read under its other name.
        !matches!(it.access, shell::Access::Write)
    });
    let of_commands = of_commands.map(|it| (it.path.as_str(), true));
    let named = named(asked);
    for (at, (path, is_word)) in
        of_commands.chain(named.iter().map(|it| (it.as_str(), false))).enumerate()
    {
        if at >= PATHS_MAX {
            let pattern = format!("more than {PATHS_MAX} paths in one call");
            return Some(DeniedRead { path: path.to_owned(), pattern });
        }
        let real = places.map(|it| it.leads_to(who, path)).unwrap_or_default();
        let spelled = std::iter::once(path).chain(real.iter().map(String::as_str));
        if let Some(pattern) = spelled.into_iter().find_map(|it| denying(patterns, it, is_word)) {
            return Some(DeniedRead { path: path.to_owned(), pattern: pattern.to_string() });
        }
    }
    None
}

/// The paths in the arguments of a call that reads what they name. Commands say by themselves what they touch, and our own
/// writing says where to; tools of others that write somewhere may read it, too.
fn named(asked: &Understood) -> Vec<String> {
    // To change a part of a file one must know it, and is told whether one does.
    let edits = asked.tool() == ActionName::FileEdit.as_str();
    let reads = matches!(
        asked.kind(),
        EffectKind::FileRead
            | EffectKind::ResourceRead
            | EffectKind::ToolRead
            | EffectKind::ToolWrite
            | EffectKind::ToolSend
            | EffectKind::ToolDestroy
    );
    if !edits && !reads {
        return Vec::new();
    }
    let flow = &asked.call.flow;
    let mut found = Vec::new();
    for (param, value) in asked.call.call.args() {
        // What is only said names no file.
        if flow.roles.get(param) == Some(&Role::Content) {
            continue;
        }
        let is_file = FILE_PARAMS.contains(&param.as_str());
        target::visit(value, &mut |text| {
            let text = text.trim();
            let is_local = !text.contains("://") || text.starts_with("file://");
            let is_path = !text.contains(char::is_whitespace) && text.contains(['/', '.', '\\']);
            if is_local && (is_file || is_path) {
                found.push(text.to_owned());
            }
        });
    }
    found
}

/// The pattern that denies a path, or a word for which a shell puts one.
pub(crate) fn denying<'a>(patterns: &'a [Glob], path: &str, is_word: bool) -> Option<&'a Glob> {
    let spellings = target::spellings(path);
    let fits = |it: &&Glob| {
        spellings.iter().any(
            |path| {
                if is_word { it.could_fit_path(path) } else { it.fits_path(path) }
            },
        )
    };
    patterns.iter().find(fits)
}

/// Does one of the patterns deny that this path is read? For who looks into many files by itself.
#[must_use]
pub fn is_denied(patterns: &[Glob], path: &str) -> bool {
    denying(patterns, path, false).is_some()
}
