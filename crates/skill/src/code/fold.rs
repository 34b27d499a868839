//! What functions return that only turn texts into texts.

use data_encoding::{
    BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER_PERMISSIVE,
};

use super::evaluate::Value;

/// Stands for what is not known of a text.
pub(super) const HOLE: &str = "*";
/// The longest text that is kept, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Functions that give the module that they are told.
const IMPORTING: &[&str] =
    &["require", "__import__", "importlib.import_module", "import", "import_module"];
/// Functions of base64.
const BASE64S: &[&str] = &[
    "base64.b64decode",
    "base64.urlsafe_b64decode",
    "base64.standard_b64decode",
    "base64.decodebytes",
    "atob",
    "window.atob",
    "globalThis.atob",
    "[system.convert]::frombase64string",
    "[convert]::frombase64string",
];
/// Functions of hexadecimal digits.
const HEXES: &[&str] =
    &["bytes.fromhex", "bytearray.fromhex", "binascii.unhexlify", "binascii.a2b_hex"];
/// Functions that give back what they are given.
const SAME: &[&str] = &[
    "str",
    "String",
    "bytes",
    "bytearray",
    "Path",
    "pathlib.Path",
    "pathlib.PurePath",
    "os.path.expanduser",
    "os.path.expandvars",
    "os.path.abspath",
    "os.path.realpath",
    "os.path.normpath",
    "path.resolve",
    "path.normalize",
    "util.promisify",
    "glob.glob",
    "glob.iglob",
    "glob.sync",
    "URL",
    "fs.realpathSync",
    "untildify",
];
/// Methods of texts that change nothing that matters.
const SAME_METHODS: &[&str] = &[
    "decode",
    "encode",
    "toString",
    "strip",
    "trim",
    "expanduser",
    "resolve",
    "absolute",
    "as_posix",
    "format",
    "rstrip",
    "lstrip",
    "glob",
    "rglob",
    "iterdir",
];
/// Functions that put paths together.
const PATHS: &[&str] = &["os.path.join", "path.join", "path.posix.join", "join", "url.resolve"];
/// Functions that give the home directory.
const HOMES: &[&str] =
    &["Path.home", "pathlib.Path.home", "os.homedir", "homedir", "os.userInfo().homedir"];
/// Names of it.
const HOME_NAMES: &[&str] = &[
    "process.env.HOME",
    "process.env.USERPROFILE",
    "os.environ.HOME",
    "$HOME",
    "$env:USERPROFILE",
];
/// Functions that give a variable of the environment.
const VARIABLES: &[&str] = &["os.getenv", "os.environ.get", "getenv"];

/// What a call returns.
pub(super) fn returned(name: &str, args: &[Value]) -> Value {
    let first = args.first();
    let text = first.and_then(Value::as_text);
    let method = name.strip_prefix("text.");
    match (name, first) {
        _ if IMPORTING.contains(&name) && text.is_some() => {
            Value::Name(module(text.unwrap_or_default()).into())
        }
        _ if BASE64S.contains(&name) => decoded(text, base64),
        _ if HEXES.contains(&name) => decoded(text, hex),
        ("Buffer.from" | "codecs.decode", _) => match args.get(1).and_then(Value::as_text) {
            Some("base64" | "base64url") => decoded(text, base64),
            Some("hex") => decoded(text, hex),
            Some("rot13" | "rot_13") => decoded(text, |it| Some(rot13(it))),
            _ => first.cloned().unwrap_or(Value::Unknown),
        },
        _ if HOMES.contains(&name) => Value::text("~"),
        _ if VARIABLES.contains(&name) && matches!(text, Some("HOME" | "USERPROFILE")) => {
            Value::text("~")
        }
        _ if SAME.contains(&name) || method.is_some_and(|it| SAME_METHODS.contains(&it)) => {
            first.cloned().unwrap_or(Value::Unknown)
        }
        _ if PATHS.contains(&name) => concatenated(args, "/"),
        ("text.joinpath" | "text.concat", _) => {
            concatenated(args, if name == "text.concat" { "" } else { "/" })
        }
        ("text.join", Some(joined)) => join(joined, args.get(1)),
        ("text.replace" | "text.replaceAll", Some(_)) => {
            match (text, args.get(1).and_then(Value::as_text), args.get(2).and_then(Value::as_text))
            {
                (Some(text), Some(from), Some(to)) if !from.is_empty() => {
                    same_coding(first, &cut(text.replace(from, to)))
                }
                _ => first.cloned().unwrap_or(Value::Unknown),
            }
        }
        ("chr" | "String.fromCharCode" | "String.fromCodePoint", _) => letters(args),
        ("getattr", Some(object)) => args
            .get(1)
            .and_then(Value::as_text)
            .map_or(Value::Unknown, |it| member(Some(object), it)),
        _ if name.is_empty() => Value::Unknown,
        _ if name.len() > TEXT_BYTES_MAX => Value::Unknown,
        _ => Value::Name(format!("{name}()").into()),
    }
}

