//! Commands that run another one for many things: `find -exec`, `xargs`, `parallel`.

use crate::acts::Done;
use crate::finding::{self, Deed, Which};
use crate::judge::{Options, erases, is_everything};
use crate::limits::{FIELDS_MAX, TURNS_MAX};
use crate::simple::known;
use crate::wrappers::{after_options, joined};
use crate::{Act, Call, Engine, HOLE, Output, Rule, State, Words, listed, marks, paths, text};

/// Options of `xargs` that take a value.
static XARGS: Words = Words::named("many.XARGS");

/// The same of `parallel`.
static PARALLEL: Words = Words::named("many.PARALLEL");

impl Engine {
    pub(super) fn find_exec(&mut self, call: &Call<'_>, state: &mut State) -> Option<Output> {
        let plain = call.plain();
        let roots = listed::roots(call);
        let is_of_fd = call.name.starts_with("fd");
        let signs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        for (_, path) in call.pairs().filter(|it| WRITING.contains(&it.0)) {
            self.touch(super::Access::Write, path, state);
        }
        let first = roots.first().map(|it| marks::plain(it)).unwrap_or_default();
        let place = format!("{}/{}", first.trim_end_matches('/'), found_by(call));
        let wholes: Vec<String> = roots.iter().map(|it| paths::resolved(it, state)).collect();
        let everything = wholes.iter().any(|it| is_everything(it.trim_end_matches('/')));
        let mut at = 0;
        while let Some(found) = plain.get(at..)?.iter().position(|it| signs.contains(&it.as_str()))
        {
            let start = at + found + 1;
            let rest = call.args.get(start..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|it| matches!(marks::plain(it).as_str(), ";" | "+"))
                .unwrap_or(rest.len());
            let inner = rest.iter().take(length);
            let mut inner: Vec<String> = inner.map(|it| self.replaced(it, "{}", &place)).collect();
            // Without a sign for it, `fd` puts what it finds behind the command.
            if is_of_fd && !rest.iter().take(length).any(|it| it.contains('{')) {
                inner.push(place.clone());
            }
            let name = inner.first().map(|it| super::names::base(&marks::plain(it)));
            let is = |all: &[&str]| name.as_ref().is_some_and(|it| all.contains(&it.as_str()));
            if is(&["cp", "mv", "tar", "zip", "rsync", "install"]) && everything {
                self.ask(Rule::Collection, "it gathers what it finds of a person or the system");
            }
            let root = wholes.iter().find(|it| paths::is_root(it));
            if let Some(root) = root.filter(|_| name.as_ref().is_some_and(|it| erases(it))) {
                self.deny_found(root);
            }
            let is_remade = self.finds_only_remade(call, state);
            if let Some(name) = name.as_ref().filter(|it| !is_of_fd && erases(it)) {
                let taken = finding::taken(call, Deed::Runs(start - 1));
                // Nothing says which: all that lies there.
                if !is_remade && taken.which == Which::All {
                    self.ask(Rule::Erase, "it deletes all that it finds");
                }
                if let Some(history) = taken.history {
                    self.add_act(Done::new(Act::Erase, name, history));
                }
            }
            let before = self.found.replace((place.clone(), is_remade));
            self.call(inner, &mut state.clone(), None);
            self.found = before;
            at = start + length;
        }
        None
    }

