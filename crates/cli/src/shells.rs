//! `lazaret completions` and `lazaret man`: what shells and `man` are told of the commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::{Exit, Failure};
use crate::output;

/// Print completions for a shell.
///
/// Try it:
///   lazaret completions bash > ~/.local/share/bash-completion/completions/lazaret
///   lazaret completions fish > ~/.config/fish/completions/lazaret.fish
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    shell: Shell,
}

/// Write a page of the manual for each command into a folder.
///
/// Try it:
///   lazaret man ~/.local/share/man/man1
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ManArgs {
    /// The folder; it is made if it is not there.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs, mut program: Command) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "lazaret", &mut text);
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(&text);
    Ok(Exit::Done)
}

pub(crate) fn man(args: &ManArgs, mut program: Command) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.dir)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", args.dir.display())))?;
    let dir = files::resolved(&args.dir).map_err(Failure::unable)?;
    program.build();
    let count = write(&dir, &program, "lazaret")?;
    output::line(&format!("{} in {}", output::count(count, "page"), args.dir.display()));
    Ok(Exit::Done)
}

/// Writes the page of a command and of all below it; gives how many.
fn write(dir: &Path, command: &Command, name: &str) -> Result<u64, Failure> {
    let mut page = Vec::new();
    let shown = command.clone().bin_name(name.replace('-', " "));
    Man::new(shown).title(name.to_owned()).render(&mut page).map_err(Failure::unable)?;
    let path = files::safe_path(dir, &[&format!("{name}.1")]).map_err(Failure::usage)?;
    files::private::replace(&path, &page).map_err(Failure::unable)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        if below.get_name() != "help" {
            count += write(dir, below, &format!("{name}-{}", below.get_name()))?;
        }
    }
    Ok(count)
}
