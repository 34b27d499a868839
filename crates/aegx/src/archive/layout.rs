//! Checks that a program reading from the front would see what the directory says.
//!
//! Entries must lie one after another from the first byte to the directory, and each must repeat
//! in its own header what the directory says of it. So no byte is read twice, none is hidden.

use std::path::Path;

use rawzip::extra_fields::ExtraFieldId;
use rawzip::{FileReader, ReaderAt, ZipArchive, ZipLocalFileHeader};

use super::fields::Fields;
use super::record::check_extra;
use super::{ArchiveError, Entry};

/// Checks the bytes before the directory.
pub(super) fn check(
    zip: &ZipArchive<FileReader>,
    path: &Path,
    entries: &[Entry],
    directory_offset: u64,
) -> Result<(), ArchiveError> {
    let mut order: Vec<&Entry> = entries.iter().collect();
    order.sort_by_key(|entry| entry.local_offset);
    let ends = order.iter().skip(1).map(|entry| entry.local_offset).chain(Some(directory_offset));

    // Reused: a local header can have twice 64 KiB of variable fields.
    let mut buffer = vec![0; 2 * usize::from(u16::MAX)];
    let mut offset = 0;
    for (entry, next) in order.iter().zip(ends) {
        if entry.local_offset != offset {
            // Only the first can differ: the others were held against their predecessor.
            return Err(ArchiveError::LeadingBytes { bytes: entry.local_offset });
        }
        let local = zip.get_entry(entry.wayfinder).map_err(ArchiveError::zip("read", path))?;
        let header = local.local_header(&mut buffer).map_err(ArchiveError::zip("read", path))?;
        check_header(&header, entry)?;
        let (_, data_end) = local.compressed_data_range();
        check_rest(zip.get_ref(), entry, data_end, next)?;
        offset = next;
    }
    if offset != directory_offset {
        return Err(ArchiveError::LeadingBytes { bytes: directory_offset });
    }
    Ok(())
}

fn check_header(local: &ZipLocalFileHeader<'_>, entry: &Entry) -> Result<(), ArchiveError> {
    let differs = |field| Err(ArchiveError::LocalMismatch { name: entry.name.clone(), field });

    if local.file_path().as_bytes() != entry.name.as_bytes() {
        return differs("name");
    }
    if local.compression_method() != entry.method {
        return differs("method");
    }
    if (local.flags().bits() ^ entry.flags.bits()) & !FLAGS_EFFORT != 0 {
        return differs("flags");
    }
    // With a data descriptor the header may leave these to it.
    let later = entry.flags.has_data_descriptor();
    let agrees = |local: u64, central: u64| local == central || (later && local == 0);
    if !agrees(local.crc32().into(), entry.crc32.into()) {
        return differs("checksum");
    }
    if !agrees(local.compressed_size_hint(), entry.compressed_size()) {
        return differs("compressed size");
    }
    if !agrees(local.uncompressed_size_hint(), entry.size()) {
        return differs("size");
    }
    let wide = local.extra_fields().find(|(id, _)| *id == ExtraFieldId::ZIP64);
    // A local header has both 64-bit sizes or none.
    check_extra(local.extra_fields(), if wide.is_some() { 2 } else { 0 }, entry)?;
    if let Some((_, sizes)) = wide {
        let mut fields = Fields(sizes);
        let (size, compressed_size) = (fields.u64()?, fields.u64()?);
        // Some readers take these even where the 32-bit sizes do not point here.
        if !agrees(size, entry.size()) || !agrees(compressed_size, entry.compressed_size()) {
            return differs("64-bit size");
        }
    }
    Ok(())
}

/// Checks that between `data_end` and `next` there is nothing, or the data descriptor.
fn check_rest(
    source: &impl ReaderAt,
    entry: &Entry,
    data_end: u64,
    next: u64,
) -> Result<(), ArchiveError> {
    let Some(bytes) = next.checked_sub(data_end) else {
        return Err(ArchiveError::Overlap { name: entry.name.clone() });
    };
    if !entry.flags.has_data_descriptor() {
        return if bytes == 0 {
            Ok(())
        } else {
            Err(ArchiveError::Gap { offset: data_end, bytes })
        };
    }
    let mismatch = || ArchiveError::DescriptorMismatch { name: entry.name.clone() };
    let mut buffer = [0; DESCRIPTOR_BYTES_MAX];
    let length = usize::try_from(bytes).map_err(|_| mismatch())?;
    let found = buffer.get_mut(..length).ok_or_else(mismatch)?;
    source
        .read_exact_at(found, data_end)
        .map_err(|_| ArchiveError::Truncated { what: "a data descriptor is incomplete" })?;
    if is_descriptor(found, entry) { Ok(()) } else { Err(mismatch()) }
}

/// Whether `found` is the data descriptor of `entry`: its signature is optional, and the width of
/// its sizes is nowhere declared.
fn is_descriptor(found: &[u8], entry: &Entry) -> bool {
    let crc32 = entry.crc32.to_le_bytes();
    let sizes = [entry.compressed_size(), entry.size()];
    let wide = [&crc32[..], &sizes.map(u64::to_le_bytes).concat()].concat();
    let narrow = match sizes.map(u32::try_from) {
        [Ok(compressed), Ok(size)] => {
            Some([crc32, compressed.to_le_bytes(), size.to_le_bytes()].concat())
        }
        [_, _] => None,
    };
    let is_body = |body: &[u8]| body == wide || narrow.as_deref() == Some(body);
    is_body(found) || found.strip_prefix(&DESCRIPTOR_SIGNATURE).is_some_and(is_body)
}

/// Bits 1 and 2 tell how hard the compressor tried.
const FLAGS_EFFORT: u16 = 1 << 1 | 1 << 2;
const DESCRIPTOR_SIGNATURE: [u8; 4] = *b"PK\x07\x08";
const DESCRIPTOR_BYTES_MAX: usize = 24;
