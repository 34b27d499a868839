//! `echo` and `printf`: what they print of what they are given.

use crate::limits::{FIELDS_MAX, VALUE_BYTES_MAX};
use crate::syntax::{Bytes, letter, octal};
use crate::tools::{Printed, Unprinted};
use crate::{Call, NETWORK, Output, State, arithmetic, marks};

pub(super) fn echo(call: &Call<'_>) -> Output {
    let mut escapes = false;
    let mut line_end = true;
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        let flags = first.strip_prefix('-').unwrap_or_default();
        if flags.is_empty() || !flags.chars().all(|it| "neE".contains(it)) {
            break;
        }
        escapes |= flags.contains('e');
        line_end &= !flags.contains('n');
        args = rest;
    }
    let is_network = args.iter().any(|it| it.contains(NETWORK));
    let joined = args.iter().map(|it| marks::plain(it)).collect::<Vec<_>>().join(" ");
    let mut output = if escapes { escaped(&joined) } else { joined };
    if line_end {
        output.push('\n');
    }
    if is_network {
        output.insert(0, NETWORK);
    }
    output.into_bytes()
}

/// Escapes as `echo -e` and `printf` know them.
fn escaped(text: &str) -> String {
    let mut output = Bytes::default();
    let mut rest = text.chars();
    while let Some(found) = rest.next() {
        if found != '\\' {
            output.push(found);
            continue;
        }
        let before = rest.clone();
        match rest.next() {
            Some('c') => break,
            Some('0') => octal(&mut rest, 3, &mut output),
            Some('1'..='7') => {
                rest = before;
                octal(&mut rest, 3, &mut output);
            }
            Some(kind) => letter(kind, &mut rest, &mut output),
            None => output.push('\\'),
        }
    }
    output.text()
}

/// `printf`; not known where the result goes into a variable or the format is not understood.
pub(super) fn printf(args: &[String]) -> Printed {
    let plain: Vec<String> = args.iter().map(|it| marks::plain(it)).collect();
    let is_end = plain.first().is_some_and(|it| it == "--");
    let plain = plain.get(usize::from(is_end)..).unwrap_or_default();
    let Some((format, mut values)) = plain.split_first().filter(|it| it.0 != "-v") else {
        return Err(Unprinted::Unknown);
    };
    let mut output = String::new();
    if args.iter().any(|it| it.contains(NETWORK)) {
        output.push(NETWORK);
    }
    loop {
        let before = values.len();
        formatted(format, &mut values, &mut output).ok_or(Unprinted::Unknown)?;
        if output.len() > VALUE_BYTES_MAX {
            return Err(Unprinted::TooLong);
        }
        if values.is_empty() || values.len() == before {
            return Ok(output.into_bytes());
        }
    }
}

/// Adds the format with its values, up to where it is more than one value may be.
fn formatted(format: &str, values: &mut &[String], output: &mut String) -> Option<()> {
    let mut rest = format.chars();
    let mut plain = String::new();
    let mut next = || -> String {
        let (first, after) =
            values.split_first().map_or((String::new(), &[][..]), |(a, b)| (a.clone(), b));
        *values = after;
        first
    };
    while let Some(found) = rest.next() {
        if found != '%' {
            plain.push(found);
            if found == '\\' {
                plain.extend(rest.next());
            }
            continue;
        }
        output.push_str(&escaped(&std::mem::take(&mut plain)));
        let spec: String = rest
            .as_str()
            .chars()
            .take_while(|it| it.is_ascii_digit() || "-+ #.'*".contains(*it))
            .collect();
        rest.by_ref().take(spec.len()).for_each(drop);
        let spec = if spec.contains('*') { spec.replacen('*', &next(), 1) } else { spec };
        let (width, precision) = spec
            .split_once('.')
            .map_or((spec.as_str(), None), |(a, b)| (a, Some(b.parse::<usize>().unwrap_or(0))));
        let cut = |text: String| match precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        };
        let made = match rest.next()? {
            '%' => "%".to_owned(),
            's' => cut(next()),
            'b' => escaped(&cut(next())),
            'q' => marks::quoted(&next()),
            'c' => next().chars().take(1).collect(),
            'd' | 'i' | 'u' => integer(&next())?.to_string(),
            'x' => format!("{:x}", integer(&next())?),
            'X' => format!("{:X}", integer(&next())?),
            'o' => format!("{:o}", integer(&next())?),
            _ => return None,
        };
        output.push_str(&padded(&made, width)?);
        if output.len() > VALUE_BYTES_MAX {
            return Some(());
        }
    }
    output.push_str(&escaped(&plain));
    Some(())
}

/// With blanks or zeros up to the width: `%5s`, `%-5s`, `%03o`.
fn padded(text: &str, spec: &str) -> Option<String> {
    let flags: String = spec.chars().take_while(|it| "-+ #0'".contains(*it)).collect();
    let digits = spec.get(flags.len()..)?;
    let width = if digits.is_empty() { 0 } else { digits.parse::<usize>().ok()? };
    if width > FIELDS_MAX || flags.contains(['+', '#', ' ', '\'']) {
        return None;
    }
    Some(if flags.contains('-') {
        format!("{text:<width$}")
    } else if flags.contains('0') && !text.starts_with('-') {
        format!("{text:0>width$}")
    } else {
        format!("{text:>width$}")
    })
}

/// `65`, `0x41`, `0101`, `'A`.
fn integer(text: &str) -> Option<i64> {
    if let Some(letter) = text.strip_prefix(['\'', '"']) {
        return letter.chars().next().map(|it| i64::from(u32::from(it)));
    }
    if text.is_empty() {
        return Some(0);
    }
    arithmetic::evaluate(text, &mut State::default())
}
