//! `lazaret replay`: a recorded or hand-written session through the real gate, without effects.

mod event;
mod gate;
mod lines;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use model::Profile;

use crate::check::lines::{Line, Lines};
use crate::failure::{Exit, Failure};
use crate::output;

/// Drive a recorded or hand-written session through the gate and see every verdict.
///
/// TRACE is a file of events, one JSON object per line, or `-` for stdin. Policy, taint, provenance and
/// evidence are the real ones; nothing is carried out: what a call gave back is taken from the trace,
/// and the result of a call that was stopped is ignored, because it did not happen.
///
/// Events:
///   {"event":"session","session":"s","user":"u","agent":"a","tools":[…]}  (and "parent":"s0")
///   {"event":"content","session":"s","source":"user","text":"…"}
///   {"event":"call","session":"s","call":"c1","tool":"send_mail","args":{…}}
///   {"event":"result","session":"s","call":"c1","text":"…"}
///   {"event":"confirm","session":"s","call":"c1","by":"user"}
///   {"event":"turn","session":"s"}  {"event":"end","session":"s"}
///
/// Exit codes: 0 all events were read, 2 a line or a file is wrong, 3 the gate could not work.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The trace, or `-` for stdin.
    trace: PathBuf,
    /// The profile of sessions that name none: paranoid, standard or yolo.
    #[arg(long, default_value = "standard", value_parser = |it: &str| Profile::parse(it))]
    profile: Profile,
    /// A directory of own policy rules, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// Flow types of tools: {"tools":{NAME:{"effect":…,"output":…,"args":{…}}}}.
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Keep state in this directory, so that a later trace goes on from it.
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The directory in which the agents work: looked at when a session begins and when it ends. Its
    /// labels are kept in --home.
    #[arg(long, value_name = "DIR", requires = "home")]
    workspace: Option<PathBuf>,
    /// Ask a person about what is stopped, as a live door does; `lazaret approvals` answers. The verdict
    /// names the question, at random.
    #[arg(long, requires = "home")]
    ask: bool,
    /// Print one JSON object per verdict and nothing else.
    #[arg(long)]
    json: bool,
}

/// The longest line of a trace, in bytes.
const LINE_BYTES_MAX: usize = 64 << 20;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut gate = gate::Gate::open(args)?;
    let printer = lines::Printer::new(args.json);
    let input: Box<dyn BufRead> = if args.trace.as_os_str() == "-" {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let file = File::open(&args.trace)
            .map_err(|error| Failure::usage(format!("`{}`: {error}", args.trace.display())))?;
        Box::new(BufReader::new(file))
    };
    let mut input = Lines::new(input, LINE_BYTES_MAX);
    let mut number = 0_u64;
    loop {
        number += 1;
        let wrong = |what: String| Failure::usage(format!("line {number} of the trace: {what}"));
        let line =
            match input.next().map_err(|error| Failure::unable(format!("the trace: {error}")))? {
                Line::End => break,
                Line::TooLong => return Err(wrong(format!("longer than {LINE_BYTES_MAX} bytes"))),
                Line::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Whole(line) => line,
            };
        let event = event::read(line).map_err(wrong)?;
        let verdict = gate.take(event).map_err(|stop| stop.at_line(number))?;
        if verdict.is_some_and(|it| !printer.verdict(&it)) {
            return Ok(Exit::Done);
        }
    }
    gate.leave_all()?;
    printer.summary(gate.summary());
    gate.close()?;
    if output::is_terminal() && !args.json {
        output::note("A call that was stopped can be looked at with `lazaret policy explain`.");
    }
    Ok(Exit::Done)
}