/// What has this name in an object.
pub(super) fn member(object: Option<&Value>, name: &str) -> Value {
    match object {
        Some(Value::Name(object)) if object.len() < TEXT_BYTES_MAX => {
            let full = format!("{object}.{name}");
            if HOME_NAMES.contains(&full.as_str()) {
                Value::text("~")
            } else {
                Value::Name(full.into())
            }
        }
        // `path.parent` and the like lie in the same place.
        Some(text @ Value::Text { .. }) => text.clone(),
        Some(Value::Name(_) | Value::Number(_) | Value::List(_) | Value::Unknown) | None => {
            Value::Name(format!("?.{name}").into())
        }
    }
}

/// Texts in a row, with `*` for what is not known. Nothing where nothing is known.
pub(super) fn concatenated(parts: &[Value], joint: &str) -> Value {
    if parts.iter().all(|it| it.as_text().is_none()) {
        return Value::Unknown;
    }
    let decoded = parts.iter().any(Value::is_decoded);
    let texts: Vec<&str> = parts.iter().map(|it| it.as_text().unwrap_or(HOLE)).collect();
    let mut text = String::new();
    for (at, part) in texts.iter().enumerate() {
        if at > 0 && !joint.is_empty() && !text.ends_with(joint) {
            text.push_str(joint);
        }
        text.push_str(part);
        if text.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    Value::Text { text: cut(text).into(), decoded }
}

/// What `join` makes of a list, which is called on the joint in Python and on the list in JavaScript.
fn join(one: &Value, other: Option<&Value>) -> Value {
    match (one, other) {
        (Value::List(items), joint) => {
            concatenated(items, joint.and_then(Value::as_text).unwrap_or(","))
        }
        (Value::Text { text, .. }, Some(Value::List(items))) => concatenated(items, text),
        _ => Value::Unknown,
    }
}

fn letters(args: &[Value]) -> Value {
    let letter = |it: &Value| match it {
        Value::Number(code) => u32::try_from(*code).ok().and_then(char::from_u32),
        Value::Text { .. } | Value::Name(_) | Value::List(_) | Value::Unknown => None,
    };
    let text: Option<String> = args.iter().map(letter).collect();
    text.map_or(Value::Unknown, |it| Value::Text { text: it.into(), decoded: true })
}

fn decoded(text: Option<&str>, by: impl Fn(&str) -> Option<String>) -> Value {
    let text = text.and_then(by);
    text.map_or(Value::Unknown, |it| Value::Text { text: cut(it).into(), decoded: true })
}

fn same_coding(first: Option<&Value>, text: &str) -> Value {
    Value::Text { text: text.into(), decoded: first.is_some_and(Value::is_decoded) }
}

/// Decodes base64 of either alphabet, with or without its end.
pub(crate) fn base64(text: &str) -> Option<String> {
    let plain: Vec<u8> = text.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
    let all: [&Encoding; 4] = [&BASE64, &BASE64_NOPAD, &BASE64URL, &BASE64URL_NOPAD];
    let bytes = all.iter().find_map(|it| it.decode(&plain).ok())?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Decodes hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<String> {
    let plain: Vec<u8> = text.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
    let bytes = HEXLOWER_PERMISSIVE.decode(&plain).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn rot13(text: &str) -> String {
    let turn = |it: char| {
        let from = |first: u8| {
            let place = (u32::from(it) - u32::from(first) + 13) % 26 + u32::from(first);
            char::from_u32(place).unwrap_or(it)
        };
        match it {
            'a'..='z' => from(b'a'),
            'A'..='Z' => from(b'A'),
            _ => it,
        }
    };
    text.chars().map(turn).collect()
}

/// The name of a module as it is written: without quotes and `node:`.
pub(super) fn module(text: &str) -> String {
    let plain = text.trim_matches(['"', '\'', '`']);
    let plain = plain.strip_prefix("node:").unwrap_or(plain);
    plain.strip_suffix("/promises").unwrap_or(plain).to_owned()
}

/// Variables of PowerShell that stand for the home.
pub(super) fn expanded(text: &str) -> String {
    let homes = ["$env:USERPROFILE", "$env:HOME", "$HOME", "${HOME}", "$env:APPDATA"];
    cut(homes.iter().fold(text.to_owned(), |text, it| text.replace(it, "~")))
}

fn cut(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    }
    text
}
