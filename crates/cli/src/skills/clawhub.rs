//! Skills of a registry, `clawhub:NAME`: anybody publishes there, so an archive is fetched and then looked at like any other.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use egress::{Piece, Question, Verb};
use host::skills::{ARCHIVE_BYTES_MAX, GatherError, gather};
use host::{NamedWay, OpenedBy};
use skill::Tree;
use zeroize::Zeroizing;

use crate::check::skill_verified::not_gathered;
use crate::failure::Failure;

/// By this a skill of the registry is named.
const PREFIX: &str = "clawhub:";
/// The registry, unless another is named.
pub(super) const REGISTRY: &str = "https://clawhub.ai";
/// Time for one archive.
const WAIT: Duration = Duration::from_secs(60);
/// Redirects that are followed.
const REDIRECTS_MAX: usize = 3;
/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 100;
/// The longest version, in characters.
const VERSION_CHARS_MAX: usize = 64;
/// Where an archive lies while it is read, in the state directory.
const INCOMING: &str = "incoming-skill.zip";

/// A skill of the registry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Published {
    pub(super) name: String,
    version: Option<String>,
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.name)?;
        self.version.as_ref().map_or(Ok(()), |it| write!(f, "@{it}"))
    }
}

impl Published {
    /// Reads `clawhub:NAME` and `clawhub:NAME@VERSION`; none if it is a path.
    pub(super) fn read(text: &str) -> Option<Result<Self, Failure>> {
        let rest = text.strip_prefix(PREFIX)?;
        let (name, version) = match rest.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (rest, None),
        };
        let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        let is_name = (1..=NAME_CHARS_MAX).contains(&name.len())
            && name.bytes().all(plain)
            && !name.starts_with('-');
        let of_version = |it: u8| it.is_ascii_alphanumeric() || b".+-".contains(&it);
        let is_version =
            |it: &str| (1..=VERSION_CHARS_MAX).contains(&it.len()) && it.bytes().all(of_version);
        if !is_name || !version.is_none_or(is_version) {
            let why = "a skill of the registry is `clawhub:NAME` or `clawhub:NAME@VERSION`, with small letters, digits and `-` in its name";
            return Some(Err(Failure::usage(why)));
        }
        Some(Ok(Self { name: name.to_owned(), version: version.map(str::to_owned) }))
    }

    /// Fetches it from `registry`, by the settings in `home`, and takes its files out of the archive.
    pub(super) fn fetch(&self, home: &Path, registry: &str) -> Result<Tree, Failure> {
        let bytes = self.download(home, registry)?;
        files::private::create_dir(home).map_err(Failure::unable)?;
        let path = home.join(INCOMING);
        let written = files::private::create(&path).and_then(|mut it| it.write_all(&bytes));
        let tree = written.map_err(GatherError::from).and_then(|()| gather(&path));
        files::private::remove(&path).map_err(Failure::unable)?;
        tree.map_err(|error| not_gathered(Path::new(&self.to_string()), &error))
    }

    fn download(&self, home: &Path, registry: &str) -> Result<Vec<u8>, Failure> {
        let way = NamedWay::to(home, registry, OpenedBy::CommandLine).map_err(Failure::usage)?;
        let version = self.version.as_ref();
        let version =
            version.map(|it| format!("&version={}", it.replace('+', "%2B"))).unwrap_or_default();
        let base = registry.trim_end_matches('/');
        let url = format!("{base}/api/v1/download?slug={}{version}", self.name);
        let mut target = way.found(&url).map_err(Failure::usage)?;
        let (nobody_stops, end) = (AtomicBool::new(false), Instant::now() + WAIT);
        for _ in 0..=REDIRECTS_MAX {
            let accept = ("accept".to_owned(), Zeroizing::new("application/zip".to_owned()));
            let question = Question {
                verb: Verb::Get,
                target: &target,
                hidden: None,
                headers: vec![accept],
                body: Vec::new().into(),
                wait: end.saturating_duration_since(Instant::now()),
            };
            let mut arrived =
                way.servers().ask(&question, &nobody_stops).map_err(Failure::unable)?;
            match arrived.status {
                200 => return whole(|left| arrived.next(left), end),
                301 | 302 | 303 | 307 | 308 => {
                    let location = arrived.header("location").unwrap_or_default();
                    let next = target.join_within(location, way.servers().inner());
                    target = next.map_err(|it| {
                        Failure::unable(format!("the registry leads elsewhere: {it}"))
                    })?;
                }
                404 | 410 => {
                    return Err(Failure::refused(format!("the registry has no `{self}`")));
                }
                403 => return Err(Failure::refused(format!("the registry withholds `{self}`"))),
                status => {
                    return Err(Failure::unable(format!("the registry answers HTTP {status}")));
                }
            }
        }
        Err(Failure::unable("the registry redirects too often"))
    }
}

/// All of an archive, within its limits.
fn whole<E: fmt::Display>(
    mut next: impl FnMut(Duration) -> Result<Piece, E>,
    end: Instant,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match next(left).map_err(Failure::unable)? {
            Piece::End => return Ok(bytes),
            Piece::Still => return Err(Failure::unable("the archive took too long")),
            Piece::Data(data) if (bytes.len() + data.len()) as u64 > ARCHIVE_BYTES_MAX => {
                return Err(Failure::refused(GatherError::Long));
            }
            Piece::Data(data) => bytes.extend_from_slice(&data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_are_plain_and_everything_else_is_a_path_or_refused() {
        let read = |it: &str| Published::read(it).map(|it| it.map(|it| it.to_string()).ok());
        assert_eq!(read("./clawhub:tea"), None);
        for good in ["clawhub:tea", "clawhub:tea-2@1.0.0-rc.1+x"] {
            assert_eq!(read(good), Some(Some(good.to_owned())));
        }
        for bad in [
            "clawhub:",
            "clawhub:-x",
            "clawhub:Tea",
            "clawhub:a/b",
            "clawhub:../x",
            "clawhub:a&slug=b",
            "clawhub:a@",
            "clawhub:a@1 2",
            "clawhub:a@1&tag=x",
            "clawhub:a@1@2",
        ] {
            assert_eq!(read(bad), Some(None), "{bad}");
        }
    }
}
