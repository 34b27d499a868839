//! Servers that npm or uv fetch and run: `npx -y PACKAGE …` and `uvx PACKAGE …`, as they were fetched before.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cage::of_home;

/// The longest `package.json` that is read, in bytes.
const PACKAGE_BYTES_MAX: u64 = 1 << 20;
/// Folders of npm that are looked through.
const FOLDERS_MAX: usize = 1000;

/// Who fetches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetcher {
    Npm,
    Uv,
}

/// A server that is fetched and run, in the plain form of its line.
#[derive(Debug)]
pub struct Fetched<'a> {
    fetcher: Fetcher,
    package: &'a str,
    /// The program, where the line names another than the package.
    program: Option<&'a str>,
    rest: &'a [OsString],
}

/// What is there of a server: its program, and what must be readable for it.
struct Kept {
    program: PathBuf,
    readable: Vec<PathBuf>,
}

impl<'a> Fetched<'a> {
    /// Reads the plain forms, and no others.
    #[must_use]
    pub fn read(words: &'a [OsString]) -> Option<Self> {
        let (program, mut rest) = words.split_first()?;
        let fetcher = match Path::new(program).file_stem()?.to_str()? {
            "npx" => Fetcher::Npm,
            "uvx" => Fetcher::Uv,
            _ => return None,
        };
        let mut from = None;
        while let Some((first, after)) = rest.split_first() {
            match (fetcher, first.to_str()?) {
                (_, "-q" | "--quiet" | "--") | (Fetcher::Npm, "-y" | "--yes") => rest = after,
                (Fetcher::Uv, "--from") if from.is_none() => {
                    let (package, after) = after.split_first()?;
                    from = Some(package.to_str()?);
                    rest = after;
                }
                (_, option) if option.starts_with('-') => return None,
                (_, name) => {
                    let package = from.unwrap_or(name);
                    let program = from.map(|_| name);
                    return Some(Self { fetcher, package, program, rest: after });
                }
            }
        }
        None
    }

    /// The same from where it is kept, and what must be readable for that.
    ///
    /// # Errors
    /// If it was not fetched.
    pub fn kept(&self) -> Result<(Vec<OsString>, Vec<PathBuf>), String> {
        let (found, once) = match self.fetcher {
            Fetcher::Npm => (self.of_npm(), "npx -y"),
            Fetcher::Uv => (self.of_uv(), "uv tool install"),
        };
        let Kept { program, readable } = found.ok_or_else(|| {
            let package = self.package;
            format!(
                "`{package}` was not fetched yet, and a server in a cage has no network to do it: run `{once} {package}` once"
            )
        })?;
        let words = std::iter::once(program.into_os_string()).chain(self.rest.iter().cloned());
        Ok((words.collect(), readable))
    }

    /// Where npm keeps what `npx` has fetched, by the list that it keeps there.
    fn of_npm(&self) -> Option<Kept> {
        let caches = std::env::home_dir()?.join(".npm/_npx");
        let folders = std::fs::read_dir(caches).ok()?.take(FOLDERS_MAX);
        let mut folders: Vec<PathBuf> = folders.filter_map(|it| Some(it.ok()?.path())).collect();
        folders.sort();
        folders.into_iter().find_map(|folder| {
            let about = json_of(&folder.join("package.json"))?;
            let fetched = about.pointer("/_npx/packages")?.as_array()?;
            let is_it = matches!(fetched.as_slice(), [it] if it.as_str() == Some(self.package));
            let program = is_it.then(|| self.program_of_npm(&folder)).flatten()?;
            let node = of_home(OsStr::new("node"));
            Some(Kept { program, readable: std::iter::once(folder).chain(node).collect() })
        })
    }

    /// The program of the package, by what the package says of itself.
    fn program_of_npm(&self, folder: &Path) -> Option<PathBuf> {
        let modules = folder.join("node_modules");
        let name = without_version(self.package);
        let parts: Vec<&str> = name.split('/').collect();
        let package = files::safe_path(&modules, &parts).ok()?;
        let bin = json_of(&package.join("package.json"))?.get("bin")?.clone();
        let plain = *parts.last()?;
        let program = match &bin {
            Value::Object(programs) if programs.len() == 1 => programs.keys().next()?.clone(),
            Value::Object(programs) => programs.keys().find(|it| *it == plain)?.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => plain.to_owned(),
        };
        let path = files::safe_path(&modules.join(".bin"), &[&program]).ok()?;
        path.exists().then_some(path)
    }

    /// Where uv keeps tools that were installed, each with an environment of its own.
    fn of_uv(&self) -> Option<Kept> {
        let tools = std::env::home_dir()?.join(".local/share/uv/tools");
        let package = without_version(self.package);
        let tool = files::safe_path(&tools, &[package]).ok()?;
        let bin = tool.join("bin");
        let program = files::safe_path(&bin, &[self.program.unwrap_or(package)]).ok()?;
        // The interpreter lies elsewhere, with its library beside it.
        let python = files::resolved(&bin.join("python")).ok()?;
        let python = python.parent()?.parent().filter(|it| it.parent().is_some())?.to_owned();
        let is_systems = ["/usr", "/usr/local"].iter().any(|it| python.as_os_str() == *it);
        let readable = std::iter::once(tool).chain((!is_systems).then_some(python)).collect();
        program.exists().then_some(Kept { program, readable })
    }
}

/// `@scope/name@1.2` is `@scope/name`.
fn without_version(package: &str) -> &str {
    let begin = usize::from(package.starts_with('@'));
    let at = package.get(begin..).and_then(|it| it.find('@')).map(|it| it + begin);
    at.and_then(|it| package.get(..it)).unwrap_or(package)
}

fn json_of(path: &Path) -> Option<Value> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(PACKAGE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn plain_lines_are_read_and_no_others() {
        let line = words("npx -y @scope/server@1.2 . --flag");
        let npx = Fetched::read(&line).unwrap();
        assert_eq!((npx.package, npx.rest.len()), ("@scope/server@1.2", 2));
        let line = words("/opt/uvx --from mcp-tools mcp-time --zone UTC");
        let uvx = Fetched::read(&line).unwrap();
        assert_eq!((uvx.package, uvx.program, uvx.rest.len()), ("mcp-tools", Some("mcp-time"), 2));
        for other in ["npx --package x y", "node npx", "npx -y", "uvx --with x y", "uvx", "uv x"] {
            assert!(Fetched::read(&words(other)).is_none(), "{other}");
        }
        let plain = ["@scope/a@1.2", "@scope/a", "b@latest", "b"].map(without_version);
        assert_eq!(plain, ["@scope/a", "@scope/a", "b", "b"]);
    }
}
