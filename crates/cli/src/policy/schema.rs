//! `lazaret policy schema`.

use crate::failure::Exit;
use crate::output;

/// Print the Cedar schema: everything that rules can talk about.
///
/// Save it beside your rules, and editors that know Cedar check them as you type.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Exit {
    output::line(policy::schema_text().trim_end());
    Exit::Done
}
