//! Reading: the text of a file, or the names in an archive.

use std::ops::Range;

use files::archive;
use model::ipc::FileRead;
use model::{Source, Taint, TaintTag};
use monitor::target::class_of_file;
use monitor::{Output, Permit, taint};
use serde_json::json;

use super::{FILE_BYTES_MAX, Stop, WorkspaceFiles, answer, fields, is_secret, path, told};

/// Lines that are given when the message does not say how many.
const LINES_DEFAULT: u64 = 2000;

pub(super) fn read(
    files: &WorkspaceFiles,
    permit: Permit<FileRead>,
    now: i64,
) -> Result<Output, Stop> {
    let scrubs = permit.scrubs();
    let wanted = permit.spend();
    let path = path(wanted.path.as_str())?;
    let bytes = files.dir.read(&path, FILE_BYTES_MAX)?;
    let mut tags = files.label(&path, &bytes, now)?;
    let mut body = fields([("path", json!(path.as_str())), ("bytes", json!(bytes.len()))]);
    if let Some(members) = archive::members(&bytes) {
        // What is packed is as secret as it was.
        if members.names.iter().any(|it| is_secret(class_of_file(it))) {
            let origin = format!("archive {path}");
            let secret =
                TaintTag { taint: Taint::SECRET_RISK, ..taint::label(Source::File, &origin, now) };
            files.registry.know(&files.root, &bytes, &secret)?;
            tags.push(secret);
        }
        let names = told(&path, &members.names.join("\n"), &tags)?;
        body.extend(fields([("archive", json!(names)), ("truncated", json!(!members.whole))]));
    } else {
        let text = String::from_utf8(bytes)
            .map_err(|_| Stop::failed(format!("`{path}` is no text in UTF-8")))?;
        let first = wanted.offset.map_or(1, |it| it.get());
        let most = wanted.limit.map_or(LINES_DEFAULT, |it| it.get());
        let (part, lines) = lines(&text, first, most);
        let is_whole = part.len() == text.len();
        let part = scrubs.clean_part(&text, part);
        body.extend(fields([
            ("content", json!(told(&path, &part, &tags)?)),
            ("lines", json!(lines)),
            ("truncated", json!(!is_whole)),
        ]));
    }
    Ok(answer(body, tags))
}

/// Where so many lines from one on stand, and how many there are.
fn lines(text: &str, first: u64, most: u64) -> (Range<usize>, u64) {
    let (mut from, mut to, mut at, mut count) = (text.len(), text.len(), 0, 0);
    for line in text.split_inclusive('\n') {
        count += 1;
        if count == first {
            from = at;
        }
        at += line.len();
        if count == first.saturating_add(most).saturating_sub(1) {
            to = at;
        }
    }
    (from..to.max(from), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let text = "a\nb\nc";
        for (first, most, expected) in [
            (1, 9, "a\nb\nc"),
            (1, 1, "a\n"),
            (2, 1, "b\n"),
            (3, 5, "c"),
            (4, 1, ""),
            (2, u64::MAX, "b\nc"),
        ] {
            let (part, count) = lines(text, first, most);
            assert_eq!((text.get(part).unwrap(), count), (expected, 3), "{first} {most}");
        }
        assert_eq!(lines("", 1, 1), (0..0, 0));
    }
}
