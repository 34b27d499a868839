//! `lazaret exec`: a command in a cage.

mod changeable;
mod line;
pub(crate) mod line_of_servers;
mod network;
mod presets;
pub(crate) mod record;
pub(crate) mod settings;

use std::time::Instant;

use monitor::terminal::Never;
use sandbox::cage::{Cage, CageError, Held, Hold, Leave, Rung, Waiting};
use sandbox::runner::Aside;

use crate::failure::Failure;
use crate::home::Home;
use crate::output;
use crate::way_out::WayOut;

use line::Outside;
use network::Way;
use presets::Preset;
use record::Records;
use settings::{Settings, Words};

/// Run a command in a cage.
///
/// The command sees the system's programs, read-only; the workspace (by default the directory it
/// starts in), which it may change; and fresh, empty places for everything else, its home included.
/// It sees no secret directory or file, none of the machine's other processes, and no network. Its
/// environment is made from nothing. When it ends, everything that it started ends with it.
///
/// What holds it are the kernel's namespaces, landlock, a filter of system calls and limits. Without
/// namespaces and landlock nothing runs, unless --allow-weaker says so; --require asks for more, and
/// --report says what holds. Commands that must
/// never run (`lazaret check shell`) are refused, cage or not. On a Mac it is a Seatbelt profile, which lets
/// every file be read but secrets; on other systems nothing is run.
///
/// The program of a known agent (claude, codex, copilot, gemini, opencode) is given what it needs of the home beside: its
/// login, its settings to read or as a copy, its sessions to write; and with --network the hosts of its API alone, and those of
/// --allow. What that is, is said on stderr, listed by --report and recorded; --preset none gives nothing.
///
/// stdin, stdout, stderr, signals and the exit code are those of the command. With --tty it gets a
/// terminal of its own. Each run is recorded: `lazaret evidence tail --home ~/.lazaret/exec`.
///
/// Try it:
///   lazaret exec -- ls -la ~
///   lazaret exec --report -- sh -c 'cat /etc/shadow; touch /usr/x; id'
///   lazaret exec --network --allow pypi.org -- pip download six
///   lazaret exec --tty -- bash
///   lazaret exec --tty --network -- claude
///
/// Exit codes: those of the command; 124 its time was up, 126 it cannot be run, 127 it is not there;
/// 1 refused, 2 wrong usage, 3 no cage could be made.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    #[command(flatten)]
    settings: Settings,
    /// Say on stderr what holds.
    #[arg(long)]
    report: bool,
    /// Print what holds as one JSON object on stderr.
    #[arg(long, visible_alias = "json", conflicts_with = "report")]
    report_json: bool,
}

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let words = args.settings.words()?;
    let home = args.home.dir()?;
    let mut cage = args.settings.cage(&home)?;
    let mut preset = args.settings.preset()?;
    if let Some(preset) = &mut preset {
        preset.give(&mut cage)?;
        output::hint(&preset.said(&cage, args.settings.network));
    }
    let preset = preset.as_ref();
    let inmate = args.settings.inmate(&cage, preset)?;
    let outside = preset
        .map(|it| Outside::of(it, &args.home, &home, (&mut cage, inmate.directory.as_path())))
        .transpose()?;
    let way = Way::of(&args.settings, preset, &mut cage)?;
    let mut records = Records::of(&args.home, &words);
    // While the cage puts itself together, the command is judged and written down. Nothing runs before both are done.
    let mut refused = None;
    let put = cage.put(&inmate, || {
        let leave = judge(&words, &records).and_then(|leave| {
            records.begin(&cage, preset)?;
            Ok(leave)
        });
        leave.map_err(|failure| {
            let why = CageError::Settings(failure.message().to_owned());
            refused = Some(failure);
            why
        })
    });
    if let Some(failure) = refused {
        return Err(failure);
    }
    let mut waiting = put.map_err(|error| {
        records.not_begun(&error.to_string());
        not_made(with_the_next_step(error, &args.settings))
    })?;
    report(args, waiting.held(), preset, &cage);
    if let Some(weaker) = waiting.held().weaker() {
        output::note(&format!("a weaker cage, as --allow-weaker allows: {weaker}"));
    }
    if let Some(outside) = outside.flatten() {
        outside.serve()?;
    }
    let serving = way.map(|it| it.serve(&home, waiting.take_listener())).transpose();
    let serving = serving.inspect_err(|error| records.not_begun(error.message()))?;
    follow(waiting, &words, &records, || serving.map_or(Ok(()), WayOut::end))
}

