//! How long answers took, in a few kilobytes however many there were.

use std::fmt;
use std::time::Duration;

/// Counts of answers by how long they took.
pub(crate) struct Timing {
    /// By bucket, see [`bucket`].
    counts: Vec<u64>,
    count: u64,
    bytes: u64,
    busy: Duration,
}

/// Steps per doubling: a figure is at most an eighth too high.
const STEPS: u32 = 8;
const BUCKETS: usize = 64 * STEPS as usize;

impl Default for Timing {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, bytes: 0, busy: Duration::ZERO }
    }
}

impl Timing {
    /// Takes note of one answer to a request of so many bytes.
    pub(crate) fn record(&mut self, took: Duration, bytes: usize) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(nanos)) {
            *count += 1;
        }
        self.count += 1;
        self.bytes += bytes as u64;
        self.busy += took;
    }

    /// So many in a hundred took no longer, in nanoseconds.
    fn percentile(&self, percent: u64) -> u64 {
        let wanted = (self.count * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        found.map_or(0, upper_bound)
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |percent| self.percentile(percent) as f64 / 1e3;
        let seconds = self.busy.as_secs_f64();
        let rate = if seconds > 0.0 { self.bytes as f64 / 1e6 / seconds } else { 0.0 };
        let (p50, p99) = (micros(50), micros(99));
        write!(f, "count {}  p50 {p50:.1} us  p99 {p99:.1} us  {rate:.1} MB/s", self.count)
    }
}

/// Doublings, each in equal steps.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.max(u64::from(STEPS));
    let doublings = nanos.ilog2();
    let step = (nanos >> (doublings - STEPS.ilog2())) - u64::from(STEPS);
    (doublings * STEPS) as usize + step as usize
}

/// The longest time that falls into the bucket.
fn upper_bound(bucket: usize) -> u64 {
    let steps = STEPS as usize;
    let (doublings, step) = (bucket / steps, (bucket % steps) as u64);
    let width = 1_u64 << doublings.saturating_sub(STEPS.ilog2() as usize);
    (u64::from(STEPS) + step).saturating_mul(width).saturating_add(width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_falls_into_it() {
        for nanos in [8, 9, 15, 16, 17, 1000, 123_456_789, u64::MAX / 3, u64::MAX] {
            let bound = upper_bound(bucket(nanos));
            assert!(bound >= nanos && bound - nanos <= nanos / 8, "{nanos}: {bound}");
            assert!(bucket(nanos) < BUCKETS);
        }
    }

    #[test]
    fn percentiles_are_of_all_answers() {
        let mut timing = Timing::default();
        for micros in 1..=100 {
            timing.record(Duration::from_micros(micros), 1000);
        }
        assert!((50_000..57_000).contains(&timing.percentile(50)), "{timing}");
        assert!((99_000..112_000).contains(&timing.percentile(99)), "{timing}");
        assert!(timing.to_string().starts_with("count 100  p50 "));
    }
}
