//! Names by which files with secrets are known, wherever they lie. The guards of calls and the cage go by these, so that
//! what one of them keeps from an agent is not shown by the other.
//!
//! Names are compared in small letters: some disks do not tell case.

/// What the name of a file says of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Nothing that its name tells.
    Nothing,
    /// A secret, or a public certificate: who can look into it knows more.
    Key,
    /// A secret, but where samples and packages lie often only one to try something with.
    Usually,
    /// A secret, wherever it lies.
    Secret,
}

/// Files that hold what their name says, wherever they lie.
const SECRET: &[&str] = &[
    ".boto",
    ".databrickscfg",
    ".dockercfg",
    ".dockerconfigjson",
    ".git-credentials",
    ".htpasswd",
    ".msmtprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".smbcredentials",
    ".terraformrc",
    ".vault-token",
    "_netrc",
    "access_tokens.db",
    "accesstokens.json",
    "application_default_credentials.json",
    "cookies.sqlite",
    "credentials",
    "credentials.db",
    "key3.db",
    "key4.db",
    "login data",
    "logins.json",
    "msal_token_cache.json",
    "pgpass.conf",
    "rclone.conf",
    "signons.sqlite",
    "terraform.rc",
    "wallet.dat",
];
/// The same, where they are no samples.
const USUALLY: &[&str] = &[
    "client_secret.json",
    "client_secrets.json",
    "credentials.json",
    "credentials.toml",
    "credentials.xml",
    "credentials.yaml",
    "credentials.yml",
    "creds.json",
    "kubeconfig",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account.json",
    "service_account.json",
    "terraform.tfstate",
];
/// How names of personal keys, and of keys of a host, begin.
const KEY_BEGINNINGS: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "ssh_host_"];
/// How the name of a file with an environment begins, and what follows.
const ENVIRONMENT: &str = ".env";
const AFTER_ENVIRONMENT: &[char] = &['.', '-', '_', '~'];
/// Ends of names of secrets.
const SECRET_ENDS: &[&str] = &[".secret", ".secrets"];
/// The same, where they are no samples.
const USUAL_ENDS: &[&str] = &[
    ".env",
    ".jks",
    ".kdbx",
    ".keystore",
    ".keytab",
    ".kubeconfig",
    ".ovpn",
    ".p12",
    ".pfx",
    ".pkcs12",
    ".ppk",
    ".tfstate",
];
/// Parts of names of the accounts of services, which are settings in JSON.
const ACCOUNTS: &[&str] = &[
    "client_secret_",
    "firebase-adminsdk",
    "service-account",
    "service_account",
    "serviceaccount",
];
const OF_ACCOUNTS: &str = ".json";
/// Ends of names of keys and certificates.
const KEY_ENDS: &[&str] = &[".key", ".p8", ".pem"];
/// Keys that everybody has, for builds that are given to nobody.
const FOR_EVERYBODY: &[&str] = &["debug.keystore"];

/// Directories in which everything is a secret, wherever they are: keys, accounts, and what we and others like us keep.
const DIRECTORIES: &[&str] = &[
    ".aer",
    ".aliyun",
    ".aws",
    ".azure",
    ".clawdbot",
    ".gcloud",
    ".gnupg",
    ".kube",
    ".lazaret",
    ".oci",
    ".password-store",
    ".ssh",
];

/// Places with more than one part, which hold secrets wherever they stand in a path, beside those of a home.
pub const PLACES: &[&str] = &[
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".docker/config.json",
    ".electrum/wallets",
    ".fly/config.yml",
    ".gemini/oauth_creds.json",
    ".openclaw/credentials",
    ".snowsql/config",
    ".terraform.d/credentials.tfrc.json",
];

/// Words in a name that say that it only shows how it is done.
const EXAMPLE_WORDS: &[&str] =
    &["defaults", "dist", "example", "examples", "sample", "schema", "template", "tmpl"];
