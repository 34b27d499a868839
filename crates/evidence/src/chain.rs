//! The chain across segments: does each go on where the one before ended, and is each one sound?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use aegx::Digest;
use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::segment::{self, Checked, Header, NUMBER_MAX, SEAL_BYTES_MAX, Seal};
use files::private;

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
    let text = private::read_if_there(&layout.retired(), RETIRED_BYTES_MAX)?.unwrap_or_default();
    private::whole_lines(&text)
        .map(|line| {
            let it: Retired = serde_json::from_slice(line)?;
            let countable = [it.segment, it.first, it.count].iter().all(|it| *it <= NUMBER_MAX);
            countable.then_some(it).ok_or_else(|| io::ErrorKind::InvalidData.into())
        })
        .collect()
}

/// Heads of some millions of segments.
const RETIRED_BYTES_MAX: u64 = 1 << 30;

/// Checks, from headers and seals alone, that every segment is there and goes on where the one
/// before ended. `last` is the header of the last one, which need not be sealed.
pub(crate) fn check_links(layout: &Layout, numbers: &[u64], last: &Header) -> Result<(), Damage> {
    let retired = read_retired(layout)
        .map_err(|error| Damage::of_journal(format!("retired.jsonl: {error}")))?;
    // A crash between keeping a head and deleting its segment leaves a head too many.
    let gone = |it: &&Retired| numbers.first().is_none_or(|first| it.segment < *first);
    let mut end = End::after(retired.iter().rev().find(gone));
    for number in numbers.split_last().map_or(&[][..], |(_, sealed)| sealed) {
        let (header, seal) =
            glance(layout, *number).map_err(|what| Damage::at(*number, 0, what))?;
        let damaged = |what| Damage::at(*number, 0, what);
        named(*number, &header).map_err(damaged)?;
        end = end.join(&header, &seal).map_err(damaged)?;
    }
    let number = numbers.last().copied().unwrap_or(last.segment);
    let sound = named(number, last).and_then(|()| end.meets(last));
    sound.map_err(|what| Damage::at(number, 0, what))
}

/// Does the name of a segment's file say what its header says?
fn named(number: u64, header: &Header) -> Result<(), String> {
    if header.segment == number {
        return Ok(());
    }
    Err(format!("its header says that it is segment {:012}", header.segment))
}

/// Verifies the contents of segments on all cores, noting the root of the tree at each of `sizes`.
pub(crate) fn check_contents(
    layout: &Layout,
    numbers: &[u64],
    sizes: &BTreeSet<u64>,
) -> (BTreeMap<u64, Checked>, Vec<Damage>) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::new(), Vec::new()));
    let threads = thread::available_parallelism().map_or(1, usize::from).min(numbers.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let checked = check_one(layout, *number, sizes);
                    let Ok(mut done) = done.lock() else { return };
                    match checked {
                        Ok(checked) => drop(done.0.insert(*number, checked)),
                        Err(what) => done.1.push(Damage::at(*number, 0, what)),
                    }
                }
            });
        }
    });
    done.into_inner().unwrap_or_default()
}

/// What the header of a segment says must follow from the segment before.
pub(crate) fn check_joins(segments: &BTreeMap<u64, Checked>) -> Vec<Damage> {
    let mut damages = Vec::new();
    for (before, after) in segments.values().zip(segments.values().skip(1)) {
        let header = &after.header;
        if before.header.segment + 1 != header.segment {
            continue;
        }
        let peaks: Vec<_> = before.frontier.peaks().iter().map(Digest::to_string).collect();
        let mut complain =
            |what: &str| damages.push(Damage::at(header.segment, 0, what.to_owned()));
        if peaks != header.peaks {
            complain("its tree does not go on from the segment before");
        }
        if !before.open.values().eq(&header.open) {
            complain("its open entries are not those of the segment before");
        }
    }
    damages
}

/// Checks one segment. What looks broken is looked at again: batches may just be written, readers
/// take no lock, and a page may be read before and the next one after.
fn check_one(layout: &Layout, number: u64, sizes: &BTreeSet<u64>) -> Result<Checked, String> {
    const LOOKS_MAX: usize = 5;
    const PAUSE: Duration = Duration::from_millis(50);
    let path = segment::path(&layout.segments(), number);
    let mut looks = 0;
    loop {
        let bytes = segment::read(&path).map_err(|error| error.to_string())?;
        let checked = segment::check_noting(&bytes, sizes)
            .ok_or_else(|| "the header cannot be read".to_owned())?;
        looks += 1;
        if checked.broken.is_none() || looks == LOOKS_MAX {
            return Ok(checked);
        }
        thread::sleep(PAUSE);
    }
}

/// Header and seal of a segment, without what is between them.
fn glance(layout: &Layout, number: u64) -> Result<(Header, Seal), String> {
    let path = segment::path(&layout.segments(), number);
    let header = segment::read_header(&path).map_err(|error| error.to_string())?;
    let header = header.ok_or("the header cannot be read")?;
    let end = || -> io::Result<Vec<u8>> {
        let mut file = private::open(&path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SEAL_BYTES_MAX)))?;
        let mut end = Vec::new();
        file.take(SEAL_BYTES_MAX).read_to_end(&mut end)?;
        Ok(end)
    };
    let seal: Option<Seal> = end()
        .map_err(|error| error.to_string())?
        .strip_suffix(b"\n")
        .and_then(|it| it.rsplit(|byte| *byte == b'\n').next())
        .and_then(|line| serde_json::from_slice(line).ok());
    let seal = seal.filter(|it| it.count <= NUMBER_MAX).ok_or("it is not sealed")?;
    Ok((header, seal))
}

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
                let head = Digest::ZERO.to_string();
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
