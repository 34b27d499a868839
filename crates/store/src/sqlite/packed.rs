//! Long changes are kept packed: a snapshot is mostly numbers, and half of its bytes say nothing.

use std::io::Read;

use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};

use super::state::CHANGE_BYTES_MAX;
use crate::error::Broken;

/// Shorter changes are kept as they are: packing them would take longer than it saves.
const PACKED_BYTES_MIN: usize = 16 << 10;
/// Before what is packed. No change begins so that is kept as it is: those are JSON.
const MARK: &[u8] = b"\0lz1";

/// The fastest level does not see that digits say little: what it leaves is half as long again.
const LEVEL: u32 = 4;
/// For what is written anew every turn, and soon replaced.
const FAST: u32 = 1;

/// A change as it is kept.
pub(super) fn pack(change: &[u8]) -> Result<Vec<u8>, Broken> {
    pack_at(change, LEVEL)
}

/// As [`pack`], for what does not stay for long.
pub(super) fn pack_fast(passing: &[u8]) -> Result<Vec<u8>, Broken> {
    pack_at(passing, FAST)
}

fn pack_at(change: &[u8], level: u32) -> Result<Vec<u8>, Broken> {
    if change.len() < PACKED_BYTES_MIN && !change.starts_with(MARK) {
        return Ok(change.to_vec());
    }
    let mut packed = MARK.to_vec();
    let mut encoder = DeflateEncoder::new(change, Compression::new(level));
    encoder.read_to_end(&mut packed).map_err(Broken::new)?;
    Ok(packed)
}

/// The change again.
pub(super) fn unpack(kept: Vec<u8>) -> Result<Vec<u8>, Broken> {
    let Some(packed) = kept.strip_prefix(MARK) else { return Ok(kept) };
    let mut change = Vec::new();
    // One byte more: what is too long is not taken for what fits.
    let mut decoder = DeflateDecoder::new(packed).take(CHANGE_BYTES_MAX as u64 + 1);
    let read = decoder.read_to_end(&mut change);
    read.map_err(|error| Broken::new(format_args!("a change cannot be unpacked: {error}")))?;
    if change.len() > CHANGE_BYTES_MAX {
        return Err(Broken::new("a change is longer than any that was kept"));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_the_same_again() {
        let numbers: String = (0..4000_u64).map(|it| format!("{},", it * 7_919)).collect();
        for change in [
            Vec::new(),
            b"{}".to_vec(),
            MARK.to_vec(),
            [MARK, b"and more"].concat(),
            vec![b'x'; PACKED_BYTES_MIN - 1],
            vec![b'x'; PACKED_BYTES_MIN],
            numbers.into_bytes(),
        ] {
            let kept = pack(&change).unwrap();
            let packed = change.len() >= PACKED_BYTES_MIN || change.starts_with(MARK);
            assert_eq!(kept.starts_with(MARK), packed);
            assert!(change.len() < PACKED_BYTES_MIN || kept.len() < change.len());
            assert_eq!(unpack(kept).unwrap(), change);
        }
    }

    #[test]
    fn what_was_damaged_or_is_too_long_is_no_change() {
        let mut kept = pack(&vec![b'x'; PACKED_BYTES_MIN]).unwrap();
        kept.truncate(kept.len() - 3);
        assert!(unpack(kept).is_err());
        assert!(unpack([MARK, &[0xff; 100]].concat()).is_err());
        let long = pack(&vec![b'x'; CHANGE_BYTES_MAX + 1]).unwrap();
        assert!(unpack(long).is_err());
    }
}
