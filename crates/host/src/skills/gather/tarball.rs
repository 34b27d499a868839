//! A tar, packed by gzip or not, read strictly: whatever two programs could unpack in two ways is refused.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use skill::{FILE_BYTES_MAX, FILES_MAX, TREE_BYTES_MAX, Tree};

use super::GatherError;

const BLOCK: usize = 512;
/// Bytes that are unpacked: the files, and a header for each.
const UNPACKED_BYTES_MAX: u64 = TREE_BYTES_MAX as u64 + (FILES_MAX as u64 * 8 * BLOCK as u64);
/// The longest name that stands in a block of its own.
const LONG_NAME_BYTES_MAX: u64 = 4096;
/// Entries, with folders and long names.
const ENTRIES_MAX: usize = FILES_MAX * 4;
/// Keys of POSIX headers that say nothing about what is unpacked where.
const HARMLESS: &[&str] = &["mtime", "atime", "ctime", "uid", "gid", "uname", "gname", "comment"];

/// The files of a tar; none if it is none.
pub(super) fn read(bytes: &[u8]) -> Result<Option<Tree>, GatherError> {
    if bytes.starts_with(b"\x1f\x8b") {
        let mut unpacked = Vec::new();
        let mut source = MultiGzDecoder::new(bytes).take(UNPACKED_BYTES_MAX + 1);
        source.read_to_end(&mut unpacked).map_err(|_| GatherError::Tar("the gzip is broken"))?;
        if unpacked.len() as u64 > UNPACKED_BYTES_MAX {
            return Err(GatherError::Tar("it unpacks to more than a skill may have"));
        }
        return if is_tar(&unpacked) {
            tar(&unpacked).map(Some)
        } else {
            Err(GatherError::Tar("what is packed by gzip is no tar"))
        };
    }
    if is_tar(bytes) { tar(bytes).map(Some) } else { Ok(None) }
}

fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar".as_slice())
}

fn tar(mut source: &[u8]) -> Result<Tree, GatherError> {
    let mut tree = Tree::default();
    let mut long: Option<String> = None;
    let refuse = |why| Err(GatherError::Tar(why));
    for _ in 0..ENTRIES_MAX {
        let mut block = [0; BLOCK];
        source.read_exact(&mut block).map_err(|_| GatherError::Tar("it ends too early"))?;
        if block.iter().all(|it| *it == 0) {
            // Some programs read on behind the end.
            let is_end = source.iter().all(|it| *it == 0);
            return if is_end { Ok(tree) } else { refuse("something stands behind its end") };
        }
        if !is_intact(&block) {
            return refuse("a header has a wrong checksum");
        }
        let size =
            octal(field(&block, 124, 136)).ok_or(GatherError::Tar("a size cannot be read"))?;
        let kind = block.get(156).copied().unwrap_or_default();
        let is_name = matches!(kind, b'L' | b'x' | b'g');
        let most = if is_name { LONG_NAME_BYTES_MAX } else { FILE_BYTES_MAX as u64 };
        if size > most {
            return refuse("an entry is too long");
        }
        let content = content(&mut source, size)?;
        match kind {
            b'L' => {
                let text = String::from_utf8(content)
                    .map_err(|_| GatherError::Tar("a name is no text"))?;
                long = Some(text.trim_end_matches('\0').to_owned());
            }
            b'x' | b'g' => {
                if let Some(path) = posix(&content)? {
                    long = Some(path);
                }
            }
            b'0' | 0 => {
                let name = long.take().map_or_else(|| name(&block), Ok)?;
                let name = name.strip_prefix("./").unwrap_or(&name);
                tree.insert(name, content)?;
            }
            b'5' => drop(long.take()),
            b'1' | b'2' => return refuse("it has a link; a skill has plain files only"),
            _ => return refuse("it has something that is no plain file"),
        }
    }
    refuse("it has too many entries")
}

/// The content of an entry, and past what fills its last block.
fn content(source: &mut &[u8], size: u64) -> Result<Vec<u8>, GatherError> {
    let short = |_: io::Error| GatherError::Tar("it ends too early");
    let length = usize::try_from(size).map_err(|_| GatherError::Tar("an entry is too long"))?;
    let mut content = vec![0; length];
    source.read_exact(&mut content).map_err(short)?;
    let padding = length.next_multiple_of(BLOCK) - length;
    let mut rest = vec![0; padding];
    source.read_exact(&mut rest).map_err(short)?;
    Ok(content)
}

fn is_intact(block: &[u8; BLOCK]) -> bool {
    let is_sum = |at: usize| (148..156).contains(&at);
    let sum: u64 = block
        .iter()
        .enumerate()
        .map(|(at, it)| if is_sum(at) { u64::from(b' ') } else { u64::from(*it) })
        .sum();
    octal(field(block, 148, 156)) == Some(sum)
}

fn field(block: &[u8; BLOCK], from: usize, to: usize) -> &[u8] {
    block.get(from..to).unwrap_or_default()
}

fn name(block: &[u8; BLOCK]) -> Result<String, GatherError> {
    let text = |from, to| {
        let bytes = field(block, from, to);
        let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default());
        text.map(str::to_owned).map_err(|_| GatherError::Tar("a name is no text"))
    };
    // GNU keeps times where POSIX keeps the first part of a long name.
    let is_posix = field(block, 257, 263) == b"ustar\0";
    let prefix = if is_posix { text(345, 500)? } else { String::new() };
    let name = text(0, 100)?;
    Ok(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
}

/// `27 path=some/long/name`: the path, if nothing else changes what is unpacked.
fn posix(content: &[u8]) -> Result<Option<String>, GatherError> {
    let text = std::str::from_utf8(content).map_err(|_| GatherError::Tar("a header is no text"))?;
    let mut path = None;
    for line in text.trim_end_matches('\0').lines() {
        let (_, pair) = line.split_once(' ').ok_or(GatherError::Tar("a header cannot be read"))?;
        let (key, value) =
            pair.split_once('=').ok_or(GatherError::Tar("a header cannot be read"))?;
        match key {
            "path" => path = Some(value.to_owned()),
            key if HARMLESS.contains(&key)
                || key.starts_with("LIBARCHIVE.")
                || key.starts_with("SCHILY.") => {}
            _ => return Err(GatherError::Tar("a header changes what is unpacked")),
        }
    }
    Ok(path)
}
