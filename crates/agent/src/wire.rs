//! Frames on a worker's socket: four bytes of length, the highest first, then so many bytes of UTF-8 JSON.

use std::io::{self, Read, Write};

use model::ipc::MESSAGE_BYTES_MAX;

const HEADER_BYTES: usize = 4;
/// How much room is made at a time: what a header announces is not believed before it is there.
const READ_BYTES_MAX: u64 = 64 << 10;

/// Reads one frame; none where the other side has ended between two.
///
/// # Errors
/// If it is too long, or ends within.
pub fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; HEADER_BYTES];
    let first = loop {
        match from.read(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => break outcome?,
        }
    };
    if first == 0 {
        return Ok(None);
    }
    from.read_exact(header.get_mut(first..).unwrap_or_default())?;
    let announced = u32::from_be_bytes(header);
    let length = usize::try_from(announced).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is too long"));
    }
    let mut message = Vec::new();
    let mut left = u64::from(announced);
    while left > 0 {
        let read = from.by_ref().take(left.min(READ_BYTES_MAX)).read_to_end(&mut message)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left = left.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX));
    }
    Ok(Some(message))
}

/// Writes one frame.
///
/// # Errors
/// If it is too long, or nobody is there any more.
pub fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).ok().filter(|_| message.len() <= MESSAGE_BYTES_MAX);
    let length =
        length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a frame is too long"))?;
    to.write_all(&[&length.to_be_bytes()[..], message].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_announced_is_not_believed() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"{}").unwrap();
        write(&mut bytes, b"").unwrap();
        let mut from = bytes.as_slice();
        assert_eq!(read(&mut from).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(read(&mut from).unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(read(&mut from).unwrap(), None);
        assert!(read(&mut [0xff; 8].as_slice()).is_err());
        assert!(read(&mut [0, 0].as_slice()).is_err());
        assert!(read(&mut [0, 0, 0, 9, b'{'].as_slice()).is_err());
        assert!(write(&mut Vec::new(), &vec![0; MESSAGE_BYTES_MAX + 1]).is_err());
    }
}
