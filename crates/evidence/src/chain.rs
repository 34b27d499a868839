//! The chain across segments: does each go on where the one before ended, and is each one sound?

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::segment::{self, Header, SEAL_BYTES_MAX, Seal, Walk};

/// Something that should not be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The segment, if it is in one.
    pub segment: Option<u64>,
    /// Where in it.
    pub offset: u64,
    /// What.
    pub what: String,
}

impl Damage {
    pub(crate) fn at(segment: u64, offset: u64, what: String) -> Self {
        Self { segment: Some(segment), offset, what }
    }

    pub(crate) fn of_journal(what: String) -> Self {
        Self { segment: None, offset: 0, what }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.segment {
            Some(number) => {
                write!(f, "segment {number:012} at byte {}: {}", self.offset, self.what)
            }
            None => f.write_str(&self.what),
        }
    }
}

/// A segment that retention deleted, as far as the rest needs it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Retired {
    /// Number of the segment.
    pub segment: u64,
    /// Index of its first record.
    pub first: u64,
    /// Records that were in it.
    pub count: u64,
    /// Hash of its last entry.
    pub head: String,
    /// Root of the tree up to its last record.
    pub root: String,
}

/// Segments that retention deleted, oldest first. A torn last line is not one of them.
pub(crate) fn read_retired(layout: &Layout) -> io::Result<Vec<Retired>> {
    let text = match fs::read(layout.retired()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text?,
    };
    let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
    let lines = text.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).map_err(io::Error::from)).collect()
}

/// Checks every segment but the last: present, sealed, joined to its neighbours; and verifies their
/// contents, newest first, as far as `bytes_max` goes. Gives how many were verified.
pub(crate) fn check_sealed(
    layout: &Layout,
    numbers: &[u64],
    last: &Header,
    bytes_max: Option<u64>,
) -> Result<u64, Damage> {
    let sealed = numbers.split_last().map_or(&[][..], |(_, sealed)| sealed);
    let retired = read_retired(layout)
        .map_err(|error| Damage::of_journal(format!("retired.jsonl: {error}")))?;
    let mut end = End::after(retired.last());
    for number in sealed {
        let (header, seal) =
            glance(layout, *number).map_err(|what| Damage::at(*number, 0, what))?;
        end = end.join(&header, &seal).map_err(|what| Damage::at(*number, 0, what))?;
    }
    end.meets(last).map_err(|what| Damage::at(last.segment, 0, what))?;

    let mut budget = bytes_max.unwrap_or(u64::MAX);
    let mut chosen = Vec::new();
    for number in sealed.iter().rev() {
        let path = segment::path(&layout.segments(), *number);
        let bytes = fs::metadata(path).map_or(0, |it| it.len());
        let Some(left) = budget.checked_sub(bytes) else { break };
        budget = left;
        chosen.push(*number);
    }
    verify_all(layout, &chosen)
}

/// Verifies sealed segments on all cores.
fn verify_all(layout: &Layout, numbers: &[u64]) -> Result<u64, Damage> {
    let next = AtomicUsize::new(0);
    let damages = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from).min(numbers.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let (Err(damage), Ok(mut damages)) =
                        (verify_one(layout, *number), damages.lock())
                    {
                        damages.push(damage);
                    }
                }
            });
        }
    });
    let mut damages = damages.into_inner().unwrap_or_default();
    damages.sort_by_key(|damage: &Damage| (damage.segment, damage.offset));
    match damages.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(numbers.len() as u64),
    }
}

fn verify_one(layout: &Layout, number: u64) -> Result<(), Damage> {
    let damage = |offset, what: String| Damage::at(number, offset, what);
    let bytes = fs::read(segment::path(&layout.segments(), number))
        .map_err(|error| damage(0, error.to_string()))?;
    let checked =
        segment::check(&bytes).ok_or_else(|| damage(0, "the header cannot be read".to_owned()))?;
    match checked.broken {
        Some(broken) => Err(damage(broken.offset, broken.why)),
        None if checked.seal.is_none() => Err(damage(checked.end, "it is not sealed".to_owned())),
        None => Ok(()),
    }
}

/// Header and seal of a segment, without what is between them.
pub(crate) fn glance(layout: &Layout, number: u64) -> Result<(Header, Seal), String> {
    let path = segment::path(&layout.segments(), number);
    let read = || -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut file = File::open(&path)?;
        let mut start = Vec::new();
        (&mut file).take(HEADER_BYTES_MAX).read_to_end(&mut start)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SEAL_BYTES_MAX)))?;
        let mut end = Vec::new();
        file.take(SEAL_BYTES_MAX).read_to_end(&mut end)?;
        Ok((start, end))
    };
    let (start, end) = read().map_err(|error| error.to_string())?;
    let (header, _) = Walk::begin(&start).map_err(|_| "the header cannot be read".to_owned())?;
    let seal = end
        .strip_suffix(b"\n")
        .and_then(|it| it.rsplit(|byte| *byte == b'\n').next())
        .and_then(|line| serde_json::from_slice(line).ok())
        .ok_or("it is not sealed")?;
    Ok((header, seal))
}

/// Above any header: peaks, and as many open entries as there can be.
const HEADER_BYTES_MAX: u64 = 1 << 20;

/// Where the chain stands between two segments.
struct End {
    segment: u64,
    first: u64,
    head: String,
    journal: Option<String>,
}

impl End {
    fn after(retired: Option<&Retired>) -> Self {
        match retired {
            None => {
                let head = aegx::Digest::ZERO.to_string();
                Self { segment: 0, first: 0, head, journal: None }
            }
            Some(last) => Self {
                segment: last.segment + 1,
                first: last.first + last.count,
                head: last.head.clone(),
                journal: None,
            },
        }
    }

    fn meets(&self, header: &Header) -> Result<(), String> {
        if header.segment != self.segment {
            return Err(format!("segment {:012} should stand here", self.segment));
        }
        if header.first != self.first {
            return Err(format!("it begins with record {}, not {}", header.first, self.first));
        }
        if header.head != self.head {
            return Err("it does not go on from the segment before".to_owned());
        }
        match &self.journal {
            Some(journal) if *journal != header.journal => {
                Err("it is of another journal".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn join(self, header: &Header, seal: &Seal) -> Result<Self, String> {
        self.meets(header)?;
        if seal.sealed != header.segment {
            return Err("its seal is of another segment".to_owned());
        }
        Ok(Self {
            segment: header.segment + 1,
            first: header.first + seal.count,
            head: seal.head.clone(),
            journal: Some(header.journal.clone()),
        })
    }
}
