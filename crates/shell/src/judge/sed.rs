//! Programs of `sed`: the files that they write (`w FILE`, `s/a/b/w FILE`), and what they run (`1e COMMAND`, `s/a/b/e`).

/// What a program does besides printing lines, as it stands there. A line that is run is an empty text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Program<'a> {
    pub(super) writes: Vec<&'a str>,
    pub(super) runs: Vec<&'a str>,
}

pub(super) fn read(program: &str) -> Program<'_> {
    let mut found = Program::default();
    let mut rest = program;
    while let Some(letter) = rest.chars().next() {
        rest = behind(rest, letter);
        match letter {
            // An address, or the marks around one.
            '/' => rest = until(rest, '/'),
            '\\' => {
                let sign = rest.chars().next().unwrap_or('\n');
                rest = until(behind(rest, sign), sign);
            }
            's' | 'y' => {
                let sign = rest.chars().next().unwrap_or('\n');
                rest = until(until(behind(rest, sign), sign), sign);
                let flags = |it: char| it.is_ascii_digit() || "gpiImMe".contains(it);
                let given = rest.len() - rest.trim_start_matches(flags).len();
                let (given, after) = rest.split_at_checked(given).unwrap_or_default();
                found.runs.extend((letter == 's' && given.contains('e')).then_some(""));
                rest = after;
            }
            'w' | 'W' => {
                let (name, after) = rest.split_once('\n').unwrap_or((rest, ""));
                found.writes.push(name.trim());
                rest = after;
            }
            // A text, a file or a name up to the end of the line, or of the lines.
            'e' => {
                found.runs.extend(rest.split('\n').next().map(str::trim_start));
                rest = until(rest, '\n');
            }
            'a' | 'c' | 'i' | 'r' | 'R' | '#' => rest = until(rest, '\n'),
            'b' | 't' | 'T' | ':' => {
                rest = rest.split_once(['\n', ';']).map_or("", |it| it.1);
            }
            _ => {}
        }
    }
    found.writes.retain(|it| !it.is_empty());
    found
}

fn behind(text: &str, letter: char) -> &str {
    text.get(letter.len_utf8()..).unwrap_or_default()
}

/// What stands behind a sign before which there is no other that takes its meaning away.
fn until(text: &str, sign: char) -> &str {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == sign {
            return text.get(at + sign.len_utf8()..).unwrap_or_default();
        }
        if letter == '\\' {
            letters.next();
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_program_are_found_and_nothing_else() {
        for (program, wanted) in [
            ("w out", vec!["out"]),
            ("w.x/y", vec![".x/y"]),
            ("/a\\/w b/w c", vec!["c"]),
            ("1,$!{p;w c\n};s/a/b/gw d e", vec!["c", "d e"]),
            ("s|w a|w b|", vec![]),
            ("y/w/x/;p", vec![]),
            ("a\\\nw x\nw y", vec!["y"]),
            ("s/a/new b/g", vec![]),
            (":w\nbw;p", vec![]),
        ] {
            assert_eq!(read(program).writes, wanted, "{program}");
        }
    }

    #[test]
    fn what_a_program_runs_is_found_and_nothing_else() {
        for (program, wanted) in [
            ("1e id", vec!["id"]),
            ("s/a/b/ge", vec![""]),
            ("/x/e", vec![""]),
            ("1,9p", vec![]),
            ("s/e/f/;p", vec![]),
        ] {
            assert_eq!(read(program).runs, wanted, "{program}");
        }
    }
}
