//! Harmless scripts that dice make: the words that bash runs are words that we saw.
//!
//! Commands `c0` to `c9` do not exist. Bash gives them to a function that writes down their words; we
//! must have seen each of these commands, with these words. No program is run.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::fmt::Write as _;

use shell::{Decision, read};

/// Scripts per run.
const SCRIPTS: usize = 400;
/// Scripts that one bash runs: its command line is bounded.
const BATCH: usize = 50;
/// Of the scripts, those that we understand without a question must be so many, in percent.
const UNDERSTOOD_MIN: usize = 60;
/// What one bash may take, in seconds of computing.
const BASH_SECONDS: u32 = 10;
/// Another number makes other scripts.
const SEED: u64 = 0x1a2a_3e70_0006_0005;

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.roll(list.len())]
    }

    fn name(&mut self) -> &'static str {
        self.pick(&["a", "b", "d", "e"])
    }

    fn word(&mut self) -> String {
        let name = self.name();
        match self.roll(22) {
            0 | 1 => self.pick(&["x", "yy", "-z", "k=v", "p.q"]).to_owned(),
            2 => self.pick(&["'x y'", "\"x  y\"", "''", "\\$a", "x\\ y", "'a'\"b\"c"]).to_owned(),
            3 => self.pick(&["$'\\x41\\t'", "$'\\101'", "$'\\u0042'", "\"\\$a\""]).to_owned(),
            4 | 5 => format!("${name}"),
            6 | 7 => format!("\"${name}\""),
            8 => format!("${{{name}:-d{}}}", self.roll(3)),
            9 => format!("${{{name}:+set}}"),
            10 => format!("\"${{#{name}}}\""),
            11 => format!("\"${{{name}{}}}\"", self.pick(&["^^", ",,", "^", "~~"])),
            12 => format!(
                "\"${{{name}{}}}\"",
                self.pick(&["#x", "%y", "##*y", "%%y*", "/y/Q", "//x/"])
            ),
            13 => format!("\"${{{name}:{}:{}}}\"", self.roll(3), self.roll(3)),
            14 => format!("$(({} {} {}))", self.roll(9), self.pick(&["+", "-", "*"]), self.roll(9)),
            15 => self.pick(&["{p,q}", "r{1..3}", "{a,b}{c,d}"]).to_owned(),
            16 => format!("\"$(echo {name} ${name})\""),
            17 => format!("$(printf '%s-' ${name} z)"),
            18 => format!("`echo ${name}`"),
            19 => self.pick(&["\"$1\"", "\"$@\"", "$#", "\"$*\"", "${1:-none}"]).to_owned(),
            20 => format!("\"${{l[{}]}}\" \"${{l[@]}}\"", self.roll(3)),
            _ => format!("x\"${name}\"y"),
        }
    }

    fn command(&mut self) -> String {
        let mut command = format!("c{}", self.roll(10));
        for _ in 0..self.roll(4) {
            command.push(' ');
            command.push_str(&self.word());
        }
        command
    }

    fn condition(&mut self) -> String {
        let name = self.name();
        match self.roll(8) {
            0 => "true".to_owned(),
            1 => "false".to_owned(),
            2 => "! true".to_owned(),
            3 => "! false".to_owned(),
            4 => format!("(({} > {}))", self.roll(5), self.roll(5)),
            5 => format!("[ \"${name}\" = x ]"),
            6 => format!("[[ ${name} == x* ]]"),
            _ => format!("{name}=$(false)"),
        }
    }

    fn assignment(&mut self) -> String {
        let name = self.name();
        match self.roll(8) {
            0 => format!("{name}+={}", self.roll(9)),
            1 => format!("l=({} {})", self.word(), self.word()),
            2 => format!("printf -v {name} '%s,' {}", self.word()),
            3 => format!("read -r {name} <<< \"{} v\"", self.roll(9)),
            4 => format!("set -- {} {}", self.word(), self.word()),
            5 => format!("unset {name}"),
            _ => format!("{name}={}", self.word().replace("\"${l[@]}\"", "w")),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return if self.roll(2) == 0 { self.command() } else { self.assignment() };
        }
        let name = self.name();
        match self.roll(19) {
            0..=3 => self.command(),
            4..=6 => self.assignment(),
            7 => format!(
                "if {}; then {}; else {}; fi",
                self.condition(),
                self.list(depth),
                self.list(depth)
            ),
            8 => format!("{} && {}", self.condition(), self.statement(0)),
            9 => format!("{} || {}", self.condition(), self.statement(0)),
            10 => format!(
                "for {name} in {} {}; do {}; done",
                self.word(),
                self.word(),
                self.list(depth)
            ),
            11 => {
                let turns = self.roll(4);
                format!(
                    "for ((i{depth}=0;i{depth}<{turns};i{depth}++)); do {}; done",
                    self.list(depth)
                )
            }
            12 => format!(
                "n{depth}={}; while ((n{depth}--)); do {}; done",
                self.roll(4),
                self.list(depth)
            ),
            13 => format!(
                "case ${name} in x) {};; *y) {};; *) {};; esac",
                self.list(depth),
                self.list(depth),
                self.list(depth)
            ),
            14 => {
                let (scope, early) =
                    (self.pick(&["local ", ""]), self.pick(&["", "return; ", "true && return; "]));
                format!(
                    "f() {{ {scope}{name}=in; {}; {early}{}; }}; f {} {}",
                    self.list(depth),
                    self.statement(0),
                    self.word(),
                    self.word()
                )
            }
            15 => format!("({})", self.list(depth)),
            16 => format!("eval '{}'", self.list(0).replace('\'', "'\\''")),
            17 => {
                let leaves = self.pick(&["break", "continue", "true && break"]);
                format!(
                    "for {name} in 1 2 3; do {}; {leaves}; {}; done",
                    self.list(depth),
                    self.statement(0)
                )
            }
            _ => format!("while read -r {name}; do {}; done <<< $'x\\ny z'", self.list(depth)),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let many = 1 + self.roll(2);
        (0..many).map(|_| self.statement(depth)).collect::<Vec<_>>().join("; ")
    }

    fn script(&mut self) -> String {
        let many = 2 + self.roll(4);
        (0..many).map(|_| self.statement(2)).collect::<Vec<_>>().join("\n")
    }
}

