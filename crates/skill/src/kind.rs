//! What a file is: by its first bytes, then by its name.

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Text for readers, people or models.
    Document,
    /// A program for a shell.
    Shell,
    /// A program in a language with a grammar here.
    Code(Language),
    /// A program in a language that is run from its text and has no grammar here.
    OtherScript,
    /// JSON.
    Json,
    /// Any other text: settings, data, sources that have to be built first.
    Text,
    /// Bytes that a machine or an interpreter runs.
    Machine(&'static str),
    /// An archive, which may hold anything.
    Packed(&'static str),
    /// Pictures, fonts, documents of other programs.
    Data,
}

/// A language whose programs are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    PowerShell,
}

/// First bytes of what runs.
const MACHINE: &[(&[u8], &str)] = &[
    (b"\x7fELF", "a program for Linux"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS"),
    (b"\xce\xfa\xed\xfe", "a program for macOS"),
    (b"\xca\xfe\xba\xbe", "a program for macOS, or of Java"),
    (b"\0asm", "a program of WebAssembly"),
    (b"dex\n", "a program for Android"),
];

/// First bytes of archives.
const PACKED: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip"),
    (b"\x1f\x8b", "a gzip"),
    (b"BZh", "a bzip2"),
    (b"\xfd7zXZ\0", "an xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z"),
    (b"Rar!", "a rar"),
    (b"\x28\xb5\x2f\xfd", "a zstd"),
];

const DOCUMENTS: &[&str] = &["md", "markdown", "mdx", "txt", "rst", "adoc", "html", "htm", ""];
const SHELLS: &[&str] = &["sh", "bash", "zsh", "ksh", "command", "bats"];
const PYTHONS: &[&str] = &["py", "pyw", "pyi"];
const SCRIPTS: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
const POWERSHELLS: &[&str] = &["ps1", "psm1", "psd1"];
const OTHERS: &[&str] = &[
    "rb",
    "pl",
    "pm",
    "php",
    "lua",
    "tcl",
    "bat",
    "cmd",
    "vbs",
    "vbe",
    "wsf",
    "hta",
    "fish",
    "applescript",
    "scpt",
    "awk",
    "r",
    "jl",
    "groovy",
    "ahk",
    "nu",
    "reg",
    "lnk",
    "desktop",
];
/// Packages of programs whose names tell, and data of Python that runs code when it is loaded.
const BUILT: &[&str] = &[
    "pyc", "pyo", "pyd", "jar", "war", "class", "so", "dll", "dylib", "node", "exe", "msi", "pkg",
    "dmg", "whl", "apk", "scr", "com", "pkl", "pickle", "joblib", "pt", "pth",
];

/// Returns what a file is.
pub(crate) fn kind(path: &str, bytes: &[u8]) -> FileKind {
    let starts = |table: &[(&[u8], &'static str)]| {
        table.iter().find(|it| bytes.starts_with(it.0)).map(|it| it.1)
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
    let is_text = std::str::from_utf8(bytes).is_ok() && !bytes.contains(&0);
    if !is_text || BUILT.contains(&end.as_str()) {
        if let Some(what) = starts(MACHINE) {
            return FileKind::Machine(what);
        }
        if BUILT.contains(&end.as_str()) && !bytes.is_empty() {
            return FileKind::Machine("a built program or package");
        }
        return starts(PACKED).map_or(FileKind::Data, FileKind::Packed);
    }
    if let Some(line) = bytes.strip_prefix(b"#!") {
        let line = line.split(|it| *it == b'\n').next().unwrap_or_default();
        return by_shebang(&String::from_utf8_lossy(line));
    }
    let has = |list: &[&str]| list.contains(&end.as_str());
    match () {
        () if has(SHELLS) => FileKind::Shell,
        () if has(PYTHONS) => FileKind::Code(Language::Python),
        () if has(SCRIPTS) => FileKind::Code(Language::JavaScript),
        () if has(POWERSHELLS) => FileKind::Code(Language::PowerShell),
        () if has(OTHERS) => FileKind::OtherScript,
        () if end == "json" || end == "ipynb" => FileKind::Json,
        () if has(DOCUMENTS) => FileKind::Document,
        () => FileKind::Text,
    }
}

/// `#!/usr/bin/env -S python3 -u`.
fn by_shebang(line: &str) -> FileKind {
    let words = line.split_whitespace().filter(|it| !it.starts_with('-'));
    let mut names = words.map(|it| it.rsplit('/').next().unwrap_or(it)).filter(|it| *it != "env");
    named(names.next().unwrap_or_default())
}

/// What a program of this interpreter is; also of the words behind a fence of Markdown.
pub(crate) fn named(name: &str) -> FileKind {
    let name = name.to_ascii_lowercase();
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    match plain {
        "sh" | "bash" | "zsh" | "ksh" | "dash" | "ash" | "shell" | "console" | "terminal"
        | "shell-session" | "command" => FileKind::Shell,
        "python" | "py" | "pypy" | "uv" => FileKind::Code(Language::Python),
        "js" | "javascript" | "node" | "nodejs" | "bun" | "deno" | "ts" | "typescript" | "tsx"
        | "jsx" | "mjs" => FileKind::Code(Language::JavaScript),
        "powershell" | "pwsh" | "ps" => FileKind::Code(Language::PowerShell),
        "json" | "jsonc" => FileKind::Json,
        "" => FileKind::Text,
        _ => FileKind::OtherScript,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_count_for_more_than_names() {
        assert_eq!(kind("logo.png", b"\x7fELF\x02\0"), FileKind::Machine("a program for Linux"));
        assert_eq!(
            kind("a.txt", b"#!/usr/bin/env -S python3 -u\n"),
            FileKind::Code(Language::Python)
        );
        assert_eq!(kind("a", b"#!/bin/sh\n"), FileKind::Shell);
        assert_eq!(kind("a.png", b"\x89PNG\r\n\x1a\n\0"), FileKind::Data);
        assert_eq!(kind("a.png", b"PK\x03\x04\0\xff"), FileKind::Packed("a zip"));
        assert_eq!(kind("lib/a.pyc", b"abc"), FileKind::Machine("a built program or package"));
        assert_eq!(kind("MZ.md", b"MZ is a magic number"), FileKind::Document);
        assert_eq!(kind("a.PY", b"x"), FileKind::Code(Language::Python));
    }
}
