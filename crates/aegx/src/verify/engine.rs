//! Feeds the lines of both files to all cores and their results, in file order, to the fold.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

use super::audit_line::{self, Link};
use super::finding::Finding;
use super::fold::{Fold, Stream};
use super::lines::{Chunk, Chunks};
use super::record_line::{self, Seen};
use super::report::Findings;
use super::{Progress, Threads};
use crate::archive::Rules;
use crate::source::{AUDIT_LOG, RECORDS, Source};

/// Chunks that may be under way at once, for each thread: a bound on memory.
const CHUNKS_PER_THREAD: usize = 4;
/// A chunk of more than this counts as several.
const TICKET_BYTES: usize = 2 << 20;

pub(crate) fn run(
    source: &Source,
    rules: Rules,
    threads: Threads,
    progress: &Progress<'_>,
    fold: &mut Fold<'_>,
    findings: &mut Findings,
) {
    let in_flight = threads.0 * CHUNKS_PER_THREAD;
    let (work_in, work_out) = mpsc::sync_channel::<Numbered<Job>>(in_flight);
    let (done_in, done_out) = mpsc::channel::<Numbered<Done>>();
    // Tickets for each chunk under way; the fold gives them back.
    let (ticket_in, ticket_out) = mpsc::sync_channel::<()>(in_flight);
    for _ in 0..in_flight {
        let _ = ticket_in.try_send(());
    }
    let work_out = Mutex::new(work_out);
    thread::scope(|scope| {
        scope.spawn(move || {
            let sender = Sender { work: work_in, tickets: ticket_out, in_flight, next: 0 };
            read_both(source, rules, sender, progress);
        });
        for _ in 0..threads.0 {
            let done_in = done_in.clone();
            let work_out = &work_out;
            scope.spawn(move || work(work_out, &done_in, rules));
        }
        drop(done_in);
        let mut early = BTreeMap::new();
        let mut next = 0;
        for done in done_out {
            early.insert(done.number, done);
            while let Some(done) = early.remove(&next) {
                take_in(done.what, fold, findings);
                for _ in 0..done.tickets {
                    let _ = ticket_in.try_send(());
                }
                next += 1;
            }
        }
    });
}

/// Something at its place in the order of reading.
struct Numbered<T> {
    number: u64,
    tickets: usize,
    what: T,
}

/// Hands jobs out, waiting while too much is under way.
struct Sender {
    work: SyncSender<Numbered<Job>>,
    tickets: Receiver<()>,
    in_flight: usize,
    next: u64,
}

impl Sender {
    fn send(&mut self, job: Job) {
        let bytes = if let Job::Lines(_, chunk) = &job { chunk.bytes.len() } else { 0 };
        // Never more than there are, or nobody could ever have them.
        let tickets = (1 + bytes / TICKET_BYTES).min(self.in_flight);
        for _ in 0..tickets {
            // The far end lives until this thread is done; if not, there is nobody to tell.
            let _ = self.tickets.recv();
        }
        let _ = self.work.send(Numbered { number: self.next, tickets, what: job });
        self.next += 1;
    }
}

enum Job {
    Lines(Stream, Chunk),
    Ended(Stream),
    Failed(Finding),
}

enum Done {
    Records { seen: Vec<(u64, Seen)>, findings: Findings },
    Entries { links: Vec<Link>, findings: Findings },
    Ended(Stream),
    Failed(Finding),
}

/// Reads both files side by side, so that neither runs ahead of the other by more than a chunk.
fn read_both(source: &Source, rules: Rules, mut sender: Sender, progress: &Progress<'_>) {
    let mut open = |stream: Stream| match source.open_under(name(stream), rules) {
        Ok(input) => Some(Chunks::new(input)),
        Err(error) => {
            sender.send(Job::Failed(Finding::of_unreadable(name(stream), error)));
            sender.send(Job::Ended(stream));
            None
        }
    };
    let mut records = open(Stream::Records);
    let mut audit = open(Stream::Audit);
    loop {
        let behind = match (&records, &audit) {
            (None, None) => return,
            (Some(_), None) => Stream::Records,
            (None, Some(_)) => Stream::Audit,
            (Some(records), Some(audit)) if records.lines_read() <= audit.lines_read() => {
                Stream::Records
            }
            (Some(_), Some(_)) => Stream::Audit,
        };
        let slot = match behind {
            Stream::Records => &mut records,
            Stream::Audit => &mut audit,
        };
        let job = next_job(slot, behind);
        if let Job::Lines(_, chunk) = &job {
            progress.add(chunk.bytes.len() as u64);
        }
        let failed = matches!(job, Job::Failed(_));
        sender.send(job);
        if failed {
            sender.send(Job::Ended(behind));
        }
    }
}

/// The next chunk of a file; the file is closed when there is none.
fn next_job<R: Read>(slot: &mut Option<Chunks<R>>, stream: Stream) -> Job {
    let next = slot.as_mut().map(Chunks::next);
    let finding = match next {
        Some(Ok(Some(chunk))) => return Job::Lines(stream, chunk),
        Some(Ok(None)) | None => {
            *slot = None;
            return Job::Ended(stream);
        }
        Some(Err(error)) => error.into_finding(name(stream)),
    };
    *slot = None;
    Job::Failed(finding)
}

fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Records => RECORDS,
        Stream::Audit => AUDIT_LOG,
    }
}

fn work(jobs: &Mutex<Receiver<Numbered<Job>>>, done: &mpsc::Sender<Numbered<Done>>, rules: Rules) {
    loop {
        let job = match jobs.lock() {
            Ok(jobs) => jobs.recv(),
            Err(_) => return,
        };
        let Ok(Numbered { number, tickets, what }) = job else { return };
        let _ = done.send(Numbered { number, tickets, what: check(what, rules) });
    }
}

fn check(job: Job, rules: Rules) -> Done {
    let mut findings = Findings::default();
    match job {
        Job::Lines(Stream::Records, chunk) => {
            let mut seen = Vec::with_capacity(usize::try_from(chunk.lines).unwrap_or(0));
            for line in chunk.lines() {
                let checked = record_line::check(&line, rules, &mut findings);
                seen.extend(checked.map(|it| (line.number, it)));
            }
            Done::Records { seen, findings }
        }
        Job::Lines(Stream::Audit, chunk) => {
            let mut links = Vec::with_capacity(usize::try_from(chunk.lines).unwrap_or(0));
            for line in chunk.lines() {
                links.extend(audit_line::check(&line, rules, &mut findings));
            }
            Done::Entries { links, findings }
        }
        Job::Ended(stream) => Done::Ended(stream),
        Job::Failed(finding) => Done::Failed(finding),
    }
}

fn take_in(done: Done, fold: &mut Fold<'_>, all: &mut Findings) {
    match done {
        Done::Records { seen, findings } => {
            all.append(findings);
            for (line, seen) in seen {
                fold.record(line, seen, all);
            }
        }
        Done::Entries { links, findings } => {
            all.append(findings);
            for link in &links {
                fold.entry(link, all);
            }
        }
        Done::Ended(stream) => fold.ended(stream, all),
        Done::Failed(finding) => all.add(finding),
    }
}
