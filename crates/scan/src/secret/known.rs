//! Secrets that providers give a form of their own, or that stand behind the provider's name.

use std::collections::HashMap;

use super::assigned::assigned;
use super::check::{Check, Confidence, entropy, is_filler, is_placeholder};
use super::form::Form;
use super::plain::{SIGNS, Sign};
use super::{Secret, plain, secret};
use crate::keys::{Hit, Keys, Leftmost};

/// All rules, to be looked for at once.
pub(super) struct Known {
    keys: Keys,
    of_key: Vec<Meaning>,
    rules: Vec<Rule>,
}

/// What a key may be the beginning of.
#[derive(Default)]
struct Meaning {
    rules: Vec<usize>,
    sign: Option<Sign>,
}

pub(super) struct Rule {
    pub(super) id: &'static str,
    provider: &'static str,
    pub(super) form: Form,
    entropy: f64,
    check: Option<Check>,
    pub(super) found: FoundBy,
}

/// What is looked for first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FoundBy {
    /// What the form begins with.
    Prefix(&'static str),
    /// Something inside of the form, so many characters behind its beginning, if they are always as many.
    Inner(&'static str, Option<usize>),
    /// Names before an assignment.
    Names(Vec<&'static str>),
}

/// Values that are not long; a longer one must be less regular to count.
const ENTROPY_OF_VALUES: f64 = 2.5;

impl Known {
    pub(super) fn new() -> Option<Self> {
        let rules = rules()?;
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut of_key: Vec<Meaning> = Vec::new();
        let mut place = |key: &str, of_key: &mut Vec<Meaning>| {
            let place = *places.entry(key.to_ascii_lowercase()).or_insert(of_key.len());
            if place == of_key.len() {
                of_key.push(Meaning::default());
            }
            place
        };
        for (at, rule) in rules.iter().enumerate() {
            let keys = match &rule.found {
                FoundBy::Prefix(key) | FoundBy::Inner(key, _) => vec![*key],
                FoundBy::Names(names) => names.clone(),
            };
            for key in keys {
                let place = place(key, &mut of_key);
                of_key.get_mut(place)?.rules.push(at);
            }
        }
        for (key, sign) in SIGNS {
            let place = place(key, &mut of_key);
            of_key.get_mut(place)?.sign = Some(*sign);
        }
        let mut keys: Vec<(usize, String)> =
            places.into_iter().map(|(key, at)| (at, key)).collect();
        keys.sort_unstable();
        let keys = Keys::new(keys.into_iter().map(|it| it.1))?;
        Some(Self { keys, of_key, rules })
    }

    /// Adds the secrets of a text, those with a form of their own first.
    pub(super) fn find(&self, text: &str, all: &mut Vec<Secret>) {
        let bytes = text.as_bytes();
        let (mut of_rules, mut others) = (Vec::new(), Vec::new());
        let mut leftmost = Leftmost::default();
        let mut signed = |hit: Hit| {
            let sign = self.of_key.get(hit.key).and_then(|it| it.sign);
            others.extend(sign.and_then(|it| plain::at(text, it, hit.start, hit.end)));
        };
        self.keys.find(bytes, |hit| {
            let Some(meaning) = self.of_key.get(hit.key) else { return };
            for rule in meaning.rules.iter().filter_map(|it| self.rules.get(*it)) {
                of_rules.extend(rule.behind(bytes, hit).map(|it| (hit.end, hit.start, it)));
            }
            if meaning.sign.is_some()
                && let Some(done) = leftmost.next(hit)
            {
                signed(done);
            }
        });
        if let Some(last) = leftmost.end() {
            signed(last);
        }
        // Of two findings at one place the one counts whose key ends first.
        of_rules.sort_by_key(|it| (it.0, it.1));
        all.extend(of_rules.into_iter().map(|it| it.2));
        all.append(&mut others);
        all.extend(plain::hexadecimal(text));
    }

    #[cfg(test)]
    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Rule {
    /// The secret to which this key belongs.
    fn behind(&self, bytes: &[u8], hit: Hit) -> Option<Secret> {
        let start = match &self.found {
            FoundBy::Prefix(_) => Some(hit.start),
            FoundBy::Inner(_, Some(back)) => hit.start.checked_sub(*back),
            FoundBy::Inner(_, None) => Some(self.form.begin(bytes, hit.start)),
            FoundBy::Names(_) => assigned(bytes, hit.end),
        };
        self.at(bytes, start?)
    }

    fn at(&self, bytes: &[u8], start: usize) -> Option<Secret> {
        let before = start.checked_sub(1).and_then(|it| bytes.get(it));
        let inside = before.is_some_and(u8::is_ascii_alphanumeric)
            && bytes.get(start).is_some_and(u8::is_ascii_alphanumeric)
            && !is_escape(bytes, start);
        if inside {
            return None;
        }
        let length = self.form.length(bytes.get(start..)?)?;
        let value = std::str::from_utf8(bytes.get(start..start + length)?).ok()?;
        if entropy(value) < self.entropy || is_filler(value) {
            return None;
        }
        let confidence = match self.check {
            Some(check) => check.confidence(value)?,
            None => Confidence::Likely,
        };
        let is_value = matches!(self.found, FoundBy::Names(_));
        if is_value && (is_placeholder(value) || !value.bytes().any(|it| it.is_ascii_digit())) {
            return None;
        }
        Some(secret(self.id, self.provider, confidence, start, start + length))
    }
}

/// Quoted text may hold `\n` as two characters; its `n` is no part of what follows.
fn is_escape(bytes: &[u8], start: usize) -> bool {
    let before = start.checked_sub(2).and_then(|it| bytes.get(it..start));
    matches!(before, Some([b'\\', b'n' | b't' | b'r']))
}

/// Reads the rule files; nothing if a line is not understood.
fn rules() -> Option<Vec<Rule>> {
    let mut all = Vec::new();
    for line in lines(include_str!("../../rules/secret/tokens.rules")) {
        let mut fields = line.split(" |").map(str::trim);
        let (id, provider, form) = (fields.next()?, fields.next()?, fields.next()?);
        let options = fields.next()?;
        let mut rule = Rule {
            id,
            provider,
            form: Form::parse(form)?,
            entropy: 0.0,
            check: None,
            found: FoundBy::Names(Vec::new()),
        };
        let (mut inner, mut back) = (None, None);
        for option in options.split_whitespace() {
            match option.split_once('=')? {
                ("entropy", bits) => rule.entropy = bits.parse().ok()?,
                ("check", name) => rule.check = Some(Check::from_name(name)?),
                ("key", key) => inner = Some(key),
                ("back", count) => back = Some(count.parse().ok()?),
                _ => return None,
            }
        }
        rule.found = match inner {
            Some(key) => FoundBy::Inner(key, back),
            None => FoundBy::Prefix(rule.form.prefix()?),
        };
        all.push(rule);
    }
    for line in lines(include_str!("../../rules/secret/values.rules")) {
        let mut fields = line.split(" | ").map(str::trim);
        let (id, provider, names, form) =
            (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let found = FoundBy::Names(names.split(", ").collect());
        let form = Form::parse(form)?;
        all.push(Rule { id, provider, form, entropy: ENTROPY_OF_VALUES, check: None, found });
    }
    Some(all)
}

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rule_finds_its_form_and_not_the_words_around_it() {
        let known = Known::new().unwrap();
        let mut ids = HashSet::new();
        let (mut providers, mut wrong) = (HashSet::new(), Vec::new());
        for rule in known.rules() {
            assert!(ids.insert(rule.id), "{} is there twice", rule.id);
            providers.insert(rule.provider);
            if rule.check.is_some_and(|it| it != Check::Crc32 && it != Check::Base32Key) {
                continue;
            }
            let sample = rule.form.sample();
            let text = match &rule.found {
                FoundBy::Names(names) => {
                    format!("my_{}_key = \"{sample}\"", names.first().unwrap())
                }
                FoundBy::Prefix(_) | FoundBy::Inner(..) => format!("x: {sample} end"),
            };
            let mut all = Vec::new();
            known.find(&text, &mut all);
            if !all.iter().any(|it| it.rule == rule.id) {
                wrong.push(format!("{} misses {text}", rule.id));
            }
            let short = text.replace(&sample, sample.get(..sample.len() / 2).unwrap());
            let mut all = Vec::new();
            known.find(&short, &mut all);
            if all.iter().any(|it| it.rule == rule.id) {
                wrong.push(format!("{} finds {short}", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(providers.len() >= 100, "{} providers", providers.len());
    }
}
