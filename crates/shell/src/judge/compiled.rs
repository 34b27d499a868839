//! Compilers: what they make of something that is not the work's own is as fresh as that.

use super::files::is_of_work;
use super::options::Options;
use crate::{Call, Engine, Rows, Rule, State, Words, marks, paths};

static COMPILING: Words = Words::named("judge.compiled.COMPILING");
/// They compile if one of these words says so, and only what they are given.
static TOLD: Rows = Rows::named("judge.compiled.TOLD");

impl Engine {
    /// What a compiler makes of something that is not the work's own is as fresh as that.
    pub(super) fn judge_compiled(&mut self, call: &Call<'_>, state: &State) {
        let name = call.name.as_str();
        let first = call.operands().first().map(String::as_str).unwrap_or_default();
        let is_told = TOLD.get(name).is_some_and(|it| it.contains(&first));
        if !is_told && !COMPILING.contains(&name) {
            return;
        }
        let operands = call.operands().get(usize::from(is_told)..).unwrap_or_default();
        let plain = call.plain();
        if name == "tcc" && call.has(&["-run"]) {
            operands.iter().for_each(|it| self.run_source(it, state));
        }
        for source in operands {
            self.judge_run(source);
        }
        if plain.iter().any(|it| it.starts_with("-fplugin=")) {
            self.ask(Rule::Loader, "the compiler loads what an option names");
        }
        let target = plain.iter().position(|it| it == "-o").and_then(|it| plain.get(it + 1));
        let target = target.map_or("a.out", String::as_str);
        // What is made of sources of the work is as good as they are.
        let is_foreign = |it: &String| {
            let path = paths::resolved(it, state);
            // A pattern, a list of arguments or a way out of the work may name anything.
            let is_plain = !marks::has_pattern(it)
                && !marks::has_hole(it)
                && !it.starts_with('@')
                && !it.split('/').any(|part| part == "..");
            !is_plain
                || self.fresh.contains(&path)
                || paths::is_shared(&path)
                || path.starts_with('/')
        };
        // Headers are sources, too: after anything was fetched or written, nobody knows what is compiled.
        let is_elsewhere = !self.fresh.is_empty() || state.cwd.is_some() || operands.is_empty();
        let reads_given = call.has(&["-"]) || (is_elsewhere && !is_told);
        let target = paths::resolved(target, state);
        if reads_given || operands.iter().any(is_foreign) {
            self.fresh.insert(target);
            for source in operands {
                let stem = source.rsplit_once('.').map_or(source.as_str(), |it| it.0);
                let ending = if name == "javac" { ".class" } else { "" };
                self.fresh.insert(paths::resolved(&format!("{stem}{ending}"), state));
            }
        }
    }

    /// An image is as good as the folder that it is built of: one of the work is, unless something was put there before.
    pub(super) fn judge_built(&mut self, call: &Call<'_>, state: &State) {
        let is_file = |it: &&String| !["image:", "remote:"].iter().any(|kind| it.starts_with(kind));
        let brings = self.fresh.iter().any(|it| is_file(&it));
        let is_foreign = |it: &str| {
            it.contains("://") || it.starts_with("git@") || it == "-" || !is_of_work(it, state)
        };
        let names = ["tag", "build-arg", "label", "secret", "ssh"];
        let options = Options::of(call.args, "t", &names);
        if !brings && !options.words.into_iter().any(is_foreign) {
            return;
        }
        let tags = Options::of(call.plain(), "t", &names);
        let tags = tags.values("t", "tag").map(|it| format!("image:{it}")).collect::<Vec<_>>();
        self.fresh.extend(tags);
    }

    /// Java: a class that was made before, or one that lies where anybody can put something.
    pub(super) fn judge_classes(&mut self, call: &Call<'_>, state: &State) {
        let is_path = |it: &(&str, &str)| matches!(it.0, "-cp" | "-classpath" | "--class-path");
        let mut folders = call.pairs().filter(is_path).flat_map(|it| it.1.split(':'));
        if folders.any(|it| paths::is_shared(&format!("{it}/"))) {
            self.ask(Rule::TempRun, "it runs what anybody can have put there");
        }
        let made =
            |it: &String| self.fresh.contains(&paths::resolved(&format!("{it}.class"), state));
        if call.operands().iter().any(made) {
            self.ask(Rule::FreshRun, "it runs a file that it wrote or fetched before");
        }
    }
}
