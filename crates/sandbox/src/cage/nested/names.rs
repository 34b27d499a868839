//! Names that say what a file or directory holds.

use std::path::Path;

/// Names of directories with packages, caches and what compilers make.
const PACKAGES: &[&str] = &[
    ".cache",
    ".direnv",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".pnpm-store",
    ".pytest_cache",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "DerivedData",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "site-packages",
    "target",
    "venv",
];

/// Files that hold what their name says, wherever they lie.
const SECRETS: &[&str] = &[
    ".boto",
    ".dockercfg",
    ".git-credentials",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".smbcredentials",
    ".vault-token",
    "_netrc",
];
/// The same for directories.
const SECRET_DIRS: &[&str] = &[".aws", ".azure", ".gnupg", ".kube", ".password-store", ".ssh"];
/// How names of personal keys begin. What ends with `.pub` is public.
const PERSONAL_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
const PUBLIC: &str = ".pub";
/// What the name of a file is or ends with that says no more than that it is secret.
const CREDENTIALS: &str = "credentials";
const SECRET_ENDING: &str = ".secret";
/// Names of directories whose keys are there to try something with.
const SAMPLES: &[&str] = &[
    "__tests__",
    "example",
    "examples",
    "fixtures",
    "sample",
    "samples",
    "spec",
    "test",
    "test-data",
    "testdata",
    "testing",
    "tests",
    "vendor",
];
/// How the name of a file with an environment begins.
const ENVIRONMENT: &str = ".env";
/// Endings of such files that hold only examples.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];
/// Is a directory of this name one with packages, caches or what compilers make?
pub(super) fn is_of_packages(name: &[u8]) -> bool {
    PACKAGES.iter().any(|it| it.as_bytes() == name)
}

/// Does a file of this name hold secrets, and no examples of such? In whatever case: some disks do not look at it.
pub(super) fn is_secret(name: &[u8]) -> bool {
    let is = |it: &&str| it.as_bytes().eq_ignore_ascii_case(name);
    let lower = name.to_ascii_lowercase();
    is_of_environment(name)
        || SECRETS.iter().chain([&CREDENTIALS]).any(is)
        || lower.ends_with(SECRET_ENDING.as_bytes())
        || PERSONAL_KEYS.iter().any(|it| lower.starts_with(it.as_bytes()))
            && !lower.ends_with(PUBLIC.as_bytes())
}

/// Does a directory of this name?
pub(super) fn is_secret_dir(name: &[u8]) -> bool {
    let is = |it: &&str| it.as_bytes().eq_ignore_ascii_case(name);
    is_of_environment(name) || SECRET_DIRS.iter().any(is)
}

fn is_of_environment(name: &[u8]) -> bool {
    let rest = name.split_at_checked(ENVIRONMENT.len());
    let rest = rest.filter(|it| it.0.eq_ignore_ascii_case(ENVIRONMENT.as_bytes()));
    match rest.map(|it| it.1) {
        Some([]) => true,
        Some(rest @ [b'.' | b'-' | b'_' | b'~', ..]) => {
            !EXAMPLES.iter().any(|it| rest.ends_with(it.as_bytes()))
        }
        Some(_) | None => false,
    }
}

/// Are keys in this directory, seen from its workspace, there to try something with?
pub(super) fn are_of_samples(dir: &Path) -> bool {
    dir.iter().any(|part| SAMPLES.iter().any(|it| part == *it))
}
