//! Commands that install packages: taken as words and never by a shell, one exact version, from the usual registry, and
//! without programs that a package would run by itself.

use model::skill::Severity;

/// The longest command, in bytes.
const COMMAND_BYTES_MAX: usize = 512;
/// The most words.
const WORDS_MAX: usize = 16;

/// A command that may be run as these words, none of them by a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// The program and its arguments, with the option that keeps packages from running programs of their own.
    pub words: Vec<String>,
}

/// Why a command is not taken for an installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstallRefused {
    /// Characters that a shell would understand, or words that are not plain.
    #[error("an installation is plain words, with nothing that a shell would understand")]
    Words,
    /// A program that is no package manager that is known.
    #[error("the program is none of the package managers that are known")]
    Manager,
    /// Something else than installing.
    #[error("the package manager is told something else than to install")]
    Verb,
    /// An option that changes where packages come from, where they go or what they run.
    #[error("an option changes where packages come from, where they go or what they run")]
    Option,
    /// An option that names another registry.
    #[error("packages come from another registry than the usual one")]
    Registry,
    /// A package that comes from elsewhere than the registry.
    #[error("a package comes from a path or an address and not from the registry")]
    Source,
    /// No exact version.
    #[error("a package has no exact version: whatever is published next would be installed")]
    Unpinned,
    /// The manager cannot pin.
    #[error(
        "the package manager takes no exact version: whatever it has at that time is installed"
    )]
    Unpinnable,
}

impl InstallRefused {
    /// Returns how bad it is in a program that does it by itself.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Unpinned | Self::Unpinnable => Severity::Low,
            Self::Words | Self::Manager | Self::Verb | Self::Option => Severity::Low,
            Self::Registry | Self::Source => Severity::Medium,
        }
    }
}

/// A package manager: how it installs, how versions are written, and what keeps packages from running programs.
struct Manager {
    programs: &'static [&'static str],
    verbs: &'static [&'static [&'static str]],
    /// Between a package and its version; nothing where it takes none.
    pin: Option<&'static str>,
    options: &'static [&'static str],
    quiet: &'static [&'static str],
}

const MANAGERS: &[Manager] = &[
    Manager {
        programs: &["npm", "pnpm"],
        verbs: &[&["install"], &["i"], &["add"]],
        pin: Some("@"),
        options: &["-g", "--global", "--save-dev", "-D", "--save-exact"],
        quiet: &["--ignore-scripts"],
    },
    Manager {
        programs: &["pip", "pip3"],
        verbs: &[&["install"]],
        pin: Some("=="),
        options: &["--user", "--no-input"],
        // Building a source runs its own program; a wheel is only unpacked.
        quiet: &["--only-binary=:all:"],
    },
    Manager {
        programs: &["uv"],
        verbs: &[&["tool", "install"], &["pip", "install"]],
        pin: Some("=="),
        options: &[],
        quiet: &["--no-build"],
    },
    Manager {
        programs: &["cargo"],
        verbs: &[&["install"]],
        pin: Some("@"),
        options: &["--locked"],
        quiet: &[],
    },
    Manager {
        programs: &["go"],
        verbs: &[&["install"]],
        pin: Some("@v"),
        options: &[],
        quiet: &[],
    },
    Manager {
        programs: &["gem"],
        verbs: &[&["install"]],
        pin: Some(":"),
        options: &["--no-document"],
        quiet: &[],
    },
    Manager {
        programs: &["apt", "apt-get"],
        verbs: &[&["install"]],
        pin: Some("="),
        options: &["-y", "--yes", "--no-install-recommends"],
        quiet: &[],
    },
    Manager {
        programs: &["apk"],
        verbs: &[&["add"]],
        pin: Some("="),
        options: &["--no-cache"],
        quiet: &["--no-scripts"],
    },
    Manager { programs: &["brew"], verbs: &[&["install"]], pin: None, options: &[], quiet: &[] },
    Manager {
        programs: &["dotnet"],
        verbs: &[&["tool", "install"]],
        pin: Some("@"),
        options: &["--global", "-g"],
        quiet: &[],
    },
    Manager {
        programs: &["composer"],
        verbs: &[&["require"]],
        pin: Some(":"),
        options: &[],
        quiet: &["--no-scripts"],
    },
];

/// Options that name another registry.
const REGISTRIES: &[&str] = &[
    "--registry",
    "--index-url",
    "--extra-index-url",
    "--find-links",
    "--index",
    "--default-index",
    "--source",
    "--add-source",
    "--repository",
];

/// Does a line begin like an installation?
pub(crate) fn is_one(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let manager = words.next().and_then(of);
    let second = words.next();
    manager.is_some_and(|it| it.verbs.iter().any(|verb| verb.first().copied() == second))
}

fn of(program: &str) -> Option<&'static Manager> {
    MANAGERS.iter().find(|it| it.programs.contains(&program))
}

