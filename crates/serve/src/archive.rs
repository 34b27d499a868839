//! A zip that is made in memory.

use std::io::Write as _;

use axum::http::StatusCode;
use rawzip::ZipArchiveWriter;
use rawzip::time::UtcDateTime;

use crate::limits::EXPORT_BYTES_MAX;
use crate::refusal::Refusal;

/// Files for one zip.
pub(crate) struct Archive {
    made: UtcDateTime,
    files: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl Archive {
    /// An empty one, made at this time, in seconds since 1970.
    pub(crate) fn made_at(seconds: i64) -> Self {
        Self { made: UtcDateTime::from_unix(seconds), files: Vec::new(), bytes: 0 }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > EXPORT_BYTES_MAX {
            let why = format!("an export has at most {EXPORT_BYTES_MAX} bytes");
            return Err(Refusal::new(StatusCode::INSUFFICIENT_STORAGE, "export_too_large", why));
        }
        self.files.push((name.to_owned(), bytes.to_vec()));
        Ok(())
    }

    /// The zip.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Refusal> {
        self.write().map_err(|_| Refusal::broken())
    }

    fn write(self) -> Result<Vec<u8>, rawzip::Error> {
        let mut out = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut out);
        for (name, bytes) in self.files {
            let (mut entry, config) = archive.new_file(&name).last_modified(self.made).start()?;
            let mut writer = config.wrap(&mut entry);
            writer.write_all(&bytes)?;
            let (_, descriptor) = writer.finish()?;
            entry.finish(descriptor)?;
        }
        archive.finish()?;
        Ok(out)
    }
}