/// Ends of programs, pages and pictures, which are named after what they are about.
const PROSE_ENDS: &[&str] = &[
    "adoc", "c", "cc", "cpp", "cs", "css", "dart", "ex", "exs", "gif", "go", "h", "hpp", "htm",
    "html", "java", "jpeg", "jpg", "js", "jsx", "kt", "lua", "m", "md", "mdx", "mjs", "mm", "php",
    "pl", "png", "po", "ps1", "py", "pyi", "rb", "rs", "rst", "scala", "scss", "sh", "snap", "sol",
    "sql", "svelte", "svg", "swift", "tex", "tf", "ts", "tsx", "vue", "webp", "xml", "xsd", "zig",
];
/// Certificates and lists of them, which are for everybody.
const PUBLIC_STEMS: &[&str] = &["ca-bundle", "ca-certificates", "cacert", "cacerts"];
const PUBLIC_END: &str = ".pub";
/// What copies and backups have behind their names.
const COPY_ENDS: &[&str] = &[
    ".backup", ".bak", ".bz2", ".copy", ".gz", ".old", ".orig", ".save", ".swo", ".swp", ".tmp",
    ".xz", ".zst", "~", "-", " copy", " - copy",
];

/// What a file of this name holds, or one that it is a copy of. In small letters.
#[must_use]
pub fn holds(name: &str) -> Holds {
    let own = itself(name);
    if own != Holds::Nothing {
        return own;
    }
    let of_original = original(name).map_or(Holds::Nothing, itself);
    if of_original != Holds::Nothing {
        return of_original;
    }
    without_number(name).map_or(Holds::Nothing, |it| itself(&it))
}

/// Is everything in a directory of this name a secret? In small letters.
#[must_use]
pub fn is_secret_directory(name: &str) -> bool {
    DIRECTORIES.contains(&name)
}

/// Does a file, or a directory, of this name hold an environment, and no example of one? In small letters.
#[must_use]
pub fn is_environment(name: &str) -> bool {
    let rest = name.strip_prefix(ENVIRONMENT);
    rest.is_some_and(|it| it.is_empty() || it.starts_with(AFTER_ENVIRONMENT) && !is_example(name))
}

/// Does it only show how it is done: `.env.example`, `example.env`, `.env.local.sample`?
#[must_use]
pub fn is_example(name: &str) -> bool {
    name.split(['.', '-', '_']).any(|it| EXAMPLE_WORDS.contains(&it))
}

/// Is it a program, a page, a picture, by the end of its name?
#[must_use]
pub fn is_prose(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && PROSE_ENDS.contains(&end))
}

fn itself(name: &str) -> Holds {
    if SECRET.contains(&name) || is_environment(name) && !is_prose(name) {
        return Holds::Secret;
    }
    if USUALLY.contains(&name) {
        return Holds::Usually;
    }
    // `.env.example` shows how it is done; `id_rsa.pub` is for everybody; `id_rsa_test.go` is a program.
    if is_example(name)
        || is_prose(name)
        || name.ends_with(PUBLIC_END)
        || FOR_EVERYBODY.contains(&name)
    {
        return Holds::Nothing;
    }
    let ends = |all: &[&str]| all.iter().any(|it| name.ends_with(it) && name.len() > it.len());
    if KEY_BEGINNINGS.iter().any(|it| name.starts_with(it)) || ends(SECRET_ENDS) {
        return Holds::Secret;
    }
    if is_public(name) {
        return Holds::Nothing;
    }
    let is_account = name.ends_with(OF_ACCOUNTS) && ACCOUNTS.iter().any(|it| name.contains(it));
    if is_account || ends(USUAL_ENDS) {
        return Holds::Usually;
    }
    if ends(KEY_ENDS) { Holds::Key } else { Holds::Nothing }
}

/// `public.pem`, `cacert.pem`
fn is_public(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    PUBLIC_STEMS.contains(&stem)
        || stem.split(['.', '-', '_']).any(|it| matches!(it, "public" | "pub"))
}