/// Takes a command that installs packages of exact versions from the usual registry.
///
/// # Errors
/// If it is anything else.
pub fn judge(command: &str) -> Result<Install, InstallRefused> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b" @/._:=+-".contains(&it);
    let command = command.trim_matches(' ');
    if command.is_empty() || command.len() > COMMAND_BYTES_MAX || !command.bytes().all(is_plain) {
        return Err(InstallRefused::Words);
    }
    let words: Vec<&str> = command.split(' ').filter(|it| !it.is_empty()).collect();
    let (program, rest) = words.split_first().ok_or(InstallRefused::Words)?;
    let manager = of(program).ok_or(InstallRefused::Manager)?;
    let verb = manager.verbs.iter().find(|it| rest.starts_with(it)).ok_or(InstallRefused::Verb)?;
    let given = rest.get(verb.len()..).unwrap_or_default();
    if words.len() > WORDS_MAX {
        return Err(InstallRefused::Words);
    }
    let (options, packages): (Vec<&str>, Vec<&str>) =
        given.iter().partition(|it| it.starts_with('-'));
    if options.iter().any(|it| REGISTRIES.contains(&it.split('=').next().unwrap_or(it))) {
        return Err(InstallRefused::Registry);
    }
    if options.iter().any(|it| !manager.options.contains(it)) {
        return Err(InstallRefused::Option);
    }
    if packages.is_empty() {
        return Err(InstallRefused::Verb);
    }
    for package in &packages {
        is_package(manager, program, package)?;
    }
    let all =
        [*program].into_iter().chain(verb.iter().copied()).chain(manager.quiet.iter().copied());
    let all = all.chain(options).chain(packages);
    Ok(Install { words: all.map(str::to_owned).collect() })
}

fn is_package(manager: &Manager, program: &str, package: &str) -> Result<(), InstallRefused> {
    let pinned = match manager.pin {
        None => None,
        // The first letter may be the `@` of a scope.
        Some(pin) => {
            package.get(1..).and_then(|it| it.find(pin)).map(|it| package.split_at(it + 1))
        }
    };
    let (name, version) = match (manager.pin, pinned) {
        (Some(pin), Some((name, rest))) => (name, rest.strip_prefix(pin)),
        (Some(_) | None, _) => (package, None),
    };
    if !is_name(program, name) {
        return Err(InstallRefused::Source);
    }
    match (manager.pin, version) {
        (None, _) => Err(InstallRefused::Unpinnable),
        (Some(_), Some(version)) if is_exact(version) => Ok(()),
        (Some(_), _) => Err(InstallRefused::Unpinned),
    }
}

/// `left-pad`, `@scope/name`, `vendor/name` of composer, a module of Go; no path, no address, no archive.
fn is_name(program: &str, name: &str) -> bool {
    let is_part = |it: &str| {
        it.bytes().next().is_some_and(|it| it.is_ascii_alphanumeric())
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"._-".contains(&it))
            && !it.contains("..")
    };
    let archive = [".deb", ".whl", ".tgz", ".gz", ".zip", ".tar", ".git", ".gem"];
    if archive.iter().any(|it| name.ends_with(it)) {
        return false;
    }
    let scoped = name.strip_prefix('@').filter(|_| matches!(program, "npm" | "pnpm"));
    let parts: Vec<&str> = scoped.unwrap_or(name).split('/').collect();
    let most = match program {
        "go" => WORDS_MAX,
        "composer" => 2,
        _ if scoped.is_some() => 2,
        _ => 1,
    };
    let host = program != "go" || parts.first().is_some_and(|it| it.contains('.'));
    parts.len() <= most
        && (scoped.is_none() || parts.len() == 2)
        && host
        && parts.iter().all(|it| is_part(it))
}

/// `1.2.3`, `2.31.0-rc.1`: numbers first, no range, no tag that moves.
fn is_exact(version: &str) -> bool {
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let plain = |it: u8| it.is_ascii_alphanumeric() || b".-+".contains(&it);
    version.bytes().all(plain) && numbers.contains('.') && numbers.split('.').all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_version_from_the_registry_becomes_words() {
        let words = |it: &str| judge(it).map(|it| it.words.join(" "));
        assert_eq!(
            words("npm install -g prettier@3.1.0").unwrap(),
            "npm install --ignore-scripts -g prettier@3.1.0"
        );
        assert_eq!(
            words("npm i @types/node@20.1.0").unwrap(),
            "npm i --ignore-scripts @types/node@20.1.0"
        );
        assert_eq!(
            words("pip install requests==2.31.0").unwrap(),
            "pip install --only-binary=:all: requests==2.31.0"
        );
        assert_eq!(
            words("go install example.com/tool@v1.2.3").unwrap(),
            "go install example.com/tool@v1.2.3"
        );
    }

    #[test]
    fn whatever_could_be_another_package_tomorrow_is_refused() {
        use InstallRefused as R;
        for (command, why) in [
            ("npm install x", R::Unpinned),
            ("npm install x@latest", R::Unpinned),
            ("npm install x@1", R::Unpinned),
            ("npm install @evil", R::Source),
            ("pip install x", R::Unpinned),
            ("pip install x==2.*", R::Words),
            ("brew install jq", R::Unpinnable),
            ("npm install x@1.0.0 --registry=https://evil.example", R::Registry),
            ("npm install x@1.0.0 --prefix=/", R::Option),
            ("npm install ./x@1.0.0", R::Source),
            ("npm install x@1.0.0;id", R::Words),
            ("npm install x@1.0.0\u{a0}y", R::Words),
            ("npm run x", R::Verb),
            ("npm install", R::Verb),
            ("curl https://evil.example", R::Manager),
        ] {
            assert_eq!(judge(command), Err(why), "{command}");
        }
    }
}
