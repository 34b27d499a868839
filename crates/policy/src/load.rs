//! From texts to a policy: parse, read annotations, validate against the schema, check, slice.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::Arc;

use cedar_policy::{Effect, Policy as CedarPolicy, PolicyId, PolicySet, ValidationMode, Validator};
use miette::Diagnostic;
use model::EffectKind;

use crate::attribute::Uses;
use crate::check;
use crate::error::{LoadError, LoadErrors};
use crate::lines::{self, Outline};
use crate::pack::{PACK_BYTES_MAX, PackText, RULES_MAX};
use crate::policy::{Policy, Slice};
use crate::request::{Broken, Requests};
use crate::rule::Rule;
use crate::schema::schema;

/// A rule and what Cedar made of it.
pub(crate) struct Parsed {
    pub(crate) rule: Rule,
    pub(crate) policy: CedarPolicy,
    /// It need not be checked.
    proven: bool,
}

/// Cedar's validator with our schema, made when it is first needed.
type SchemaValidator = LazyCell<Result<Validator, Broken>>;

/// Makes a policy of `packs`. Those that are proven are not checked: the ones that the program brings along are constants,
/// which a test has checked, so that it need not at every start.
pub(crate) fn build(
    packs: &[PackText],
    is_proven: impl Fn(&PackText) -> bool,
) -> Result<Policy, LoadErrors> {
    let requests = Requests::new().map_err(|why| LoadErrors(vec![whole(why.to_string())]))?;
    let mut errors = Vec::new();
    let mut parsed = Vec::new();
    // Only packs that are checked need the schema.
    let validator: SchemaValidator = LazyCell::new(|| schema().map(Validator::new));
    for pack in packs {
        match read(pack, (!is_proven(pack)).then_some(&validator)) {
            Ok(rules) => parsed.extend(rules),
            Err(flaws) => errors.extend(flaws),
        }
    }
    errors.extend(doubles(&parsed));
    if parsed.is_empty() && errors.is_empty() {
        errors.push(whole("there is no rule, so everything would be denied".to_owned()));
    }
    if parsed.len() > RULES_MAX {
        errors.push(whole(format!("{} rules, at most {RULES_MAX} are loaded", parsed.len())));
    }
    if !errors.is_empty() {
        return Err(LoadErrors(errors));
    }
    let slices = slices(&parsed).map_err(|why| LoadErrors(vec![whole(why)]))?;
    let (rules, policies): (Vec<_>, Vec<_>) =
        parsed.into_iter().map(|it| (it.rule, (!it.proven).then_some(it.policy))).unzip();
    let uses = Uses::of_any(rules.iter().map(|it| &it.uses));
    let policy = Policy::assemble(requests, rules, slices, uses);
    let flaws = check::run(&policy, &policies);
    if flaws.is_empty() { Ok(policy) } else { Err(LoadErrors(flaws)) }
}

fn whole(what: String) -> LoadError {
    LoadError { pack: "policy".to_owned(), line: 0, rule: None, what }
}

/// The rules of one pack.
fn read(
    pack: &PackText,
    validator: Option<&SchemaValidator>,
) -> Result<Vec<Parsed>, Vec<LoadError>> {
    let error = |line, rule, what| LoadError { pack: pack.name.clone(), line, rule, what };
    if pack.text.len() > PACK_BYTES_MAX {
        let bytes = pack.text.len();
        return Err(vec![error(
            0,
            None,
            format!("{bytes} bytes, at most {PACK_BYTES_MAX} are read"),
        )]);
    }
    let outlines = lines::outline(&pack.text);
    let too_deep = |it: &Outline| it.excess().map(|what| error(it.line, None, what));
    let deep: Vec<_> = outlines.iter().filter_map(too_deep).collect();
    if !deep.is_empty() {
        return Err(deep);
    }
    let set = PolicySet::from_str(&pack.text).map_err(|errors| {
        let each = errors.iter().map(|it| error(line_of(&pack.text, it), None, words(it)));
        each.collect::<Vec<_>>()
    })?;
    if set.templates().next().is_some() {
        return Err(vec![error(
            0,
            None,
            "templates with `?principal` are not used here".to_owned(),
        )]);
    }
    let name: Arc<str> = pack.name.as_str().into();
    if set.policies().count() != outlines.len() {
        return Err(vec![error(0, None, "the rules could not be told apart".to_owned())]);
    }
    let mut flaws = Vec::new();
    let mut found = Vec::new();
    for (policy, outline) in in_order(&set).into_iter().zip(&outlines) {
        match Rule::read(&name, outline.line, policy) {
            Ok(rule) => {
                let policy = policy.new_id(PolicyId::new(&*rule.id));
                found.push(Parsed { rule, policy, proven: validator.is_none() });
            }
            Err(flawed) => flaws.extend(flawed.flaws.into_iter().map(|what| {
                let id = Some(flawed.id.clone()).filter(|it| !it.is_empty());
                error(flawed.line, id, what)
            })),
        }
    }
    if let Some(validator) = validator {
        flaws.extend(validate(pack, &found, validator));
    }
    if flaws.is_empty() { Ok(found) } else { Err(flaws) }
}

