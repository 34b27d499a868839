//! Properties that a page makes up, `--name`, and what `var(--name)` stands for.

use std::collections::HashMap;
use std::rc::Rc;

use super::css::{Part, Token, component, inside, tokens, trim};

/// What the properties stand for at one element. Those inside share it until one of them says more.
#[derive(Clone, Debug, Default)]
pub(super) struct Own(Rc<HashMap<Rc<str>, Rc<str>>>);

impl Own {
    /// The same and what is said here; the last of a name counts.
    pub(super) fn with(&self, said: &[(Rc<str>, Rc<str>)], steps: &mut usize) -> Self {
        if said.is_empty() {
            return self.clone();
        }
        let fresh: HashMap<&str, &str> = said.iter().map(|(name, raw)| (&**name, &**raw)).collect();
        let mut all = (*self.0).clone();
        *steps += all.len() + said.len();
        for (name, raw) in said {
            match self.resolve(raw, &fresh, 0) {
                Some(text) => all.insert(Rc::clone(name), Rc::from(text)),
                None => all.remove(name),
            };
            *steps += raw.len() / 8;
        }
        Self(Rc::new(all))
    }

    /// What a property stands for.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|it| &**it)
    }

    /// A value with every `var(…)` replaced; nothing if one of them stands for nothing.
    pub(super) fn replace(&self, raw: &str) -> Option<String> {
        self.resolve(raw, &HashMap::new(), 0)
    }

    fn resolve(&self, raw: &str, fresh: &HashMap<&str, &str>, depth: usize) -> Option<String> {
        let parts = tokens(raw);
        let mut out = String::new();
        let mut done = 0;
        let mut rest = parts.as_slice();
        while let Some((first, after)) = rest.split_first() {
            let Some(env) = is_var(first) else {
                rest = after;
                continue;
            };
            let (call, after) = component(rest)?;
            out.push_str(raw.get(done..first.at)?);
            // Blanks, so that what comes together stays apart.
            out.push(' ');
            out.push_str(&self.stands_for(call, env, raw, fresh, depth)?);
            out.push(' ');
            if out.len() > VALUE_BYTES_MAX {
                return None;
            }
            done = call.last()?.end;
            rest = after;
        }
        out.push_str(raw.get(done..)?);
        let word = out.trim();
        // A word for all properties is none of a value's own.
        (out.len() <= VALUE_BYTES_MAX
            && !(depth == 0 && word.eq_ignore_ascii_case("initial") && !fresh.is_empty()))
        .then(|| word.to_owned())
    }

    fn stands_for(
        &self,
        call: &[Part<'_>],
        env: bool,
        raw: &str,
        fresh: &HashMap<&str, &str>,
        depth: usize,
    ) -> Option<String> {
        if depth > DEPTH_MAX {
            return None;
        }
        let arguments = inside(call);
        let name = trim(arguments).first()?.word()?;
        let found = match (env, fresh.get(name)) {
            (true, _) => name.starts_with("safe-area-inset").then(|| "0px".to_owned()),
            (false, Some(text)) => self.resolve(text, fresh, depth + 1),
            (false, None) => self.get(name).map(str::to_owned),
        };
        found.or_else(|| {
            let comma = arguments.iter().position(|it| it.is(','))?;
            let fallback = arguments.get(comma + 1..)?;
            let (Some(first), Some(last)) = (fallback.first(), fallback.last()) else {
                return Some(String::new());
            };
            self.resolve(raw.get(first.at..last.end)?, fresh, depth + 1)
        })
    }
}

/// Is it a `var(`, or the like that asks for what the screen says?
fn is_var(part: &Part<'_>) -> Option<bool> {
    let Token::Call(name) = &part.token else { return None };
    if name.eq_ignore_ascii_case("var") {
        Some(false)
    } else {
        name.eq_ignore_ascii_case("env").then_some(true)
    }
}

/// Properties that stand for properties.
const DEPTH_MAX: usize = 8;
/// How long a value may get.
const VALUE_BYTES_MAX: usize = 4096;
