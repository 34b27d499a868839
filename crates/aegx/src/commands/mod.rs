//! One file per command. Exit codes are decided here and nowhere else.

mod add_blob;
mod add_record;
mod clock;
mod convert;
mod export;
mod import;
mod init;
mod input;
mod output;
mod progress;
mod prove_inclusion;
mod signed_checkpoint;
mod summarize;
mod verify;
mod verify_checkpoint;

use std::process::ExitCode;

use aegx::archive::ArchiveError;
use aegx::bundle::BundleError;
use clap::{Parser, Subcommand};

/// Write, verify and exchange evidence bundles (AEGX v0.1).
///
/// A bundle is a directory, or a zip of it, with `manifest.json`, `records.jsonl`,
/// `audit-log.jsonl` and `blobs/`. Every record is named by the hash of its content, and the audit
/// log chains them, so that whoever has a bundle can check it without trusting whoever made it.
///
/// Exit codes: 0 done or verified, 1 verification failed or refused, 2 wrong usage, 3 could not
/// work (a missing file, a full disk). `verify --compat` exits as upstream's program does.
#[derive(Parser)]
#[command(name = "aegx", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Args),
    AddBlob(add_blob::Args),
    AddRecord(add_record::Args),
    Export(export::Args),
    Import(import::Args),
    Verify(verify::Args),
    Summarize(summarize::Args),
    Convert(convert::Args),
    ProveInclusion(prove_inclusion::Args),
    VerifyCheckpoint(verify_checkpoint::Args),
}

/// Runs the program.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Init(args) => init::run(&args),
        Command::AddBlob(args) => add_blob::run(&args),
        Command::AddRecord(args) => add_record::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Summarize(args) => summarize::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::ProveInclusion(args) => prove_inclusion::run(&args),
        Command::VerifyCheckpoint(args) => verify_checkpoint::run(&args),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::error(&failure.message);
            failure.exit.into()
        }
    }
}

/// How the program ends.
#[derive(Clone, Copy)]
pub(crate) enum Exit {
    Done,
    /// Verification failed, or the request was understood and refused.
    Refused,
    Usage,
    Unable,
    /// Upstream's own code, in compat mode.
    Upstream(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Unable => 3,
            Exit::Upstream(code) => code,
        })
    }
}

/// Why a command did not come to its end.
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into() }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, message: message.into() }
    }

    pub(crate) fn unable(message: impl Into<String>) -> Self {
        Self { exit: Exit::Unable, message: message.into() }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        let message = output::chain(&error);
        let disk = matches!(
            error,
            BundleError::Io { .. }
                | BundleError::NotABundle { .. }
                | BundleError::Archive(ArchiveError::Io { .. })
        );
        if matches!(error, BundleError::Draft(_)) {
            Self::usage(message)
        } else if disk {
            Self::unable(message)
        } else {
            Self::refused(message)
        }
    }
}