/// Cedar calls them `policy0`, `policy1`, … in the order of the text and hands them out in any.
fn in_order(set: &PolicySet) -> Vec<&CedarPolicy> {
    let mut all: Vec<_> = set.policies().collect();
    let number = |it: &CedarPolicy| {
        let id: &str = it.id().as_ref();
        id.trim_start_matches("policy").parse::<usize>().unwrap_or(usize::MAX)
    };
    all.sort_by_key(|it| number(it));
    all
}

/// Cedar's strict validator; its warnings (impossible rules, confusable letters) are errors here.
fn validate(pack: &PackText, found: &[Parsed], validator: &SchemaValidator) -> Vec<LoadError> {
    let mut flaws = Vec::new();
    let validator = match &**validator {
        Ok(validator) => validator,
        Err(why) => return vec![whole(why.to_string())],
    };
    for Parsed { rule, policy, .. } in found {
        let mut flaw = |it: &dyn Diagnostic| {
            let line = label_line(&pack.text, it).unwrap_or(rule.line);
            let (pack, rule) = (pack.name.clone(), Some(rule.id.to_string()));
            flaws.push(LoadError { pack, line, rule, what: words(it) });
        };
        match PolicySet::from_policies([policy.clone()]) {
            Ok(set) => {
                let result = validator.validate(&set, ValidationMode::Strict);
                result.validation_errors().for_each(|it| flaw(it));
                result.validation_warnings().for_each(|it| flaw(it));
            }
            Err(why) => flaw(&why),
        }
    }
    flaws
}

fn doubles(parsed: &[Parsed]) -> Vec<LoadError> {
    let mut first: HashMap<&str, &Rule> = HashMap::new();
    let mut flaws = Vec::new();
    for Parsed { rule, .. } in parsed {
        if let Some(other) = first.insert(&rule.id, rule) {
            let what = format!("the id is taken by {}:{}", other.pack, other.line);
            let (pack, id) = (rule.pack.to_string(), rule.id.to_string());
            flaws.push(LoadError { pack, line: rule.line, rule: Some(id), what });
        }
    }
    flaws
}

/// Cuts the rules by effect: a decision looks only at those that can match.
fn slices(parsed: &[Parsed]) -> Result<Vec<Slice>, String> {
    let mut slices: Vec<Slice> = EffectKind::ALL.iter().map(|_| Slice::default()).collect();
    for Parsed { rule, policy, .. } in parsed {
        for kind in &rule.kinds {
            if let Some(slice) = slices.get_mut(*kind as usize) {
                let set = match policy.effect() {
                    Effect::Permit => &mut slice.permits,
                    Effect::Forbid => &mut slice.forbids,
                };
                set.add(policy.clone()).map_err(|why| why.to_string())?;
            }
        }
    }
    Ok(slices)
}

fn line_of(text: &str, error: &dyn Diagnostic) -> usize {
    label_line(text, error).unwrap_or(1)
}

/// The line to which Cedar points.
fn label_line(text: &str, error: &dyn Diagnostic) -> Option<usize> {
    let offset = error.labels()?.next()?.offset();
    Some(text.get(..offset)?.matches('\n').count() + 1)
}

/// What Cedar says, and its help.
fn words(error: &dyn Diagnostic) -> String {
    match error.help() {
        Some(help) => format!("{error} ({help})"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `Policy::build` leaves out for them.
    #[test]
    fn the_packs_of_the_program_pass_every_check() {
        if let Err(flaws) = build(&PackText::embedded(), |_| false) {
            panic!("{flaws}");
        }
    }

    #[test]
    fn a_pack_of_the_program_that_was_changed_is_checked() {
        let mut packs = PackText::embedded();
        let last = packs.last_mut().unwrap();
        last.text = last.text.replacen("@match(\"", "@match(\"mem_read\\n", 1);
        assert_ne!(last.text, PackText::embedded().last().unwrap().text);
        assert!(build(&packs, PackText::is_embedded).is_err());
    }
}
