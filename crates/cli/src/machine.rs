//! What this machine can do at best: the limits beside which a figure means something.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use aegx::Digest;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;

/// The limits.
pub(crate) struct Machine {
    pub(crate) cores: usize,
    /// `write` + `fdatasync` of one record at a time, a second, in a file of zeros.
    pub(crate) syncs_per_second: f64,
    /// SHA-256 on one core, bytes a second.
    pub(crate) sha256_per_second: f64,
}

impl Machine {
    /// Measures in `dir`, for about a second.
    pub(crate) fn measure(dir: &Path, record_bytes: usize) -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let path = dir.join("machine.probe");
        let syncs = syncs(&path, record_bytes);
        let _ = fs::remove_file(&path);
        let syncs_per_second =
            syncs.map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))?;
        Ok(Self { cores, syncs_per_second, sha256_per_second: sha256() })
    }

    /// Prints them for people.
    pub(crate) fn print(&self) {
        output::line(&format!(
            "machine   {} cores; {:.0} synced writes/s one at a time; SHA-256 {:.2} GB/s",
            self.cores,
            self.syncs_per_second,
            self.sha256_per_second / 1e9
        ));
    }

    /// The same for programs.
    pub(crate) fn value(&self) -> Value {
        json!({
            "cores": self.cores,
            "fdatasync_per_second": self.syncs_per_second,
            "sha256_bytes_per_second": self.sha256_per_second,
        })
    }
}

fn syncs(path: &Path, record_bytes: usize) -> std::io::Result<f64> {
    const ROOM_BYTES: usize = 16 << 20;
    const TIME: Duration = Duration::from_millis(700);
    let file = File::create(path)?;
    file.write_all_at(&vec![0; ROOM_BYTES], 0)?;
    file.sync_all()?;
    let record = vec![b'x'; record_bytes.clamp(1, ROOM_BYTES)];
    let start = Instant::now();
    let mut count = 0_u32;
    let mut offset = 0;
    while start.elapsed() < TIME {
        file.write_all_at(&record, offset as u64)?;
        file.sync_data()?;
        count += 1;
        offset = (offset + record.len()) % (ROOM_BYTES - record.len()).max(1);
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn sha256() -> f64 {
    let buffer = vec![7_u8; 64 << 20];
    let start = Instant::now();
    std::hint::black_box(Digest::of(std::hint::black_box(&buffer)));
    buffer.len() as f64 / start.elapsed().as_secs_f64()
}
