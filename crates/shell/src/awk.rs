//! Programs of `awk` that run something: is it known what?

/// Does the program run text that does not begin with a literal? `given` are the variables that options set, with
/// their values.
pub(super) fn runs_unknown(program: &str, given: &[(&str, &str)]) -> bool {
    let code = Code { program, given };
    let called = program.match_indices("system(").map(|it| it.0 + it.1.len());
    let printed = if program.contains("print") { pipes(program) } else { Vec::new() };
    let told: Vec<&str> = called.chain(printed).filter_map(|at| program.get(at..)).collect();
    let asked = program.match_indices("getline").filter_map(|it| {
        let before = program.get(..it.0)?.trim_end().trim_end_matches('&');
        let before = before.strip_suffix('|')?;
        Some(before)
    });
    let asked: Vec<&str> = asked.collect();
    if told.len() + asked.len() > EXPRESSIONS_MAX {
        return true;
    }
    let asked = asked.iter().filter_map(|it| it.get(last_start(it)..));
    told.into_iter().chain(asked).any(|it| !code.is_known_start(it))
}

/// Programs that run more than this are not looked at one by one.
const EXPRESSIONS_MAX: usize = 64;

struct Code<'a> {
    program: &'a str,
    given: &'a [(&'a str, &'a str)],
}

impl Code<'_> {
    /// Does an expression begin with a text, or with a variable that stands for one?
    fn is_known_start(&self, expression: &str) -> bool {
        let text = expression.trim_start_matches(['(', ' ', '\t']);
        if text.starts_with('"') {
            return true;
        }
        let end = text.find(|it: char| !is_of_name(it)).unwrap_or(text.len());
        let (name, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        match name {
            "" => rest.starts_with([')', ';', '}', '\n', '#', '/']) || rest.is_empty(),
            "getline" => true,
            _ => self.is_known(name, !rest.trim_start().starts_with(is_of_word)),
        }
    }

    /// Is the variable set, and always to a text of which the first word is whole, `alone` or with more behind it?
    fn is_known(&self, name: &str, alone: bool) -> bool {
        let mut found = self.given.iter().any(|it| it.0 == name);
        for (at, _) in self.program.match_indices(name) {
            let is_whole = !self.program.get(..at).is_some_and(|it| it.ends_with(is_of_name));
            let rest = self.program.get(at + name.len()..).unwrap_or_default().trim_start();
            let Some(value) = rest.strip_prefix('=').filter(|it| is_whole && !it.starts_with('='))
            else {
                continue;
            };
            let Some(text) = value.trim_start().strip_prefix('"') else { return false };
            let (word, after) = text.split_once(['"', ' ']).unwrap_or((text, ""));
            let is_all = alone
                && text.get(word.len()..).is_some_and(|it| it.starts_with('"'))
                && after.trim_start().starts_with([';', '}', ')', '\n']);
            if !is_all && !text.get(word.len()..).is_some_and(|it| it.starts_with(' ')) {
                return false;
            }
            found = true;
        }
        found
    }
}

/// Where what stands behind a pipe begins, outside of texts and patterns.
fn pipes(program: &str) -> Vec<usize> {
    let bytes = program.as_bytes();
    let is = |at: Option<usize>, sign: u8| at.and_then(|it| bytes.get(it)) == Some(&sign);
    let mut found = Vec::new();
    let (mut text, mut pattern, mut escaped) = (false, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => (text, pattern) = (false, false),
            b'"' if !pattern => text = !text,
            b'/' if !text => pattern = !pattern,
            b'|' if !text && !pattern => {
                let doubled = is(at.checked_sub(1), b'|') || is(Some(at + 1), b'|');
                let behind = at + 1 + usize::from(is(Some(at + 1), b'&'));
                found.extend((!doubled).then_some(behind));
            }
            _ => {}
        }
    }
    found
}

/// Where the last expression begins.
fn last_start(code: &str) -> usize {
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, letter) in code.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ';' | '{' | '}' | '(' | '\n' if !quoted => start = at + 1,
            _ => {}
        }
    }
    start
}

/// Would it be put together with what stands before it?
fn is_of_word(it: char) -> bool {
    is_of_name(it) || matches!(it, '"' | '$')
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
