//! A bar on the terminal for work that takes a while; nothing in a pipe.

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Smaller bundles are done before a bar could be read.
const SHOWN_FROM_BYTES: u64 = 64 << 20;

/// A bar over `bytes`, or a hidden one.
pub(crate) fn bar(bytes: u64, verb: &'static str) -> ProgressBar {
    if bytes < SHOWN_FROM_BYTES || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    let style = "{msg} {bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} eta {eta}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message(verb);
    bar
}

/// How much there is to read at `path`, roughly.
pub(crate) fn size_of(path: &Path) -> u64 {
    let Ok(metadata) = path.metadata() else { return 0 };
    if metadata.is_file() {
        return metadata.len();
    }
    let listing = path.read_dir().into_iter().flatten().flatten();
    listing.map(|entry| entry.metadata().map_or(0, |it| it.len())).sum()
}
