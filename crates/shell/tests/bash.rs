//! Harmless commands: what we say would run is what bash runs.

#![expect(clippy::unwrap_used, reason = "a test")]

use shell::{Decision, read};

/// Words of every kind. `printf` shows what becomes of them.
const WORDS: [&str; 45] = [
    r#"a"b"'c'\d"#,
    r"$'\x61\142\u0063\t\n\'\\'",
    r#""a\$b\"c\`d\\e\f""#,
    "{a,b}{1..3} x{,y} {c..a} {01..03} {a,b",
    r#"$(echo "a b") "$(echo 'a  b')""#,
    "`echo \\`echo a\\``",
    "${x:-default} ${x-} ${x:+y}",
    "$((1+2*3)) $((16#ff)) $((2**10)) $((7/2)) $((5>3?1:0))",
    r#""" '' a"" "$@" "$*""#,
    "$@ a$@b ${@} ${*}",
    "$(printf '%s-%d-%x-%o' a 10 255 8)",
    "$(printf '\\101\\x42' )",
    "$(echo -e 'a\\tb\\x41\\0101')",
    "$(echo -n a; echo b)",
    "$(rev <<< abc)",
    "$(tr a-z A-Z <<< hello)",
    "$(tr -d l <<< hello)",
    "$(echo aGVsbG8= | base64 -d)",
    "$(for i in 3 1 2; do printf %s $i; done)",
    "$(for ((i=0;i<3;i++)); do printf %s $i; done)",
    "$(cut -c2-3 <<< abcd)",
    "$(cut -d: -f2 <<< a:b:c)",
    "$(head -c2 <<< abcd)",
    "$(printf 'a\\nb\\n' | tail -n1)",
    "$(printf 'a\\nb\\n' | tac)",
    "$(seq 3)",
    "$(cat <<'E'\n$x \\y\nE\n)",
    "$(cat <<E\n${x:-1} \\$x\nE\n)",
    "$(basename /a/b.c)",
    "a\\\nb",
    "$(echo 'a;b' \"c|d\")",
    "$(case x in x) echo yes;; esac)",
    "$(if true; then echo a; fi)",
    "$(true && echo a || echo b)",
    "$(false || echo b)",
    "$(f() { echo \"$2$1\"; }; f a b)",
    "$(x=(a b c); echo ${x[1]} ${#x[@]} \"${x[@]}\" ${x[@]:1})",
    "$(x=hello; echo ${x:1:3} ${x: -2} ${#x} ${x^} ${x^^} ${x#he} ${x%lo} ${x/l/L} ${x//l/L})",
    "$(x=a.b.c; echo ${x##*.} ${x%%.*} ${x#*.} ${x%.*})",
    "$(x=y; y=z; echo ${!x})",
    "$(IFS=_; x=a_b_c; set -- $x; echo $2)",
    "$(set -- a b c; echo $# $3 \"$*\"; shift; echo $1)",
    "$(read a b <<< '1 2 3'; echo $b-$a)",
    "$(x=(a b c); read 'x[1]' <<< d; echo ${x[@]})",
    "$(x=(a b c); printf -v 'x[0]' d; x[1]+=e; echo ${x[@]})",
];

#[expect(clippy::disallowed_methods, reason = "bash itself is the other side of the comparison")]
fn bash(script: &str) -> Option<String> {
    let output = std::process::Command::new("bash")
        .args(["--norc", "--noprofile", "-c", script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .output();
    let output = output.ok()?;
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_we_say_would_run_is_what_bash_runs() {
    if bash("true").is_none() {
        return;
    }
    let mut failed = Vec::new();
    for words in WORDS {
        let command = format!("printf '<%s>' {words}");
        let reading = read(&command);
        assert_eq!(reading.decision, Decision::Allow, "{command}: {:?}", reading.findings);
        // What stands before it ran inside substitutions.
        let at = reading.normalized.rfind("printf '<%s>'").unwrap();
        let normal = reading.normalized.get(at..).unwrap();
        let (ours, theirs) = (bash(normal), bash(&command));
        if ours != theirs {
            failed.push(format!("{command}\n    {normal}\n    {ours:?}\n    {theirs:?}"));
        }
    }
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}
