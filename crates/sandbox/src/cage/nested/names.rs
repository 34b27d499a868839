//! Names that say what a file or directory holds.

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
    let rest = name.split_at_checked(ENVIRONMENT.len());
    let rest = rest.filter(|it| it.0.eq_ignore_ascii_case(ENVIRONMENT.as_bytes()));
    match rest.map(|it| it.1) {
        None => SECRETS.iter().any(|it| it.as_bytes().eq_ignore_ascii_case(name)),
        Some([]) => true,
        Some(rest @ [b'.' | b'-' | b'_' | b'~', ..]) => {
            !EXAMPLES.iter().any(|it| rest.ends_with(it.as_bytes()))
        }
        Some(_) => false,
    }
}
