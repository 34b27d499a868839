//! Writes zip archives byte by byte, so that they can be wrong in any way.

#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::io::Write as _;

/// One entry. The local header repeats the central one unless told otherwise.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) central: Header,
    pub(crate) local: Header,
    /// The compressed bytes.
    pub(crate) data: Vec<u8>,
    /// Bytes between the data and the next entry.
    pub(crate) after: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) attributes: u32,
    pub(crate) disk: u16,
    /// Where the directory says the entry starts, if not where it does.
    pub(crate) offset: Option<u32>,
    pub(crate) comment: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc32: u32,
    pub(crate) compressed_size: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

impl Item {
    pub(crate) fn stored(name: impl AsRef<[u8]>, contents: &[u8]) -> Self {
        Self::new(name.as_ref(), 0, contents, contents.to_vec())
    }

    pub(crate) fn deflated(name: impl AsRef<[u8]>, contents: &[u8]) -> Self {
        Self::new(name.as_ref(), 8, contents, deflate(contents))
    }

    pub(crate) fn directory(name: &str) -> Self {
        let mut item = Self::stored(name, b"");
        item.attributes = 0o040_755 << 16;
        item
    }

    /// Changes the entry.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Changes both headers.
    pub(crate) fn with_both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.central);
        change(&mut self.local);
        self
    }

    /// Moves sizes and checksum of the local header behind the data.
    pub(crate) fn with_descriptor(self, signed: bool, wide: bool) -> Self {
        let mut item = self.with_both(|header| header.flags |= 1 << 3);
        let Header { crc32, compressed_size, size, .. } = item.central;
        item.after = if signed { b"PK\x07\x08".to_vec() } else { Vec::new() };
        item.after.extend(crc32.to_le_bytes());
        for size in [compressed_size, size] {
            if wide {
                item.after.extend(u64::from(size).to_le_bytes());
            } else {
                item.after.extend(size.to_le_bytes());
            }
        }
        (item.local.crc32, item.local.compressed_size, item.local.size) = (0, 0, 0);
        item
    }

    /// Moves both sizes to 64-bit fields.
    pub(crate) fn with_wide_sizes(self) -> Self {
        self.with_both(|header| {
            let sizes =
                [header.size, header.compressed_size].map(|size| u64::from(size).to_le_bytes());
            header.extra.extend(extra(1, &sizes.concat()));
            (header.size, header.compressed_size) = (u32::MAX, u32::MAX);
        })
    }

    fn new(name: &[u8], method: u16, contents: &[u8], data: Vec<u8>) -> Self {
        let header = Header {
            name: name.to_vec(),
            flags: if name.is_ascii() { 0 } else { 1 << 11 },
            method,
            crc32: crc32(contents),
            compressed_size: u32::try_from(data.len()).unwrap(),
            size: u32::try_from(contents.len()).unwrap(),
            extra: Vec::new(),
        };
        Self {
            central: header.clone(),
            local: header,
            data,
            after: Vec::new(),
            made_by: 3 << 8 | 20,
            attributes: 0o100_644 << 16,
            disk: 0,
            offset: None,
            comment: Vec::new(),
        }
    }
}

impl Header {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(20u16.to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0, 0, 0x21, 0]);
        bytes.extend(self.crc32.to_le_bytes());
        bytes.extend(self.compressed_size.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(self.extra.len()).unwrap().to_le_bytes());
        bytes
    }
}

/// The archive of `items`.
pub(crate) fn build(items: &[Item]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for item in items {
        let offset = item.offset.unwrap_or(u32::try_from(archive.len()).unwrap());
        archive.extend(b"PK\x03\x04");
        archive.extend(item.local.bytes());
        for part in [&item.local.name, &item.local.extra, &item.data, &item.after] {
            archive.extend(part);
        }
        directory.extend(b"PK\x01\x02");
        directory.extend(item.made_by.to_le_bytes());
        directory.extend(item.central.bytes());
        directory.extend(u16::try_from(item.comment.len()).unwrap().to_le_bytes());
        directory.extend(item.disk.to_le_bytes());
        directory.extend(0u16.to_le_bytes());
        directory.extend(item.attributes.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        for part in [&item.central.name, &item.central.extra, &item.comment] {
            directory.extend(part);
        }
    }
    let start = u32::try_from(archive.len()).unwrap();
    let count = u16::try_from(items.len()).unwrap();
    archive.extend(&directory);
    archive.extend(end(count, u32::try_from(directory.len()).unwrap(), start));
    archive
}

/// An end record.
pub(crate) fn end(entries: u16, directory_bytes: u32, directory_offset: u32) -> Vec<u8> {
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend(entries.to_le_bytes());
    end.extend(entries.to_le_bytes());
    end.extend(directory_bytes.to_le_bytes());
    end.extend(directory_offset.to_le_bytes());
    end.extend([0, 0]);
    end
}

/// The 64-bit end record, its locator, and an end record that points to them.
pub(crate) fn wide_end(at: u64, entries: u64, bytes: u64, offset: u64) -> Vec<u8> {
    let mut end = b"PK\x06\x06".to_vec();
    end.extend(44u64.to_le_bytes());
    end.extend([45, 3, 45, 0]);
    end.extend([0; 8]);
    for field in [entries, entries, bytes, offset] {
        end.extend(field.to_le_bytes());
    }
    end.extend(b"PK\x06\x07\0\0\0\0");
    end.extend(at.to_le_bytes());
    end.extend(1u32.to_le_bytes());
    end.extend(self::end(u16::MAX, u32::MAX, u32::MAX));
    end
}

/// Replaces the end record by its 64-bit form.
pub(crate) fn widen(mut archive: Vec<u8>) -> Vec<u8> {
    let end = archive.split_off(archive.len() - END_BYTES);
    let field = |at: usize, n: usize| {
        end.iter().skip(at).take(n).rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let at = archive.len() as u64;
    archive.extend(wide_end(at, field(10, 2), field(12, 4), field(16, 4)));
    archive
}

/// An extra field.
pub(crate) fn extra(id: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&id.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

pub(crate) fn deflate(contents: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(contents).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn crc32(contents: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(contents);
    crc.sum()
}

pub(crate) const END_BYTES: usize = 22;
