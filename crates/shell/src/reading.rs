//! `read` and `mapfile`: words that come from elsewhere, as far as they are known.

use crate::simple::known;
use crate::{Call, Engine, HOLE, State, marks};

impl Engine {
    /// What is read is known only if it comes from here.
    pub(super) fn read(&mut self, call: &Call<'_>, state: &mut State) {
        let is_read = call.name == "read";
        let asked = Asked::new(call.plain(), if is_read { "adinNptu" } else { "CcdnOsu" });
        if let Some(calls_back) = asked.value('C') {
            self.run_text(calls_back, &mut state.clone(), None);
        }
        // Nothing stands for the sign that ends no line.
        let by = asked.value('d').map(|it| it.chars().next().or(Some('\0')));
        let text = input(call, &asked);
        let names = asked.names.clone();
        let ifs = state.ifs();
        if !is_read {
            let name = names.first().cloned().unwrap_or_else(|| "MAPFILE".to_owned());
            let end = by.unwrap_or(Some('\n'));
            let strips = asked.has('t');
            let parts = text.split_inclusive(|it| Some(it) == end);
            let parts = parts.map(|it| match end {
                Some(end) if strips || end == '\0' => it.strip_suffix(end).unwrap_or(it),
                Some(_) | None => it,
            });
            let items = parts.enumerate().map(|(i, it)| (i.to_string(), it.to_owned()));
            let var = self.list(items.collect());
            return state.set(&name, var);
        }
        let end = by.unwrap_or(Some('\n'));
        let line = text.split(|it| Some(it) == end).next().unwrap_or_default();
        let count = asked.value('n').or_else(|| asked.value('N')).map(|it| it.parse::<usize>());
        let line: String = match count {
            Some(Ok(count)) if !marks::has_hole(&text) => {
                let exact = asked.value('N').is_some();
                if exact { text.as_str() } else { line }.chars().take(count).collect()
            }
            Some(_) => HOLE.to_string(),
            None if end == Some('\0') => line.trim_end_matches('\n').to_owned(),
            None => line.to_owned(),
        };
        if let Some(name) = asked.value('a') {
            let parts = line.split(|it| ifs.contains(it)).filter(|it| !it.is_empty());
            let items = parts.enumerate().map(|(i, it)| (i.to_string(), it.to_owned()));
            let var = self.list(items.collect());
            return state.set(name, var);
        }
        let names = if names.is_empty() { vec!["REPLY".to_owned()] } else { names };
        // `-N` takes letters as they are.
        let ifs = if asked.value('N').is_some() { String::new() } else { ifs };
        let mut rest = line.trim_start_matches(|it| ifs.contains(it)).to_owned();
        let last = names.len() - 1;
        for (index, name) in names.iter().enumerate() {
            let value = if marks::has_hole(&line) && last > 0 {
                HOLE.to_string()
            } else if index == last {
                std::mem::take(&mut rest)
            } else {
                let end = rest.find(|it| ifs.contains(it)).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end).unwrap_or((&rest, ""));
                let after = after.trim_start_matches(|it| ifs.contains(it)).to_owned();
                let word = word.to_owned();
                rest = after;
                word
            };
            self.put(name, value, state);
        }
    }
}

/// Options of `read` and `mapfile`, letter by letter, and the names behind them.
struct Asked {
    flags: Vec<(char, String)>,
    names: Vec<String>,
}

impl Asked {
    fn new(args: &[String], valued: &str) -> Self {
        let mut asked = Self { flags: Vec::new(), names: Vec::new() };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let letters = arg.strip_prefix('-').filter(|it| !it.is_empty());
            let Some(letters) = letters.filter(|_| asked.names.is_empty()) else {
                asked.names.push(arg.clone());
                continue;
            };
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                if !valued.contains(letter) {
                    asked.flags.push((letter, String::new()));
                    continue;
                }
                let glued = letters.as_str().to_owned();
                let value = if glued.is_empty() { rest.next().cloned() } else { Some(glued) };
                asked.flags.push((letter, value.unwrap_or_default()));
                break;
            }
        }
        asked
    }

    fn has(&self, letter: char) -> bool {
        self.flags.iter().any(|it| it.0 == letter)
    }

    /// Given twice, the last one counts.
    fn value(&self, letter: char) -> Option<&str> {
        self.flags.iter().rfind(|it| it.0 == letter).map(|it| it.1.as_str())
    }
}

/// What `read` or `mapfile` gets, as far as that is known.
fn input(call: &Call<'_>, asked: &Asked) -> String {
    let is_read = call.name == "read";
    // Which lines, and into which places.
    let chooses = !is_read && "sOn".chars().any(|it| asked.value(it).is_some());
    let text = match asked.value('u') {
        None if !chooses && asked.value('d') == Some("") => {
            call.stdin.map_or_else(|| HOLE.to_string(), |it| String::from_utf8_lossy(it).into())
        }
        None if !chooses => known(call.stdin),
        Some(_) | None => return HOLE.to_string(),
    };
    // Without `-r` a backslash takes what follows as it is.
    let escapes = is_read && !asked.has('r') && text.contains('\\');
    if escapes { HOLE.to_string() } else { text }
}
