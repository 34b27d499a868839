//! Marked files of a workspace.

use std::path::Path;

use aegx::timestamp;
use aegx::verify::printable;
use model::Taint;
use serde_json::{Value, json};
use store::workspace::{Looked, Mark, Registry};

use super::{registry, tag_value};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// Lists the marked files of a workspace, or one of them.
pub(super) fn show(
    home: &Home,
    workspace: &Path,
    file: Option<&str>,
    as_json: bool,
) -> Result<Exit, Failure> {
    must_be_there(workspace)?;
    let marks = match registry(home)? {
        Some(registry) => registry.marks(workspace).map_err(Failure::unable)?,
        None => Vec::new(),
    };
    let wanted = |it: &&Mark| file.is_none_or(|file| file == it.path);
    let mut shown = marks.iter().filter(wanted).peekable();
    if let Some(file) = file
        && shown.peek().is_none()
    {
        return Err(not_marked(file));
    }
    // Whoever stops reading has seen enough.
    let _ = shown.all(|it| if as_json { output::json(&value(it)) } else { line(it) });
    Ok(Exit::Done)
}

/// A marked file that is to be cleared.
pub(super) fn look(
    home: &Home,
    workspace: &Path,
    file: &str,
) -> Result<(Registry, Looked), Failure> {
    must_be_there(workspace)?;
    let registry = registry(home)?.ok_or_else(|| not_marked(file))?;
    let looked = registry.look(workspace, file).map_err(Failure::unable)?;
    Ok((registry, looked.ok_or_else(|| not_marked(file))?))
}

fn must_be_there(workspace: &Path) -> Result<(), Failure> {
    if workspace.is_dir() {
        return Ok(());
    }
    Err(Failure::usage(format!("the workspace `{}` is no directory", workspace.display())))
}

fn not_marked(file: &str) -> Failure {
    Failure::refused(format!("no file `{file}` is marked in this workspace"))
}

fn value(mark: &Mark) -> Value {
    json!({
        "kind": "file",
        "file": mark.path,
        "session": mark.session,
        "time": timestamp::from_unix(mark.written_at),
        "tag": tag_value(&mark.tag),
    })
}

fn line(mark: &Mark) -> bool {
    let tag = &mark.tag;
    let taint = if tag.taint == Taint::NONE { "tainted".to_owned() } else { tag.taint.to_string() };
    let text = format!(
        "{:<40} {} {} {} {} {}",
        printable(&mark.path),
        timestamp::from_unix(mark.written_at),
        printable(&mark.session),
        Paint::for_stdout().bad(&taint),
        tag.source,
        printable(&tag.origin),
    );
    output::line(text.trim_end())
}