    pub(super) fn xargs(&mut self, call: &Call<'_>, state: &mut State) -> Output {
        let plain = call.plain();
        let values: Vec<&str> = XARGS.iter().copied().chain(["-I"]).collect();
        let rest = after_options(call.args, &values, 0);
        let before = plain.get(..call.args.len() - rest.len()).unwrap_or_default();
        let options = Options::of(before, "nJRSPLdaEsI", &[]);
        let mark = options.values("I", "replace").next().map(str::to_owned);
        let from = options.values("a", "arg-file").next();
        let mut stdin = call.stdin.map(<[u8]>::to_vec);
        if let Some(path) = from {
            self.touch(super::Access::Read, path, state);
            stdin = state.files.get(&paths::resolved(path, state)).cloned();
        }
        let input = known(stdin.as_deref());
        let by_zero = options.has("0", "null");
        let mut items = if marks::has_hole(&input) {
            let unknown = || match input.contains(marks::CODED) {
                true => vec![format!("{HOLE}{}", marks::CODED)],
                false if by_zero => vec![input.clone()],
                false => vec![HOLE.to_string()],
            };
            listed::items(&input).unwrap_or_else(unknown)
        } else if by_zero {
            let parts = stdin.as_deref().unwrap_or_default().split(|it| *it == 0);
            parts.filter(|it| !it.is_empty()).map(text).collect()
        } else {
            let by_line = mark.is_some() || options.has("d", "delimiter");
            xargs_items(&input, by_line).unwrap_or_else(|| vec![HOLE.to_string()])
        };
        if items.len() > FIELDS_MAX {
            self.too_much();
            items.truncate(FIELDS_MAX);
        }
        if rest.is_empty() {
            return items.join(" ").into_bytes();
        }
        let mut most = options.values("nL", "max-args").chain(options.values("", "max-lines"));
        let most = most.find_map(|it| it.parse().ok().filter(|it| *it > 0)).unwrap_or(FIELDS_MAX);
        let size = if mark.is_some() { 1 } else { most };
        let mut output = Output::new();
        let none = [String::new()];
        let turns: Vec<&[String]> =
            if items.is_empty() { vec![&none[..0]] } else { items.chunks(size).collect() };
        if turns.len() > TURNS_MAX {
            self.too_much();
        }
        for turn in turns.into_iter().take(TURNS_MAX) {
            if self.is_exhausted() {
                break;
            }
            let fields: Vec<String> = match &mark {
                Some(mark) => {
                    let item = turn.join(" ");
                    rest.iter().map(|it| self.replaced(it, mark, &item)).collect()
                }
                None => rest.iter().chain(turn).cloned().collect(),
            };
            output.extend(self.call(fields, &mut state.clone(), None));
        }
        output
    }

    pub(super) fn parallel(&mut self, call: &Call<'_>, state: &mut State) -> Output {
        let rest = after_options(call.args, &PARALLEL, 0);
        let end = rest.iter().position(|it| it.starts_with(":::")).unwrap_or(rest.len());
        let (command, items) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let items: Vec<String> = items.iter().skip(1).map(|it| marks::plain(it)).collect();
        let item = if items.is_empty() { known(call.stdin) } else { items.join(" ") };
        if command.is_empty() {
            return self.run_text(&item, &mut state.clone(), None);
        }
        let text = joined(command);
        let text = match text.contains("{}") {
            true => self.replaced(&text, "{}", &item),
            false => format!("{text} {item}"),
        };
        let before = self.findings.len();
        let output = self.run_text(&text, &mut state.clone(), None);
        // What stands in for the items is an argument, not text that is run.
        if marks::has_hole(&item) && !marks::has_hole(&joined(command)) {
            let kept = self.findings.split_off(before.min(self.findings.len()));
            self.findings.extend(kept.into_iter().filter(|it| it.rule != Rule::Dynamic));
        }
        output
    }
}

/// What `find` puts its findings into.
const WRITING: [&str; 4] = ["-fprint", "-fprint0", "-fprintf", "-fls"];

/// What the places that `find` finds are called, as far as it is told.
fn found_by(call: &Call<'_>) -> String {
    let told = call.pairs().filter(|it| matches!(it.0, "-name" | "-iname"));
    let mut told = told.map(|it| it.1);
    let says_more = |it: &&str| it.chars().filter(char::is_ascii_alphanumeric).count() > 1;
    match (told.next().filter(says_more), told.next()) {
        (Some(name), None) if name.contains(['*', '?', '[']) => marks::with_patterns(name),
        (Some(_) | None, _) => HOLE.to_string(),
    }
}

/// What `xargs` makes of its input: words, or lines. `None`: a quote has no end.
fn xargs_items(text: &str, by_line: bool) -> Option<Vec<String>> {
    let mut items = Vec::new();
    let mut item: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let ends = if by_line { letter == '\n' } else { letter.is_whitespace() };
        match (letter, quote) {
            ('\n', Some(_)) => return None,
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => item.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                item.get_or_insert_default();
            }
            ('\\', None) => item.get_or_insert_default().extend(letters.next()),
            (_, None) if ends => items.extend(item.take()),
            (' ' | '\t', None) if item.is_none() => {}
            (_, None) => item.get_or_insert_default().push(letter),
        }
    }
    items.extend(item);
    quote.is_none().then_some(items)
}