/// `credentials (1).json` is another `credentials.json`.
fn without_number(name: &str) -> Option<String> {
    let (before, rest) = name.split_once(" (")?;
    let (number, after) = rest.split_once(')')?;
    number.bytes().all(|it| it.is_ascii_digit()).then(|| format!("{before}{after}"))
}

/// What a file is a copy of, by its name: `server.key.bak`, `credentials (1).json`, `copy of .netrc`.
fn original(name: &str) -> Option<&str> {
    let mut bare = name.strip_prefix("copy of ").unwrap_or(name);
    let mut shorter = true;
    while shorter {
        let before = bare.len();
        bare = COPY_ENDS.iter().find_map(|it| bare.strip_suffix(it)).unwrap_or(bare).trim_end();
        if let Some((stem, _)) = bare.rsplit_once(" (").filter(|_| bare.ends_with(')')) {
            bare = stem;
        }
        shorter = bare.len() < before;
    }
    // The editor's: `.server.key.swp`, `#server.key#`.
    let hidden = bare.strip_prefix('.').filter(|it| it.starts_with('.') || is_named(it));
    let bare = hidden.unwrap_or(bare).trim_matches('#');
    (bare != name && !bare.is_empty()).then_some(bare)
}

/// Is it the whole name of a file with secrets?
fn is_named(name: &str) -> bool {
    SECRET.contains(&name) || USUALLY.contains(&name) || KEY_BEGINNINGS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_files_hold() {
        for (name, expected) in [
            (".env", Holds::Secret),
            (".env.local", Holds::Secret),
            (".env~", Holds::Secret),
            (".env.example", Holds::Nothing),
            (".env.local.sample", Holds::Nothing),
            (".envrc", Holds::Nothing),
            ("prod.env", Holds::Usually),
            ("id_rsa", Holds::Secret),
            ("id_ed25519_ci", Holds::Secret),
            ("id_rsa.bak", Holds::Secret),
            ("id_ed25519_ci.pub", Holds::Nothing),
            ("id_rsa_test.go", Holds::Nothing),
            ("credentials", Holds::Secret),
            ("credentials.ts", Holds::Nothing),
            ("credentials.json", Holds::Usually),
            ("credentials (1).json", Holds::Usually),
            ("credentials.json.bak", Holds::Usually),
            ("service-account.json", Holds::Usually),
            ("my-service-account-prod.json", Holds::Usually),
            ("app-firebase-adminsdk-x1.json", Holds::Usually),
            ("client_secret_1.apps.json", Holds::Usually),
            ("service-account.yaml", Holds::Nothing),
            ("service-account-example.json", Holds::Nothing),
            ("store.p12", Holds::Usually),
            ("store.jks", Holds::Usually),
            ("release.keystore", Holds::Usually),
            ("debug.keystore", Holds::Nothing),
            ("kubeconfig", Holds::Usually),
            ("prod.kubeconfig", Holds::Usually),
            ("terraform.tfstate", Holds::Usually),
            ("terraform.tfstate.backup", Holds::Usually),
            ("prod.tfstate", Holds::Usually),
            ("server.key", Holds::Key),
            (".server.key.swp", Holds::Key),
            ("chain.pem", Holds::Key),
            ("authkey.p8", Holds::Key),
            ("cacert.pem", Holds::Nothing),
            ("jwt_public.key", Holds::Nothing),
            ("db.secret", Holds::Secret),
            ("copy of .netrc", Holds::Secret),
            ("main.rs", Holds::Nothing),
            ("", Holds::Nothing),
        ] {
            assert_eq!(holds(name), expected, "{name}");
        }
    }

    #[test]
    fn every_name_is_in_small_letters_and_named_once() {
        let mut seen = std::collections::BTreeSet::new();
        for name in [
            SECRET,
            USUALLY,
            KEY_BEGINNINGS,
            SECRET_ENDS,
            USUAL_ENDS,
            KEY_ENDS,
            DIRECTORIES,
            PLACES,
        ]
        .concat()
        {
            assert!(seen.insert(name), "twice: {name}");
            assert_eq!(name, name.to_ascii_lowercase());
        }
    }
}
