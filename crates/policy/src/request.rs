//! Facts become a Cedar request. What does not depend on the call is made once.

use std::str::FromStr as _;
use std::sync::OnceLock;

use aegx::Principal;
use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression,
    Schema,
};
use model::{EffectKind, Group, Profile, Taint};

use crate::attribute::{Attribute, Uses};
use crate::facts::{Confirmed, Facts, Op, RISK_MAX, Sinks, Target, View};
use crate::schema::lower;

/// Everything about requests that does not depend on the call.
#[derive(Debug)]
pub(crate) struct Requests {
    entities: Entities,
    user: EntityTypeName,
    tool: EntityTypeName,
    actions: Vec<EntityUid>,
    causes: Vec<RestrictedExpression>,
    profiles: Vec<RestrictedExpression>,
    taints: Records,
    sinks: Records,
    targets: Records,
}

/// Why no request could be made. Neither can happen with the schema of this crate; if one does,
/// the call is denied.
#[derive(Debug, thiserror::Error)]
#[error("the policy's own vocabulary is broken: {0}")]
pub(crate) struct Broken(pub(crate) String);

impl Requests {
    pub(crate) fn new() -> Result<Self, Broken> {
        let action = type_name("Action")?;
        let actions =
            EffectKind::ALL.iter().map(|it| uid(&action, it.as_str())).collect::<Vec<_>>();
        let cause = type_name("Cause")?;
        let causes = Principal::ALL.iter().map(|it| expression(&cause, it.as_str())).collect();
        let profile = type_name("Profile")?;
        let profiles = Profile::ALL.iter().map(|it| expression(&profile, it.as_str())).collect();
        let (user, tool) = (type_name("User")?, type_name("Tool")?);
        let entities = action_entities(&action)?;
        let taint =
            |it: &str| Some((lower(it), usize::try_from(Taint::parse(it).ok()?.bits()).ok()?));
        let taints = Records::new(Taint::names().into_iter().filter_map(taint));
        let sinks = Records::numbered(Sinks::NAMES.into_iter());
        let targets = Records::numbered(Target::ALL.iter().map(|it| it.as_str()));
        Ok(Self { entities, user, tool, actions, causes, profiles, taints, sinks, targets })
    }

    pub(crate) fn entities(&self) -> &Entities {
        &self.entities
    }

    /// The requests for `facts`, with what `uses` asks for: one, or one for each of what the call
    /// names. They are of the schema by construction; a test holds them against it.
    pub(crate) fn make(&self, facts: &Facts<'_>, uses: &Uses) -> Result<Vec<Request>, Broken> {
        let too_much = || Broken("the call names more than can be judged".to_owned());
        if facts.named.cut && uses.names() {
            return Err(too_much());
        }
        let views = View::all(facts.named, uses.apart()).ok_or_else(too_much)?;
        views.iter().map(|it| self.build(facts, *it, uses, None)).collect()
    }

    fn build(
        &self,
        facts: &Facts<'_>,
        view: View<'_>,
        uses: &Uses,
        schema: Option<&Schema>,
    ) -> Result<Request, Broken> {
        let action = at(&self.actions, facts.effect as usize)?;
        let user = uid(&self.user, facts.user.as_str());
        let tool = uid(&self.tool, facts.tool);
        let context = self.context(facts, view, uses)?;
        Request::new(user, action, tool, context, schema).map_err(broken)
    }

    fn context(&self, facts: &Facts<'_>, view: View<'_>, uses: &Uses) -> Result<Context, Broken> {
        let pairs = uses
            .attributes()
            .iter()
            .map(|it| Ok((it.as_str().to_owned(), self.value(*it, facts, view)?)));
        Context::from_pairs(pairs.collect::<Result<Vec<_>, Broken>>()?).map_err(broken)
    }

    fn value(
        &self,
        attribute: Attribute,
        facts: &Facts<'_>,
        view: View<'_>,
    ) -> Result<RestrictedExpression, Broken> {
        let text = |it: &str| Ok(RestrictedExpression::new_string(it.to_owned()));
        let long = |it: u16| Ok(RestrictedExpression::new_long(i64::from(it)));
        let bool = |it: bool| Ok(RestrictedExpression::new_bool(it));
        let named = facts.named;
        match attribute {
            Attribute::Cause => at(&self.causes, facts.principal as usize),
            Attribute::Outsider => bool(facts.is_outsider()),
            Attribute::Agent => text(facts.agent.as_str()),
            Attribute::Tool => text(facts.tool),
            Attribute::Door => text(facts.door),
            Attribute::Profile => at(&self.profiles, facts.profile as usize),
            Attribute::Taint => {
                self.taints.of(usize::try_from(facts.taint.bits()).map_err(broken)?)
            }
            Attribute::TaintPermille => long(facts.taint_permille),
            Attribute::TaintPermilleMax => long(facts.taint_permille_max),
            Attribute::OverBudget => bool(facts.over_budget),
            Attribute::AskedFor => bool(facts.asked_for),
            Attribute::Risk => long(u16::from(facts.risk.min(RISK_MAX))),
            Attribute::Sink => self.sinks.of(facts.sinks.bits()),
            Attribute::Target => self.targets.of(facts.targets.bits()),
            Attribute::Programs => Ok(set(named.programs.iter().map(String::as_str))),
            Attribute::Commands => Ok(set(named.commands.iter().map(String::as_str))),
            Attribute::Classes => Ok(set(named.classes.iter().map(String::as_str))),
            Attribute::Paths => Ok(set(named.paths.iter().map(|it| it.path.as_str()))),
            Attribute::Ops => Ok(set(named.paths.iter().map(|it| it.op.as_str()))),
            Attribute::Hosts => Ok(set(named.hosts.iter().map(|it| it.host.as_str()))),
            Attribute::Recipients => Ok(set(named.recipients.iter().map(String::as_str))),
            Attribute::Path => text(view.path.map_or("", |it| it.path.as_str())),
            Attribute::Op => text(view.path.map_or("", |it| Op::as_str(it.op))),
            Attribute::Host => text(view.host.map_or("", |it| it.host.as_str())),
            Attribute::Port => long(view.host.map_or(0, |it| it.port)),
            Attribute::Scheme => text(view.host.map_or("", |it| it.scheme.as_str())),
            Attribute::Recipient => text(view.recipient.unwrap_or("")),
            Attribute::Unread => bool(named.unread),
            Attribute::Confirmed => bool(facts.confirmed == Confirmed::Exactly),
            Attribute::ConfirmedKind => bool(facts.confirmed != Confirmed::Nothing),
        }
    }
}

