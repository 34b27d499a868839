//! Cutting a torn tail off, with what it was kept aside.

use std::fs::OpenOptions;

use aegx::Digest;

use crate::disk;
use crate::journal::Config;
use crate::layout::Layout;
use crate::recovery::{Cut, OpenError};
use crate::segment;
use files::private;

/// Copies what is behind `end` aside, then makes room of it.
pub(crate) fn cut(
    layout: &Layout,
    config: &Config,
    number: u64,
    bytes: &[u8],
    end: u64,
) -> Result<Cut, OpenError> {
    let start = usize::try_from(end).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let used = segment::used(rest);
    let torn = rest.get(..used).unwrap_or_default();

    let dir = layout.aside();
    let aside = dir.join(format!("{number:012}-{end}-{}.torn", Digest::of(torn)));
    let io = |error| OpenError::io(&aside, error);
    private::create_dir(&dir).map_err(io)?;
    private::replace(&aside, torn).map_err(io)?;

    let path = segment::path(&layout.segments(), number);
    let io = |error| OpenError::io(&path, error);
    let file = private::open_with(&path, OpenOptions::new().write(true)).map_err(io)?;
    disk::write_all(&*config.disk, &file, &vec![0; used], end).map_err(io)?;
    config.disk.sync(&file).map_err(io)?;
    Ok(Cut { segment: number, offset: end, bytes: used as u64, aside })
}
