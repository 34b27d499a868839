//! Values are found however they are written, and nothing else is.

use data_encoding::{BASE32, BASE64, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use zeroize::Zeroizing;

use super::*;
use crate::name::Name;
use crate::secret::Secret;

const VALUE: &str = "s3cr3t/+value=with \"quotes\" & \u{fc}mlaut";

fn of(values: &[(&str, &str)]) -> Scrub {
    let mut contents = Contents::default();
    for (name, value) in values {
        let secret = Secret::new(Zeroizing::new((*value).to_owned())).unwrap();
        contents.set(&Name::parse(name).unwrap(), secret, None, 0).unwrap();
    }
    let scrub = Scrub::default();
    scrub.learn(&contents, &[]);
    scrub
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn wide(it: char) -> char {
    let at = u32::from(it).checked_sub(0x21).filter(|_| it.is_ascii_graphic());
    at.and_then(|at| char::from_u32(0xff01 + at)).unwrap_or(it)
}

/// As pages write it, and mail in JSON.
fn as_entities(value: &str) -> Vec<(&'static str, String)> {
    vec![
        ("entities", value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")),
        ("entities by number", value.chars().map(|it| format!("&#{};", u32::from(it))).collect()),
        ("entities in hex", value.chars().map(|it| format!("&#x{:X};", u32::from(it))).collect()),
        (
            "entities with zeros",
            value.chars().map(|it| format!("&#{:09};", u32::from(it))).collect(),
        ),
        (
            "entities without end",
            value.chars().map(|it| format!("&#x{:X}", u32::from(it))).collect(),
        ),
        (
            "folded mail in json",
            json(&value.chars().map(|it| format!("{it}=\r\n")).collect::<String>()),
        ),
    ]
}

/// Every way of writing it that we know of.
fn written(value: &str) -> Vec<(String, String)> {
    let bytes = value.as_bytes();
    let percent = |every: bool, upper: bool| -> String {
        let one = |it: &u8| match it {
            it if !every && (it.is_ascii_alphanumeric() || b"-_.~".contains(it)) => {
                char::from(*it).to_string()
            }
            it if upper => format!("%{it:02X}"),
            it => format!("%{it:02x}"),
        };
        bytes.iter().map(one).collect()
    };
    let between = |with: &str| -> String {
        bytes.iter().map(|it| format!("{it:02x}")).collect::<Vec<_>>().join(with)
    };
    let units = |form: fn(u16) -> String| value.encode_utf16().map(form).collect::<String>();
    let mut all = vec![
        ("plain", value.to_owned()),
        ("reversed", value.chars().rev().collect()),
        ("capitals", value.to_ascii_uppercase()),
        ("json", json(value)),
        ("json in json", json(&json(value))),
        ("json in json in json", json(&json(&json(value)))),
        ("octal", bytes.iter().map(|it| format!("\\{it:03o}")).collect()),
        ("UTF-16", value.chars().map(|it| format!("\0{it}")).collect()),
        ("full width", value.chars().map(wide).collect()),
        ("folded mail", value.chars().map(|it| format!("{it}=\r\n")).collect()),
        ("json by unit", units(|it| format!("\\u{it:04x}"))),
        ("javascript", value.chars().map(|it| format!("\\u{{{:x}}}", u32::from(it))).collect()),
        ("bytes of a program", bytes.iter().map(|it| format!("\\x{it:02x}")).collect()),
        ("hex", HEXLOWER.encode(bytes)),
        ("HEX", HEXUPPER.encode(bytes)),
        ("hex with colons", between(":")),
        ("hex with blanks", between(" ")),
        ("hex of C", between(", 0x")),
        ("base64", BASE64.encode(bytes)),
        ("base64url", BASE64URL.encode(bytes)),
        ("base64url without padding", BASE64URL_NOPAD.encode(bytes)),
        ("percent", percent(false, true)),
        ("percent in small letters", percent(false, false)),
        ("percent throughout", percent(true, true)),
        ("percent twice", percent(true, true).replace('%', "%25")),
        ("form", percent(false, true).replace("%20", "+")),
        ("letters apart", value.chars().map(|it| format!("{it} ")).collect()),
        ("joiners between", value.chars().map(|it| format!("{it}\u{200b}")).collect()),
        ("tags between", value.chars().map(|it| format!("{it}\u{e0041}")).collect()),
        ("lines", value.chars().map(|it| format!("{it}\n")).collect()),
    ];
    all.extend(as_entities(value));
    let lines = BASE64.encode(bytes);
    let lines: Vec<_> = lines.as_bytes().chunks(8).map(|it| str::from_utf8(it).unwrap()).collect();
    all.push(("base64 in lines", lines.join("\r\n")));
    for before in ["", "a", "ab", "user:"] {
        for after in ["", "z", "zz"] {
            let inside = format!("{before}{value}{after}");
            all.push(("base64 inside", BASE64.encode(inside.as_bytes())));
            all.push(("base64url inside", BASE64URL_NOPAD.encode(inside.as_bytes())));
            all.push(("base32 inside", BASE32.encode(inside.as_bytes())));
            for outer in ["", "{", "{\""] {
                let once = format!("{outer}{}", BASE64.encode(inside.as_bytes()));
                all.push(("base64 twice", BASE64.encode(once.as_bytes())));
            }
        }
    }
    all.into_iter().map(|(how, text)| (how.to_owned(), text)).collect()
}

#[test]
fn every_common_way_of_writing_it_is_found_and_nothing_is_left() {
    for value in [
        VALUE,
        "ghp_R4nd0mT0kenV4lueZq81LkWm27VbTx09sPqH",
        "7d3kqp0zx2",
        "a1b2c3d4e5f6a7b8",
        "kq7%41z&\"x0\\u0041wv9p",
    ] {
        let scrub = of(&[("KEY", value)]);
        for (how, text) in written(value) {
            let around = format!("before <{text}> behind");
            let clean = scrub.scrub(&around).unwrap_or_else(|| panic!("{how}: {around}"));
            assert!(clean.contains("[secret:KEY]"), "{how}: {clean}");
            // What stands around it stays.
            assert!(clean.starts_with("before <") && clean.ends_with("> behind"), "{how}: {clean}");
            let rest = clean.replace("before <", "").replace("> behind", "");
            let rest = rest.replace("[secret:KEY]", "");
            // The borders of base64 belong to what stands beside it.
            assert!(rest.len() <= 20, "{how}: `{rest}` is left of {around}");
            assert_eq!(scrub.held(&around).len(), 1, "{how}");
            assert_eq!(scrub.scrub(&clean), None, "{how}");
        }
    }
}

#[test]
fn all_versions_and_all_secrets_are_found() {
    let mut contents = Contents::default();
    let name = Name::parse("KEY").unwrap();
    for value in ["the first value 9c2f7b", "the second value 4e81d0"] {
        let secret = Secret::new(Zeroizing::new(value.to_owned())).unwrap();
        contents.set(&name, secret, None, 0).unwrap();
    }
    let scrub = Scrub::default();
    scrub.learn(&contents, &[]);
    let clean =
        scrub.scrub("the first value 9c2f7b, the second value 4e81d0, the third value").unwrap();
    assert_eq!(clean, "[secret:KEY], [secret:KEY], the third value");

    // One in the other, and one over the other.
    let scrub = of(&[("A", "kqpz7d3x0wvm"), ("B", "xx-kqpz7d3x0wvm-yy"), ("C", "yy-4e81d07bb93f")]);
    assert_eq!(scrub.scrub("<xx-kqpz7d3x0wvm-yy-4e81d07bb93f>").unwrap(), "<[secret:B]>");
    assert_eq!(scrub.held("xx-kqpz7d3x0wvm-yy").len(), 2);
}

#[test]
fn a_key_of_many_lines_is_found_by_the_line() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    let value = format!(
        "-----BEGIN PRIVATE KEY-----\n{line}\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1\n-----END PRIVATE KEY-----\n"
    );
    let scrub = of(&[("PEM", &value)]);
    assert_eq!(scrub.scrub(&format!("1: {line}")).unwrap(), "1: [secret:PEM]");
    let json = serde_json::json!({ "key": value }).to_string();
    assert!(scrub.scrub(&json).unwrap().contains("[secret:PEM]"));
    assert_eq!(scrub.scrub("-----BEGIN PRIVATE KEY-----"), None);
}

#[test]
fn without_secrets_nothing_is_looked_for_and_ordinary_text_stays() {
    assert_eq!(Scrub::default().scrub(VALUE), None);
    let scrub = of(&[("KEY", "correct horse battery staple")]);
    for text in [
        "",
        "correct",
        "%",
        "%zz\\",
        "&;&#;&#x;",
        "\\u12",
        "\\ud83d",
        "correct horse battery",
        "%E2%80",
    ] {
        assert_eq!(scrub.scrub(text), None, "{text}");
    }
    assert_eq!(scrub.scrub("correcthorsebatterystaple").unwrap(), "[secret:KEY]");
}

#[test]
fn a_part_of_a_text_has_nothing_of_a_secret_that_reaches_into_it() {
    let scrub = of(&[("KEY", "8302916574930281")]);
    let text = "ab 8302916574930281 \u{fc} 8302916574930281 yz";
    for start in 0..=text.len() {
        for end in start..=text.len() {
            if !text.is_char_boundary(start) || !text.is_char_boundary(end) {
                continue;
            }
            let part = text.get(start..end).unwrap();
            let clean = scrub.scrub_part(text, start..end).unwrap_or_else(|| part.to_owned());
            let digits = |it: &str| it.chars().filter(char::is_ascii_digit).count();
            assert_eq!(digits(&clean), 0, "{part}: {clean}");
            let rest: String = part.chars().filter(|it| "yz \u{fc}".contains(*it)).collect();
            let left: String = clean.replace("[secret:KEY]", "");
            let left: String = left.chars().filter(|it| "yz \u{fc}".contains(*it)).collect();
            assert_eq!(left, rest, "{part}: {clean}");
        }
    }
    assert_eq!(scrub.scrub_part(text, 0..3), None);
}

#[test]
fn pieces_by_themselves_are_left_so_that_nobody_learns_a_secret_by_trying() {
    let scrub = of(&[("KEY", "7d3kqp0zx2vmw9rh")]);
    for text in ["7d3kqp0zx2vmw9r", "d3kqp0zx2vmw9rh", "7d3kqp0zx2vmw9rH0", "7d3kqp0zx2vmw9rx"] {
        let expected = text.to_lowercase().contains("7d3kqp0zx2vmw9rh");
        assert_eq!(scrub.scrub(text).is_some(), expected, "{text}");
    }
}

/// A text of all numbers would show which one is missing.
#[test]
fn what_can_be_guessed_is_not_looked_for_in_any_way_of_writing_it() {
    for value in ["83920174", "hunter2hunter2", "Summer2026!", "password"] {
        let scrub = of(&[("PIN", value), ("KEY", "7d3kqp0zx2vm")]);
        for (how, text) in written(value) {
            assert_eq!(scrub.scrub(&text), None, "{how}: {text}");
            assert!(scrub.held(&text).is_empty(), "{how}");
        }
        // What stands beside it is looked for all the same.
        let clean = scrub.scrub(&format!("{value} 7d3kqp0zx2vm")).unwrap();
        assert_eq!(clean, format!("{value} [secret:KEY]"));
    }
    // A line that can be guessed but for what everybody knows of it is no different.
    let value = "{\n  \"access_code\": \"83920174\",\n  \"private_key\": \"7d3kqp0zx2vmw9rh\"\n}";
    let scrub = of(&[("JSON", value)]);
    assert_eq!(scrub.scrub("\"access_code\": \"83920174\","), None);
    assert!(scrub.scrub("\"private_key\": \"7d3kqp0zx2vmw9rh\"").is_some());
}

#[test]
fn what_is_almost_a_secret_is_counted_and_other_tokens_are_not() {
    let value = "ghp_R4nd0mT0kenV4lueZq81LkWm27VbTx09sPqH";
    let scrub = of(&[("KEY", value), ("PIN", "83920174")]);
    let near = |text: &str| scrub.look(text).near_misses().count();
    let (head, tail) = (value.get(..36).unwrap(), value.get(4..).unwrap());
    // The end is tried, the beginning is, and the middle.
    assert_eq!(near(&format!("{head}aaaa {head}aaab {head}aaaa")), 2);
    assert_eq!(near(&format!("xxxx{tail} xxxy{tail}")), 2);
    assert_eq!(near("ghp_R4nd0mT0kenVAAAAZq81LkWm27VbTx09sPqH"), 1);
    assert_eq!(near(value), 0, "this is no miss");
    assert_eq!(near("ghp_9fK2mQ7xWv4TzB1nHc8R9fK2mQ7xWv4TzB1n"), 0);
    assert_eq!(near("ghp_R4nd0mT0kenAAAAAAAAAAAAAAAAAAAAAAAAA"), 0, "little of it is the same");
    // Wherever they stand that are tried, and however it is written.
    assert_eq!(near("ghp_R4nd-mT0ke-V4lu-Zq81-kWm2-VbTx-9sP-H"), 1);
    let tried = format!("{head}aaaa");
    let bytes = tried.as_bytes();
    let ways = [
        tried.chars().rev().collect(),
        tried.to_uppercase(),
        HEXLOWER.encode(bytes),
        HEXUPPER.encode(format!("x{tried}").as_bytes()),
        bytes.iter().map(|it| format!("{it:02x}:")).collect(),
        BASE64.encode(bytes),
        BASE64URL.encode(format!("a:{tried}").as_bytes()),
        BASE64.encode(BASE64.encode(bytes).as_bytes()),
        BASE32.encode(bytes),
    ];
    for way in &ways {
        assert_eq!(near(way), 1, "{way}");
    }
    assert_eq!(near(&ways.join(" ")), 1, "all of them are one");
    assert!(near(&json(&tried.replace('a', "\\u0061"))) > 0);
    // Where values can be guessed, so many as have their form.
    let shaped = |text: &str| scrub.look(text).shaped().count();
    assert_eq!(shaped("10000000 10000001, 10000001; 1000000 100000000 abcdefgh a0000000"), 2);
}

/// Of 20 letters 16 are known.
#[test]
fn no_place_of_what_is_tried_is_without_a_near_miss() {
    let value = "k7Qz9vT2mX4pR8wLb3Nf";
    let scrub = of(&[("KEY", value)]);
    for tried in 0..1_u32 << value.len() {
        if tried.count_ones() != 4 {
            continue;
        }
        let one = |(at, it): (usize, char)| if tried >> at & 1 == 1 { '-' } else { it };
        let text: String = value.chars().enumerate().map(one).collect();
        assert_eq!(scrub.look(&text).near_misses().count(), 1, "{text}");
    }
}

#[test]
fn what_was_removed_and_what_opens_the_vault_is_found_as_well() {
    let secret = |it: &str| Secret::new(Zeroizing::new(it.to_owned())).unwrap();
    let name = Name::parse("KEY").unwrap();
    let scrub = Scrub::default();
    let mut contents = Contents::default();
    contents
        .set(&name, secret("the first value 9c2f7b"), Some(vec!["a.example".into()]), 0)
        .unwrap();
    let keys = [Arc::new(secret("AGE-SECRET-KEY-1QQ"))];
    scrub.learn(&contents, &keys);
    let host = scan::net::Target::parse("https://a.example/").unwrap();
    assert!(scrub.held("the first value 9c2f7b")[0].hosts.permits(&host).is_ok());
    contents.remove(&name).unwrap();
    for _ in 0..3 {
        scrub.learn(&contents, &keys);
        assert_eq!(scrub.scrub("the first value 9c2f7b").unwrap(), "[secret:KEY]");
    }
    assert!(scrub.held("the first value 9c2f7b")[0].hosts.permits(&host).is_err());
    let clean = scrub.scrub("# mine\nAGE-SECRET-KEY-1QQ\n").unwrap();
    assert_eq!(clean, "# mine\n[secret:key of the vault]\n");
    assert_eq!(scrub.known().values.len(), 2);
}