fn at<T: Clone>(list: &[T], index: usize) -> Result<T, Broken> {
    list.get(index).cloned().ok_or_else(|| Broken(format!("no value {index}")))
}

/// The actions and the groups that they are in, as the schema has them.
fn action_entities(action: &EntityTypeName) -> Result<Entities, Broken> {
    let group = |it: Group| uid(action, it.as_str());
    let groups = Group::ALL.iter().map(|it| Entity::with_uid(group(*it)));
    let actions = EffectKind::ALL.iter().map(|it| {
        let groups = Group::of(*it).map(group).collect();
        Entity::new_no_attrs(uid(action, it.as_str()), groups)
    });
    Entities::from_entities(groups.chain(actions), None).map_err(broken)
}

/// Records of flags, one for each set of them, made when they are first asked for.
#[derive(Debug)]
struct Records {
    /// Each with its bit.
    flags: Vec<(String, usize)>,
    made: Vec<OnceLock<RestrictedExpression>>,
}

impl Records {
    fn new(flags: impl Iterator<Item = (String, usize)>) -> Self {
        let flags: Vec<_> = flags.collect();
        let sets = 1 + flags.iter().fold(0, |all, (_, bit)| all | bit);
        Self { flags, made: (0..sets).map(|_| OnceLock::new()).collect() }
    }

    /// With the first flag as the lowest bit.
    fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self::new(names.enumerate().map(|(at, name)| (lower(name), 1 << at)))
    }

    fn of(&self, bits: usize) -> Result<RestrictedExpression, Broken> {
        let place = self.made.get(bits).ok_or_else(|| Broken(format!("no set {bits}")))?;
        if let Some(made) = place.get() {
            return Ok(made.clone());
        }
        let flags = self
            .flags
            .iter()
            .map(|(name, bit)| (name.clone(), RestrictedExpression::new_bool(bits & bit != 0)));
        let made = RestrictedExpression::new_record(flags).map_err(broken)?;
        Ok(place.get_or_init(|| made).clone())
    }
}

fn set<'a>(texts: impl Iterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.map(|it| RestrictedExpression::new_string(it.to_owned())))
}

fn type_name(name: &str) -> Result<EntityTypeName, Broken> {
    EntityTypeName::from_str(name).map_err(broken)
}

fn uid(kind: &EntityTypeName, id: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
}

fn expression(kind: &EntityTypeName, id: &str) -> RestrictedExpression {
    RestrictedExpression::new_entity_uid(uid(kind, id))
}

fn broken(why: impl std::fmt::Display) -> Broken {
    Broken(why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FactSheet;
    use crate::schema::schema;

    #[test]
    fn actions_are_in_their_groups_as_the_schema_says() {
        let requests = Requests::new().unwrap();
        assert_eq!(*requests.entities(), schema().unwrap().action_entities().unwrap());
    }

    #[test]
    fn every_request_is_of_the_schema() {
        let (requests, schema) = (Requests::new().unwrap(), schema().unwrap());
        for kind in EffectKind::ALL {
            let mut sheet = FactSheet::from_words(&format!(
                "{} programs=git commands=git+push classes=network paths=read:a,write:b \
                 hosts=a.example,https://b.example:443 recipients=ann@a.example unread=true",
                kind.as_str()
            ))
            .unwrap();
            for (principal, profile) in Principal::ALL.iter().zip(Profile::ALL.iter().cycle()) {
                (sheet.principal, sheet.profile) = (*principal, *profile);
                let (facts, uses) = (sheet.facts(), Uses::everything());
                for view in View::all(facts.named, uses.apart()).unwrap() {
                    requests.build(&facts, view, &uses, Some(&schema)).unwrap();
                }
            }
        }
    }

    #[test]
    fn the_lists_are_in_the_order_of_their_numbers() {
        assert!(EffectKind::ALL.iter().enumerate().all(|(at, it)| *it as usize == at));
        assert!(Principal::ALL.iter().enumerate().all(|(at, it)| *it as usize == at));
        assert!(Profile::ALL.iter().enumerate().all(|(at, it)| *it as usize == at));
        let requests = Requests::new().unwrap();
        assert_eq!(requests.taints.flags.len(), Taint::names().len());
        assert_eq!(requests.taints.made.len(), 1 << Taint::names().len());
        assert_eq!(requests.targets.made.len(), 1 << Target::ALL.len());
    }
}
