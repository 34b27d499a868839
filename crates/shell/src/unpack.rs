//! What `bzip2` packed, and sums of texts that are known.

use super::limits::VALUE_BYTES_MAX;

/// A block before its runs are written out, in bytes.
const BLOCK_BYTES_MAX: usize = 4 * VALUE_BYTES_MAX;
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;
/// Symbols that one table is good for.
const GROUP: usize = 50;
const CODE_BITS_MAX: usize = 20;

struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.data.get(self.at / 8)?;
            value = value << 1 | usize::from(byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        Some(value)
    }
}

/// Codes of one table: how many of each length, and the symbols in their order.
struct Table {
    counts: Vec<usize>,
    symbols: Vec<usize>,
}

impl Table {
    fn read(bits: &mut Bits<'_>, size: usize) -> Option<Self> {
        let mut lengths = Vec::new();
        let mut length = bits.take(5)?;
        for symbol in 0..size {
            while bits.take(1)? == 1 {
                length = if bits.take(1)? == 0 { length + 1 } else { length.checked_sub(1)? };
            }
            if !(1..=CODE_BITS_MAX).contains(&length) {
                return None;
            }
            lengths.push((length, symbol));
        }
        lengths.sort_unstable();
        let count = |wanted: usize| lengths.iter().filter(|it| it.0 == wanted).count();
        let counts = (0..=CODE_BITS_MAX).map(count).collect();
        Some(Self { counts, symbols: lengths.iter().map(|it| it.1).collect() })
    }

    fn symbol(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0_usize, 0_usize, 0_usize);
        for count in self.counts.iter().skip(1) {
            code |= bits.take(1)?;
            if let Some(at) = code.checked_sub(first).filter(|it| it < count) {
                return self.symbols.get(index + at).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// One stream of `bzip2` and nothing behind it, up to the size of one value; sums are not compared.
pub(super) fn bunzip(data: &[u8]) -> Option<Vec<u8>> {
    let mut bits = Bits { data: data.strip_prefix(b"BZh")?, at: 8 };
    let mut output = Vec::new();
    loop {
        let sign = u64::try_from(bits.take(48)?).ok()?;
        bits.take(32)?;
        if sign == END {
            // `bunzip2` goes on with what follows, and so would have to be read, too.
            return (bits.data.len().saturating_mul(8).saturating_sub(bits.at) < 8)
                .then_some(output);
        }
        if sign != BLOCK {
            return None;
        }
        let block = block(&mut bits)?;
        let mut run = 0;
        let mut last = None;
        for byte in block {
            if run == 4 {
                output.extend(std::iter::repeat_n(last.unwrap_or_default(), usize::from(byte)));
                (run, last) = (0, None);
            } else {
                run = if last == Some(byte) { run + 1 } else { 1 };
                last = Some(byte);
                output.push(byte);
            }
            if output.len() > VALUE_BYTES_MAX {
                return None;
            }
        }
    }
}

fn block(bits: &mut Bits<'_>) -> Option<Vec<u8>> {
    if bits.take(1)? == 1 {
        return None;
    }
    let origin = bits.take(24)?;
    let used = bits.take(16)?;
    let mut front: Vec<u8> = Vec::new();
    for row in (0..16_u8).filter(|it| used >> (15 - it) & 1 == 1) {
        let letters = bits.take(16)?;
        front.extend((0..16_u8).filter(|it| letters >> (15 - it) & 1 == 1).map(|it| row * 16 + it));
    }
    let groups = bits.take(3)?;
    let selectors = bits.take(15)?;
    let mut order: Vec<usize> = (0..groups).collect();
    let mut chosen = Vec::new();
    for _ in 0..selectors {
        let mut at = 0;
        while bits.take(1)? == 1 {
            at += 1;
        }
        let table = (at < order.len()).then(|| order.remove(at))?;
        order.insert(0, table);
        chosen.push(table);
    }
    let size = front.len() + 2;
    let tables: Vec<Table> = (0..groups).map(|_| Table::read(bits, size)).collect::<Option<_>>()?;
    let mut letters: Vec<u8> = Vec::new();
    let (mut run, mut weight) = (0_usize, 1_usize);
    for index in 0.. {
        let symbol = tables.get(*chosen.get(index / GROUP)?)?.symbol(bits)?;
        if symbol < 2 {
            run = run.checked_add(weight.checked_mul(symbol + 1)?)?;
            weight = weight.checked_mul(2)?;
            continue;
        }
        if letters.len().checked_add(run)? > BLOCK_BYTES_MAX {
            return None;
        }
        if run > 0 {
            letters.extend(std::iter::repeat_n(*front.first()?, run));
        }
        (run, weight) = (0, 1);
        if symbol + 1 == size {
            return unsorted(&letters, origin);
        }
        let letter = (symbol - 1 < front.len()).then(|| front.remove(symbol - 1))?;
        front.insert(0, letter);
        letters.push(letter);
    }
    None
}

/// The text whose sorted turns end in these letters.
fn unsorted(letters: &[u8], origin: usize) -> Option<Vec<u8>> {
    let mut places: Vec<usize> = (0..letters.len()).collect();
    places.sort_by_key(|it| letters.get(*it).copied());
    let mut at = *places.get(origin)?;
    let mut text = Vec::with_capacity(letters.len());
    for _ in 0..letters.len() {
        text.push(*letters.get(at)?);
        at = *places.get(at)?;
    }
    Some(text)
}

/// The MD5 sum, in hexadecimal digits. Nothing here is safe because of it: commands are spelled with it.
pub(super) fn md5(data: &[u8]) -> String {
    const TURNS: [u32; 16] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
    let mut padded = data.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    let bits = u64::try_from(data.len()).unwrap_or_default().wrapping_mul(8);
    padded.extend(bits.to_le_bytes());
    let mut sum: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for chunk in padded.chunks_exact(64) {
        let words: Vec<u32> = chunk
            .chunks_exact(4)
            .map(|it| it.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte)))
            .collect();
        let [mut a, mut b, mut c, mut d] = sum;
        for step in 0..64_usize {
            let (mixed, word) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let word = words.get(word % 16).copied().unwrap_or_default();
            let turn = TURNS.get(step / 16 * 4 + step % 4).copied().unwrap_or_default();
            let all = mixed.wrapping_add(a).wrapping_add(sine(step)).wrapping_add(word);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(all.rotate_left(turn));
        }
        let turned = [a, b, c, d];
        sum = std::array::from_fn(|it| {
            let (old, new) = (sum.get(it), turned.get(it));
            old.copied().unwrap_or_default().wrapping_add(new.copied().unwrap_or_default())
        });
    }
    sum.iter().flat_map(|it| it.to_le_bytes()).map(|it| format!("{it:02x}")).collect()
}

/// The whole part of 2³² times the sine of the next number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a number from 0 to 2³², as the algorithm says"
)]
fn sine(step: usize) -> u32 {
    (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        for (text, sum) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(md5(text.as_bytes()), sum, "{text}");
        }
    }

    #[test]
    fn what_bzip2_packed_is_unpacked() {
        let packed = data_encoding::BASE64
            .decode(b"QlpoOTFBWSZTWSob07wAAAKRgEAABCCKACAAIYAMAmso3F3JFOFCQKhvTvA=")
            .unwrap();
        assert_eq!(bunzip(&packed).unwrap(), b"sudo id");
        for end in 0..packed.len() {
            assert!(bunzip(packed.get(..end).unwrap()).is_none_or(|it| it.len() < 64));
        }
    }
}
