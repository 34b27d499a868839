//! Finds the words of the rules in one pass, and sequences of them.
//!
//! Each class of words remembers its last few places. When a word comes that ends a sequence, the words before it are
//! looked up there: constant work per word, so the whole is linear.

use std::collections::HashMap;

use super::finding::{Coding, Finding};
use super::lexicon::{Found, Lexicon};
use super::normal::Normal;
use super::rules::{Part, Rule, Rules, Sequence, Stands};
use super::score::TOGETHER_BYTES;

/// Places that a class remembers.
const REMEMBERED: usize = 4;
/// Findings of one rule that are kept of one stretch of text: the strongest. There is no limit for a text: whoever wants to hide an order would
/// have to say it seventeen times before.
const PER_STRETCH_MAX: usize = 4;
/// How long a stretch is, in bytes: short beside a passage of which signs are added up.
const STRETCH_BYTES: usize = TOGETHER_BYTES / 16;
/// What is left of the weight of a rule where the text only talks about such things.
const TALKED_ABOUT: f64 = 0.3;
/// How far is looked back for the beginning of a clause, in bytes.
const CLAUSE_BYTES: usize = 12;
/// How far a host name is followed, in bytes.
const HOST_BYTES_MAX: usize = 64;

/// Rules, ready to be looked for.
pub(super) struct Engine {
    lexicon: Lexicon,
    /// The classes of each word.
    classes: Vec<Vec<usize>>,
    rules: Vec<Rule>,
    /// The sequences that end with a word of each class: rule, sequence.
    endings: Vec<Vec<(usize, usize)>>,
    class_count: usize,
    /// The class of `@` inside of an address.
    address: Option<usize>,
}

impl Engine {
    pub(super) fn new(rules: Rules) -> Self {
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        let (mut words, mut classes): (Vec<Vec<u8>>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let used = |class: usize| {
            let mut all = rules.rules.iter().flat_map(|it| it.sequences.iter().chain(&it.unless));
            all.any(|it| it.parts.iter().any(|part| part.class == class))
        };
        let used: Vec<bool> = (0..rules.classes.len()).map(used).collect();
        for (word, class) in rules.words {
            if !used.get(class).copied().unwrap_or_default() {
                continue;
            }
            let word = Normal::new(word).bytes().to_owned();
            let at = *known.entry(word.clone()).or_insert(words.len());
            if at == words.len() {
                words.push(word);
                classes.push(Vec::new());
            }
            if let Some(of) = classes.get_mut(at).filter(|it| !it.contains(&class)) {
                of.push(class);
            }
        }
        let mut endings = vec![Vec::new(); rules.classes.len()];
        for (at, rule) in rules.rules.iter().enumerate() {
            for (which, sequence) in rule.sequences.iter().enumerate() {
                let last = sequence.parts.last().and_then(|it| endings.get_mut(it.class));
                if let Some(last) = last {
                    last.push((at, which));
                }
            }
        }
        Self {
            lexicon: Lexicon::new(&words),
            classes,
            rules: rules.rules,
            endings,
            class_count: rules.classes.len(),
            address: rules.classes.iter().position(|it| *it == "address"),
        }
    }

    /// Returns the rules.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Finds the signs in `normal`, which is the normal form of `original`.
    pub(super) fn find(&self, normal: &Normal, original: &str) -> Vec<Finding> {
        let mut search = Search {
            engine: self,
            normal,
            text: normal.bytes(),
            original: original.as_bytes(),
            recent: vec![[None; REMEMBERED]; self.class_count],
            kept: vec![Kept::default(); self.rules.len()],
            findings: Vec::new(),
        };
        self.lexicon.find(normal.bytes(), |found| {
            for class in self.classes.get(found.word).into_iter().flatten() {
                if Some(*class) != self.address || search.is_address(found) {
                    search.see(*class, found);
                }
            }
        });
        search.findings
    }
}

/// The findings of one rule in the stretch that was read last.
#[derive(Clone, Copy, Default)]
struct Kept {
    stretch: usize,
    count: usize,
    /// Where they stand among all findings.
    places: [usize; PER_STRETCH_MAX],
}

impl Kept {
    fn keep(&mut self, finding: Finding, findings: &mut Vec<Finding>) {
        let stretch = finding.start / STRETCH_BYTES;
        if stretch != self.stretch {
            *self = Self { stretch, ..Self::default() };
        }
        if let Some(place) = self.places.get_mut(self.count) {
            *place = findings.len();
            self.count += 1;
            findings.push(finding);
            return;
        }
        let weight = |at: &usize| findings.get(*at).map_or(0.0, |it| it.weight);
        let weakest = self.places.iter().copied().min_by(|a, b| weight(a).total_cmp(&weight(b)));
        if let Some(weakest) = weakest.and_then(|it| findings.get_mut(it))
            && weakest.weight < finding.weight
        {
            *weakest = finding;
        }
    }
}

struct Search<'a> {
    engine: &'a Engine,
    normal: &'a Normal,
    text: &'a [u8],
    original: &'a [u8],
    recent: Vec<[Option<Found>; REMEMBERED]>,
    kept: Vec<Kept>,
    findings: Vec<Finding>,
}

