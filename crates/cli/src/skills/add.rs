//! `lazaret skills add` and `remove`: a person's acts. What the verifier says is on record before they are asked.

use std::path::{Path, PathBuf};

use aegx::verify::printable;
use evidence::{Clock, SystemClock};
use host::skills::{Pins, SUPPRESSIONS, SkillName, Skills, Suppressions, gather};
use model::Taint;
use policy::SkillVerdict;
use serde_json::json;
use skill::{Index, Tree, install};

use super::clawhub::{self, Published};
use super::{failure, open};
use crate::act::{Act, By};
use crate::check::skill_lines;
use crate::check::skill_verified::{Verified, not_gathered, suppressions};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;
use crate::person;

/// Install a skill from a folder, an archive or a registry, once it was verified and you approve.
///
/// What is denied is not installed, whoever says yes; see `lazaret check skill` for what speaks against it, and
/// `lazaret skills suppress` for a finding that you have looked at. What you approve is pinned by the hash of all its files: if one
/// of them is another later, the skill is not used. Nothing of it is run: commands that it wants run to install
/// packages are shown, as the words that they would be run as, or with what is wrong with them.
///
/// `clawhub:NAME` (or `clawhub:NAME@VERSION`) is fetched from the registry of that name, where anybody publishes. What comes has to call itself
/// by that name, or you say the name that it gets.
///
/// Names are held against the skills that are there and against `skill-index.json` in the state directory.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// The skill: a folder, a zip, a tar(.gz), a SKILL.md, or `clawhub:NAME`.
    path: PathBuf,
    /// Another registry than clawhub.ai, by its address.
    #[arg(long, value_name = "URL", default_value = clawhub::REGISTRY, hide_default_value = true)]
    registry: String,
    /// The name that it gets [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Put it in the place of the one of that name.
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    by: By,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Take a skill away that was added.
#[derive(clap::Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    home: Home,
    /// The skill.
    name: String,
    #[command(flatten)]
    by: By,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Names that people know, in the state directory.
const INDEX: &str = "skill-index.json";
/// The longest of them, in bytes.
const INDEX_BYTES_MAX: u64 = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let by = args.by.user()?;
    let (skills, pins) = folder(&args.home)?;
    let published = args.path.to_str().and_then(Published::read).transpose()?;
    let tree = match &published {
        Some(it) => it.fetch(&args.home.dir()?, &args.registry)?,
        None => gather(&args.path).map_err(|error| not_gathered(&args.path, &error))?,
    };
    let (name, verified) = verify(args, &skills, &tree, published.as_ref())?;
    let source = published.as_ref().map(|it| format!("{it} of {}", args.registry));
    let content = json!({
        "skill": name.as_str(),
        "decision": verified.verdict.as_str(),
        "source": source,
        "verification": verified.to_json(),
    });
    let act = Act::begin(&args.home, "skill_verification", &by, Taint::SKILL_OUTPUT, content)?;
    let ((), verification) = act.end(Ok(()), "skill_not_verified")?;
    if verified.verdict == SkillVerdict::Deny {
        for line in skill_lines(&verified) {
            output::note(&line);
        }
        return Err(Failure::refused(format!(
            "the skill `{name}` is denied, and was not installed"
        )));
    }
    let mut shown = lines(&name, &verified);
    shown.extend(source.map(|it| format!("from {}", printable(&it))));
    if !args.yes && !person::says_yes(&shown, "install exactly these files")? {
        return Err(Failure::refused("nothing was installed"));
    }
    let digest = tree.digest().to_string();
    let content = json!({ "skill": name.as_str(), "digest": digest, "verification": verification, "replace": args.replace });
    let act = Act::begin(&args.home, "skill_installed", &by, Taint::SKILL_OUTPUT, content)?;
    let about = (&act.receipt, by.as_str(), SystemClock.unix_seconds());
    let done = pins.install(&name, &tree, args.replace, about);
    let (digest, record) = act.end(done.map_err(|error| failure(&error)), "skill_not_installed")?;
    if args.json {
        output::json(&json!({
            "skill": name.as_str(), "verdict": verified.verdict.as_str(), "digest": digest.to_string(), "record": record,
            "verification": verification,
        }));
    } else {
        output::line(&format!("installed {name} with tree {digest}"));
    }
    Ok(Exit::Done)
}