/// What bash runs, by script: the words of every command, in order. `None` without bash.
#[expect(clippy::disallowed_methods, reason = "bash itself is the other side of the comparison")]
fn by_bash(scripts: &[String]) -> Option<Vec<Vec<Vec<String>>>> {
    let mut all = format!("ulimit -t {BASH_SECONDS}\nexec 9>&1 >/dev/null 2>&1\n");
    all.push_str(
        "command_not_found_handle() { printf '%s\\001' \"$@\" >&9; printf '\\002' >&9; }\n",
    );
    for script in scripts {
        let quoted = script.replace('\'', "'\\''");
        writeln!(all, "(eval '{quoted}')\nprintf '\\003' >&9").unwrap();
    }
    let output = std::process::Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &all])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .stdin(std::process::Stdio::null())
        .output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        other => other.unwrap(),
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let words = |it: &str| it.split_terminator('\u{1}').map(str::to_owned).collect();
    let commands = |it: &str| it.split_terminator('\u{2}').map(words).collect();
    Some(text.split_terminator('\u{3}').map(commands).collect())
}

/// The commands of a normal form, which knows no other quotes than these.
fn commands(normal: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut letters = normal.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                let text = word.get_or_insert_default();
                text.extend(letters.by_ref().take_while(|it| *it != '\''));
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            ' ' | ';' | '|' | '&' => {
                commands.last_mut().unwrap().extend(word.take());
                if letter != ' ' {
                    commands.push(Vec::new());
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    commands.last_mut().unwrap().extend(word);
    commands
}

/// A hole of ours is any text of theirs.
fn same(ours: &[String], theirs: &[String]) -> bool {
    let fits = |(ours, theirs): (&String, &String)| {
        let mut parts = ours.split("$…");
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = theirs.strip_prefix(first) else { return false };
        let mut last = None;
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = rest.get(at + part.len()..).unwrap_or_default();
            last = Some(part);
        }
        last.map_or(rest.is_empty(), |it| rest.is_empty() || it.is_empty())
    };
    let has_hole = ours.iter().any(|it| it.contains("$…"));
    // A hole without quotes can be any number of words.
    (ours.len() == theirs.len() && ours.iter().zip(theirs).all(fits))
        || (has_hole && ours.first() == theirs.first())
}

#[test]
fn every_command_that_bash_runs_is_one_that_we_saw() {
    let mut dice = Dice(SEED);
    let scripts: Vec<String> = (0..SCRIPTS).map(|_| dice.script()).collect();
    let mut runs = Vec::new();
    for some in scripts.chunks(BATCH) {
        let Some(more) = by_bash(some) else { return };
        runs.extend(more);
    }
    assert_eq!(runs.len(), scripts.len());
    let mut failed = Vec::new();
    let (mut understood, mut compared) = (0, 0);
    for (script, theirs) in scripts.iter().zip(&runs) {
        let reading = read(script);
        // What we ask about, we do not claim to know.
        if reading.decision != Decision::Allow {
            continue;
        }
        understood += 1;
        let mut ours = commands(&reading.normalized);
        ours.iter_mut().for_each(|it| it.retain(|word| !word.is_empty()));
        for command in theirs {
            compared += 1;
            // The normal form does not show what is empty because a variable is not set.
            let command: Vec<String> =
                command.iter().filter(|it| !it.is_empty()).cloned().collect();
            if !ours.iter().any(|it| same(it, &command)) {
                failed.push(format!(
                    "{script}\n  bash ran {command:?}\n  we saw {}",
                    reading.normalized
                ));
                break;
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {understood} differ:\n\n{}",
        failed.len(),
        failed.join("\n\n")
    );
    assert!(understood * 100 >= SCRIPTS * UNDERSTOOD_MIN, "{understood} understood");
    assert!(compared > SCRIPTS, "{compared} commands were compared");
}