impl Search<'_> {
    fn see(&mut self, class: usize, place: Found) {
        let engine = self.engine;
        for (at, which) in engine.endings.get(class).into_iter().flatten() {
            let Some(rule) = engine.rules.get(*at) else { continue };
            let Some(sequence) = rule.sequences.get(*which) else { continue };
            if let Some(start) = self.complete(sequence, place) {
                let mut finding = self.finding(rule, start, place.end);
                if self.is_talked_about(rule, start) {
                    finding.weight *= TALKED_ABOUT;
                }
                // What several sequences of a rule find at one place is one sign; those that end here stand last.
                let mut here =
                    self.findings.iter_mut().rev().take_while(|it| it.end == finding.end);
                if let Some(known) =
                    here.find(|it| (it.rule, it.start) == (finding.rule, finding.start))
                {
                    known.weight = known.weight.max(finding.weight);
                    continue;
                }
                if let Some(kept) = self.kept.get_mut(*at) {
                    kept.keep(finding, &mut self.findings);
                }
            }
        }
        if let Some(recent) = self.recent.get_mut(class) {
            recent.rotate_right(1);
            if let Some(newest) = recent.first_mut() {
                *newest = Some(place);
            }
        }
    }

    /// Returns where the sequence that `last` would end began, if all its words are there.
    fn complete(&self, sequence: &Sequence, last: Found) -> Option<usize> {
        let mut parts = sequence.parts.iter().rev();
        if !parts.next().is_some_and(|it| self.stands_right(*it, last)) {
            return None;
        }
        let (mut start, mut word) = (last.start, last.word);
        for part in parts {
            // The same word twice says no more than once.
            let fits =
                |it: &&Found| it.end <= start && it.word != word && self.stands_right(*part, **it);
            let found = self.recent.get(part.class)?.iter().flatten().find(fits)?;
            (start, word) = (found.start, found.word);
            // Looked at only when near, or a long text would be read over and over.
            if last.end - start > sequence.within_bytes {
                return None;
            }
        }
        let near = last.end - start <= sequence.within_bytes;
        let fits = near && (sequence.across_sentences || self.is_one_sentence(start, last.end));
        fits.then_some(start)
    }

    fn stands_right(&self, part: Part, place: Found) -> bool {
        match part.stands {
            Stands::Anywhere => true,
            Stands::FirstInClause => self.begins_clause(place.start),
            Stands::FirstInField => self.begins_field(place.start),
        }
    }

    fn is_one_sentence(&self, start: usize, end: usize) -> bool {
        let between = self.text.get(start..end).unwrap_or_default();
        !between.windows(2).any(|it| matches!(it, b". " | b"? "))
    }

    /// Tells whether a word that makes the rule say less stands before.
    fn is_talked_about(&self, rule: &Rule, start: usize) -> bool {
        rule.unless.iter().any(|unless| {
            let before = |it: &&Found| it.end <= start && start - it.start <= unless.within_bytes;
            let class = unless.parts.first().and_then(|it| self.recent.get(it.class));
            let near = class.into_iter().flatten().flatten().find(before);
            near.is_some_and(|it| unless.across_sentences || self.is_one_sentence(it.start, start))
        })
    }

    /// Tells whether nothing but white space and opening marks stand between the place and the end of what came before.
    fn begins_clause(&self, start: usize) -> bool {
        let at = self.normal.original(start);
        let before = self.original.get(at.saturating_sub(CLAUSE_BYTES)..at).unwrap_or_default();
        let mut has_space = false;
        for byte in before.iter().rev() {
            match byte {
                b' ' | b'\t' => has_space = true,
                // A quote before a space ends a quotation: what counts is what stands in it.
                b'"' | b'\'' | b'`' if has_space => {}
                b'\n' | b'\r' | b'.' | b'!' | b'?' | b':' | b';' | b'"' | b'\'' | b'`' | b'('
                | b'[' | b'{' | b'<' | b'>' | b'*' | b'#' | b'|' | b'-' | b'_' | b'=' | b'\\'
                | b'/' => return true,
                128.. => return true,
                _ => return false,
            }
        }
        at <= CLAUSE_BYTES
    }

    /// Tells whether the place is the first of a quoted text that follows a colon.
    fn begins_field(&self, start: usize) -> bool {
        let at = self.normal.original(start);
        let before = self.original.get(at.saturating_sub(CLAUSE_BYTES)..at).unwrap_or_default();
        let before = before.trim_ascii_end();
        let quoted = before.strip_suffix(b"\"").or(before.strip_suffix(b"'"));
        let name = quoted.map(|it| it.strip_suffix(b"\\").unwrap_or(it).trim_ascii_end());
        name.is_some_and(|it| it.ends_with(b":"))
    }

    /// Tells whether the `@` here is the middle of an address.
    fn is_address(&self, at: Found) -> bool {
        let before = at.start.checked_sub(1).and_then(|it| self.text.get(it));
        let host = self.text.get(at.end..).unwrap_or_default().iter();
        let host = host.take(HOST_BYTES_MAX).take_while(|it| is_host(**it));
        let (mut length, mut dot) = (0, false);
        for byte in host {
            length += 1;
            dot |= *byte == b'.' && length > 1;
        }
        before.is_some_and(u8::is_ascii_alphanumeric) && dot
    }

    fn finding(&self, rule: &Rule, start: usize, end: usize) -> Finding {
        Finding {
            rule: rule.id,
            category: rule.category,
            severity: rule.severity,
            coding: Coding::Plain,
            start: self.normal.original(start),
            end: self.normal.original(end),
            weight: rule.weight,
        }
    }
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}
