//! Programs of `awk` that run something: is it known what?

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::limits::EXPRESSIONS_MAX;

/// Texts and patterns.
static QUOTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""(?:\\.|[^"\\])*"|/(?:\\.|[^/\n])*/"#).ok());

/// Does the program run text that does not begin with a literal? `given` are the variables that options set, with
/// their values.
pub(super) fn runs_unknown(program: &str, given: &[(&str, &str)]) -> bool {
    let Some(quoted) = QUOTED.as_ref() else { return true };
    // Of a text only whether its first word is whole; nothing of a pattern.
    let bare =
        quoted.replace_all(program, |it: &Captures<'_>| match it.get(0).map(|it| it.as_str()) {
            Some(text) if text.starts_with('"') && text.contains(' ') => "\"w \"",
            Some(text) if text.starts_with('"') => "\"w\"",
            Some(_) | None => "",
        });
    let bare = bare.replace("||", "");
    let called = bare.split("system(").skip(1);
    let mut found: Vec<&str> = called.collect();
    for (at, _) in bare.match_indices('|') {
        let (before, behind) = bare.split_at_checked(at).unwrap_or_default();
        let behind = behind.trim_start_matches(['|', '&']).trim_start();
        if behind.starts_with("getline") {
            found.extend(before.rsplit([';', '{', '}', '(', '\n']).next());
        } else if bare.contains("print") {
            found.push(behind);
        }
    }
    found.len() > EXPRESSIONS_MAX || !found.iter().all(|it| is_known_start(it, &bare, given))
}

/// Does an expression begin with a text, or with a variable that stands for one?
fn is_known_start(expression: &str, program: &str, given: &[(&str, &str)]) -> bool {
    let text = expression.trim_start_matches(['(', ' ', '\t']);
    let end = text.find(|it| !is_of_name(it)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    if name.is_empty() {
        return rest.is_empty() || rest.starts_with(['"', ')', ';', '}', '\n', '#', '/']);
    }
    // Would more be put together with it?
    let alone = !rest.trim_start().starts_with(|it| is_of_name(it) || matches!(it, '"' | '$'));
    let set = program.match_indices(name).filter_map(|(at, _)| {
        let is_whole = !program.get(..at).is_some_and(|it| it.ends_with(is_of_name));
        let rest = program.get(at + name.len()..).unwrap_or_default().trim_start();
        let value = rest.strip_prefix('=').filter(|it| is_whole && !it.starts_with('='))?;
        Some(value.trim_start())
    });
    let is_known = |it: &str| {
        let all = it.strip_prefix("\"w\"").map(str::trim_start);
        it.starts_with("\"w ")
            || (alone && all.is_some_and(|it| it.starts_with([';', '}', ')', '\n'])))
    };
    let set: Vec<bool> = set.map(is_known).collect();
    let is_set = !set.is_empty() || given.iter().any(|it| it.0 == name);
    is_set && set.iter().all(|it| *it)
}

fn is_of_name(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

#[cfg(test)]
mod tests {
    use super::runs_unknown;

    #[test]
    fn what_awk_runs_is_known_by_its_first_word() {
        for program in [
            "{print $1}",
            r#"{system("mkdir -p " $1)}"#,
            r#"{print $1 | "sort -u"}"#,
            r#"{cmd = "date -d " $1; cmd | getline d; close(cmd)}"#,
            r#"BEGIN{"date"|getline d; print d}"#,
            r#"{"date -d " $1 | getline d; print d}"#,
            r#"{while (("grep (x;y) " f) | getline line) n++}"#,
            r#"{c="ls"; c|getline x}"#,
            "/a|b/ {print}",
            r#"$1 ~ /x|y/ || $2 == "|" {print "a|b"}"#,
            "{while ((getline line < file) > 0) print line}",
        ] {
            assert!(!runs_unknown(program, &[]), "{program}");
        }
        for program in [
            "{system($0)}",
            "{system( $1 \" x\" )}",
            r#"BEGIN{a="use";b="radd x";system(a b)}"#,
            r#"BEGIN{c="use"; c=c "radd"; c|getline}"#,
            "{$0 | getline x}",
            "{$1 $2 | getline x}",
            "{print $2 | $1}",
            "{system(c)}",
            r#"{c="ls"; c=$1; system(c)}"#,
        ] {
            assert!(runs_unknown(program, &[]), "{program}");
        }
        assert!(!runs_unknown("{system(c)}", &[("c", "ls")]));
        assert!(runs_unknown(&r#"{system("ls")}"#.repeat(100), &[]));
    }
}
