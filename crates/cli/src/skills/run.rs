//! `lazaret skills run`.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use host::skills::{SkillName, Skills};
use sandbox::cage::{Fresh, Inmate};
use sandbox::oci::{PROFILE_BYTES_MAX, Profile};
use sandbox::skill::{CONFIG_BYTES_MAX, SkillExecutionConfig, SkillPlaces};
use serde_json::json;

use super::{failure, open};
use crate::exec::record::Records;
use crate::exec::settings::{Words, resolved};
use crate::exec::{follow, judge, not_made};
use crate::failure::Failure;
use crate::home::Home;

/// Run a program that a skill brings along, in a cage.
///
/// The skill is a folder of `skills: readonly`. The program sees the skill and the system's programs, read-only, and
/// a fresh directory to write ($SCRATCH), which is gone afterwards unless --scratch names one. There is no network, no
/// secret and nothing of yours. Nothing runs without seccomp, landlock and limits, and nothing where
/// the surroundings are not what `sandbox` in config.yaml requires.
///
/// How much it may take is said by you and not by the skill: --settings FILE, or `skill-sandbox.json` in the
/// state directory, with `seccomp_profile`, `filesystem_allowlist`, `timeout_ms`, `max_memory_bytes`.
///
/// Try it:
///   lazaret skills run deploy -- python3 scripts/plan.py --dry-run
///
/// Exit codes: those of the program; 124 its time was up, 126 it cannot be run, 127 it is not there;
/// 1 refused, 2 wrong usage, 3 no cage could be made.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The skill.
    name: String,
    /// How it is run, as JSON [default: skill-sandbox.json in the state directory, if it is there]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// A directory that it may write, and that stays.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program and its arguments, started in the skill's folder.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// The operator's settings for all skills.
const SETTINGS: &str = "skill-sandbox.json";

pub(crate) fn run(args: &Args) -> Result<u8, Failure> {
    let home = resolved(&args.home.dir()?)?;
    let words = Words::of(&args.command)?;
    let skill = folder(&args.home, &home, &args.name)?;
    let config = settings(args.settings.as_deref(), &home)?;
    let mut records = Records::of(&args.home, &words);
    let required = host::required(&home).map_err(Failure::usage)?;
    if let Some(refused) = host::NotAsRequired::of(&required) {
        records.refused("sandbox_refused", &refused.why)?;
        return Err(Failure::refused(refused.why));
    }
    let fresh = match &args.scratch {
        Some(_) => None,
        None => Some(Fresh::make().map_err(Failure::unable)?),
    };
    let scratch = fresh.as_ref().map(Fresh::path).or(args.scratch.clone()).unwrap_or_default();
    let scratch = resolved(&scratch)?;
    let persons = std::env::home_dir().ok_or_else(|| {
        Failure::unable("there is no home directory whose secrets could be kept from it")
    })?;
    let persons = resolved(&persons)?;
    let places = SkillPlaces { skill: &skill, scratch: &scratch, home: &persons, state: &home };
    let cage = config.cage(&places).map_err(Failure::usage)?;
    let leave = judge(&words, &records)?;
    // INVARIANT (RecordThenAct): what it may do is on record before it runs.
    records.note("skill_sandbox", json!({ "skill": args.name, "settings": config }))?;
    records.begin(&cage, None)?;
    let put = cage.put(&inmate(args, &skill, &scratch), || Ok(leave));
    let waiting = put.map_err(|error| {
        records.not_begun(&error.to_string());
        not_made(error)
    })?;
    // The fresh directory goes when nothing in the cage uses it any more.
    follow(waiting, &words, &records, || {
        drop(fresh);
        Ok(())
    })
}

/// The folder of a skill that is active: no link leads there.
fn folder(at: &Home, home: &Path, name: &str) -> Result<PathBuf, Failure> {
    let name = SkillName::parse(name).map_err(|error| failure(&error.into()))?;
    let skills = open(at)?;
    match &skills {
        Skills::Folder(_) => {}
        Skills::Repository(_) => {
            let why = "skills of the repository are texts without programs; `skills: readonly` has folders";
            return Err(Failure::refused(why));
        }
    }
    skills.read(&name).map_err(|error| failure(&error))?;
    let folder = home.join("skills").join(name.as_str());
    match resolved(&folder) {
        Ok(real) if real == folder && real.is_dir() => Ok(folder),
        Ok(_) | Err(_) => Err(Failure::refused(format!("the skill `{name}` is no folder"))),
    }
}

fn settings(named: Option<&Path>, home: &Path) -> Result<SkillExecutionConfig, Failure> {
    let usual = home.join(SETTINGS);
    let path = match named {
        Some(path) => path.to_owned(),
        None if usual.symlink_metadata().is_ok() => usual,
        None => return Ok(SkillExecutionConfig::default()),
    };
    let config = SkillExecutionConfig::parse(&text(&path, CONFIG_BYTES_MAX)?);
    let config = config.map_err(|it| wrong(&path, &it))?;
    if let Some(at) = &config.seccomp_profile {
        let profile = Profile::parse(&text(at, PROFILE_BYTES_MAX)?).map_err(|it| wrong(at, &it))?;
        config.accept(&profile).map_err(|it| wrong(at, &it))?;
    }
    Ok(config)
}

fn text(path: &Path, most: usize) -> Result<String, Failure> {
    let file = std::fs::File::open(path).map_err(|it| wrong(path, &it))?;
    let mut text = String::new();
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_string(&mut text).map_err(|it| wrong(path, &it))?;
    Ok(text)
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("`{}`: {why}", path.display()))
}

fn inmate(args: &Args, skill: &Path, scratch: &Path) -> Inmate {
    let host: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let host = host.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let made = vault::environment::environment(host, []);
    let mut environment: Vec<(OsString, OsString)> =
        made.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment.push(("SCRATCH".into(), scratch.into()));
    Inmate {
        words: args.command.clone(),
        directory: skill.to_owned(),
        environment,
        terminal: false,
    }
}
