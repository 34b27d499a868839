//! Writing: a whole file, or one text in the place of another. Labelled first, then written, whole or not
//! at all.

use files::{DirError, Relative};
use model::TaintTag;
use model::ipc::{FileEdit, FileWrite};
use monitor::{Output, Permit, taint};
use serde_json::json;
use store::workspace::Written;

use super::{FILE_BYTES_MAX, Stop, WorkspaceFiles, answer, fields, not_the_labels, path};

pub(super) fn write(
    files: &WorkspaceFiles,
    permit: Permit<FileWrite>,
    now: i64,
) -> Result<Output, Stop> {
    let path = path(permit.effect().path.as_str())?;
    let own = permit.tag().cloned();
    let session = permit.who().session.clone();
    let content = permit.spend().content;
    let place = Place { files, path: &path, own: own.as_ref(), session: &session, now };
    place.put(content.as_str().as_bytes(), None)
}

pub(super) fn edit(
    files: &WorkspaceFiles,
    permit: Permit<FileEdit>,
    now: i64,
) -> Result<Output, Stop> {
    let path = path(permit.effect().path.as_str())?;
    let session = permit.who().session.clone();
    let mut own = permit.tag().cloned();
    let wanted = permit.spend();
    let (old, new) = (wanted.old.as_str(), wanted.new.as_str());
    let bytes = files.dir.read(&path, FILE_BYTES_MAX)?;
    let labels = files.label(&path, &bytes, now)?;
    let label = labels.iter().fold(None, |sum, it| taint::worse(sum.as_ref(), Some(it)));
    let text = String::from_utf8(bytes)
        .map_err(|_| Stop::failed(format!("`{path}` is no text in UTF-8")))?;
    if old.is_empty() {
        return Err(Stop::not_begun("`old` is empty; it must be a text that is in the file"));
    }
    let found = text.matches(old).count();
    let all = wanted.all.unwrap_or(false);
    // That a text is in it, and how often, is something that was read of it; that it is not, too.
    match found {
        0 => return Err(Stop::failed(format!("`old` is not in `{path}`")).with(labels)),
        1 => {}
        _ if all => {}
        _ => {
            let why =
                format!("`old` is in `{path}` {found} times; give more of it, or `all`: true");
            return Err(Stop::failed(why).with(labels));
        }
    }
    let longer = new.len().saturating_sub(old.len()).saturating_mul(found);
    if text.len().saturating_add(longer) as u64 > FILE_BYTES_MAX {
        return Err(Stop::not_begun(format!("a file has at most {FILE_BYTES_MAX} bytes")));
    }
    // What stays of the file keeps its label.
    own = taint::worse(own.as_ref(), label.as_ref());
    let place = Place { files, path: &path, own: own.as_ref(), session: &session, now };
    let mut output = place.put(text.replace(old, new).as_bytes(), Some(found))?;
    output.tags.extend(labels);
    Ok(output)
}

struct Place<'a> {
    files: &'a WorkspaceFiles,
    path: &'a Relative,
    /// The label of what is written, as far as the writer knows.
    own: Option<&'a TaintTag>,
    session: &'a model::SessionId,
    now: i64,
}

impl Place<'_> {
    /// Labels and writes. `replaced` is how often a text was replaced, where that was asked for.
    fn put(&self, content: &[u8], replaced: Option<usize>) -> Result<Output, Stop> {
        let Self { files, path, own, session, now } = *self;
        not_the_labels(path)?;
        if content.len() as u64 > FILE_BYTES_MAX {
            return Err(Stop::not_begun(format!("a file has at most {FILE_BYTES_MAX} bytes")));
        }
        let Some((folder, _)) = path.split_last() else {
            return Err(Stop::not_begun("the workspace itself is a folder"));
        };
        // First what can be refused, so that nothing is labelled for nothing.
        let is_new = match files.dir.stat(path) {
            Ok(_) => false,
            Err(DirError::NotFound { .. }) => true,
            Err(error) => return Err(error.into()),
        };
        let written = Written { path: path.as_str(), content, tag: own, session, now };
        let label = files.registry.before_write(&files.root, &written)?;
        files.dir.create_folders(&folder)?;
        files.dir.replace(path, content)?;
        let mut body = fields([
            ("path", json!(path.as_str())),
            ("bytes", json!(content.len())),
            ("created", json!(is_new)),
        ]);
        body.extend(replaced.map(|it| ("replaced".to_owned(), json!(it))));
        let mut output = answer(body, label.into_iter().collect());
        // Who writes what is known to be from outside has it from outside, whatever the way.
        output.tags.retain(|it| own != Some(it));
        Ok(output)
    }
}