/// Lets a program run, follows it to its end and writes that down. `closing` is done when everything in the cage has ended.
pub(crate) fn follow(
    waiting: Waiting,
    words: &Words<'_>,
    records: &Records,
    closing: impl FnOnce() -> Result<(), Failure>,
) -> Result<u8, Failure> {
    let held = waiting.held().clone();
    let started = Instant::now();
    let (ending, aside) = match waiting.begin() {
        Ok(running) => running.wait(),
        Err(error) => (Err(error), Vec::new()),
    };
    // A command can make as many as there is room for.
    let aside = Aside::of(aside);
    for it in &aside.first {
        output::note(&host::set_aside(it));
    }
    if aside.more > 0 {
        output::note(&format!("and {} more in the workspace: look for `set-aside`", aside.more));
    }
    let closed = closing();
    records.end(&held, &ending, &aside, started.elapsed())?;
    closed?;
    ending.map(sandbox::cage::Ending::exit_code).or_else(|error| match error {
        CageError::Program { why, code, .. } => {
            output::error(&format!("{}: {why}", words.program()));
            Ok(code)
        }
        CageError::Required { .. }
        | CageError::NoCage(_)
        | CageError::Settings(_)
        | CageError::Step { .. } => Err(not_made(error)),
    })
}

/// Leave to run it, as the monitor gives it. What must never run is refused, and that is written down.
pub(crate) fn judge(words: &Words<'_>, records: &Records) -> Result<Leave, Failure> {
    match words.vet() {
        Ok(vetted) => Ok(Leave::of_person(vetted)),
        Err(Never { rule, why }) => {
            records.refused(rule.as_str(), &why)?;
            Err(Failure::refused(format!("this command must never run: {why} ({rule})")))
        }
    }
}

fn report(args: &Args, held: &Held, preset: Option<&Preset>, cage: &Cage) {
    if args.report_json {
        let preset = preset.map(|it| it.to_json(cage));
        output::note(&serde_json::json!({ "held": held, "preset": preset }).to_string());
    } else if args.report {
        for (rung, hold) in held.rungs() {
            let (mark, text) = match hold {
                Hold::Held(how) => ("holds  ", how),
                Hold::Missing(why) => ("MISSING", why),
            };
            output::note(&format!("{mark} {:10} {text}", rung.as_str()));
        }
        let given = preset.map(|it| it.lines(cage)).unwrap_or_default();
        given.iter().for_each(|it| output::note(it));
    }
}

/// What the person can do about a rung that is always required.
fn with_the_next_step(error: CageError, settings: &Settings) -> CageError {
    match error {
        CageError::Required { rung, why }
            if Rung::ALWAYS.contains(&rung) && !settings.allow_weaker =>
        {
            let next =
                "`lazaret doctor` says how to have it, --allow-weaker runs it with what is left";
            CageError::Required { rung, why: format!("{why}; {next}") }
        }
        other @ (CageError::Required { .. }
        | CageError::NoCage(_)
        | CageError::Settings(_)
        | CageError::Program { .. }
        | CageError::Step { .. }) => other,
    }
}

/// What a cage that could not be made means for the user.
pub(crate) fn not_made(error: CageError) -> Failure {
    match error {
        CageError::Settings(why) => Failure::usage(why),
        CageError::Required { .. } => Failure::refused(error),
        CageError::NoCage(_) | CageError::Program { .. } | CageError::Step { .. } => {
            Failure::unable(error)
        }
    }
}