pub(crate) fn remove(args: &RemoveArgs) -> Result<Exit, Failure> {
    let (_, pins) = folder(&args.home)?;
    let name = SkillName::parse(&args.name).map_err(|error| failure(&error.into()))?;
    let content = json!({ "skill": name.as_str() });
    let act = Act::begin(&args.home, "skill_removed", &args.by.user()?, Taint::NONE, content)?;
    let done = pins.remove(&name, &act.receipt);
    let ((), record) = act.end(done.map_err(|error| failure(&error)), "skill_not_removed")?;
    if args.json {
        output::json(&json!({ "skill": name.as_str(), "record": record }));
    } else {
        output::line(&format!("removed {name}"));
    }
    Ok(Exit::Done)
}

/// The folder of skills, where programs of theirs can lie.
fn folder(home: &Home) -> Result<(Skills, Pins), Failure> {
    let skills = open(home)?;
    match &skills {
        Skills::Folder(_) => {}
        Skills::Repository(_) => {
            let why = "skills of the repository are texts that agents propose; `skills: readonly` has folders";
            return Err(Failure::refused(why));
        }
    }
    let pins = Pins::new(&home.dir()?.join("skills"));
    Ok((skills, pins))
}

fn verify(
    args: &Args,
    skills: &Skills,
    tree: &Tree,
    published: Option<&Published>,
) -> Result<(SkillName, Verified), Failure> {
    let own = skill::verify(tree, None, &Index::default()).name;
    // What was asked for by its name does not come under another one.
    if let Some(wanted) =
        published.filter(|it| args.name.is_none() && own.as_ref() != Some(&it.name))
    {
        let own = own.as_deref().unwrap_or_default();
        let why = format!("`{wanted}` calls itself `{}`: say its name with --name", printable(own));
        return Err(Failure::refused(why));
    }
    let name = args.name.clone().or(own).ok_or_else(|| {
        Failure::usage("the skill does not say what it is called: --name says it")
    })?;
    let name = SkillName::parse(&name).map_err(|error| failure(&error.into()))?;
    let home = args.home.dir()?;
    let mut index = match files::private::read_if_there(&home.join(INDEX), INDEX_BYTES_MAX) {
        Ok(None) => Index::default(),
        Ok(Some(bytes)) => {
            Index::parse(&String::from_utf8_lossy(&bytes)).map_err(Failure::usage)?
        }
        Err(error) => return Err(Failure::unable(error)),
    };
    let there = skills.list().map_err(|error| failure(&error))?;
    let others = there.into_iter().map(|it| it.name).filter(|it| !(args.replace && *it == name));
    index.installed.extend(others.map(|it| it.to_string()));
    let suppressed = own_suppressions(&args.home, &home)?;
    let report = skill::verify(tree, Some(name.as_str()), &index);
    Ok((name, Verified::new(report, suppressed.as_ref())))
}

/// The suppressions of this state directory, if there are some.
pub(super) fn own_suppressions(at: &Home, home: &Path) -> Result<Option<Suppressions>, Failure> {
    let path = home.join(SUPPRESSIONS);
    match path.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unable(error)),
        Ok(_) => suppressions(at, &path, None).map(Some),
    }
}

/// What a person looks at before they answer.
fn lines(name: &SkillName, verified: &Verified) -> Vec<String> {
    let report = &verified.report;
    let mut lines = vec![
        format!("skill {name}: {}", verified.verdict),
        printable(report.description.as_deref().unwrap_or("no description")).to_string(),
        format!("{}, tree {}", output::count(report.files as u64, "file"), report.digest),
    ];
    for command in &report.installs {
        lines.push(match install::judge(command) {
            Ok(install) => format!("wants installed, as these words: {:?}", install.words),
            Err(why) => format!(
                "wants `{}` run, which is not taken for an installation: {why}",
                printable(command)
            ),
        });
    }
    lines.extend(skill_lines(verified));
    lines
}
