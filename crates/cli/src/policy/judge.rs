//! Asks rules and layers about one call.

use model::{Decision, Objection};
use policy::access::{self, Layer, Layers, Manifest, Origin, Request, Tool, User};
use policy::{Explained, FactSheet};
use serde_json::{Map, Value};

use super::folder::Loaded;

/// A call to be judged.
pub(crate) struct Call {
    pub(crate) sheet: FactSheet,
    pub(crate) args: Map<String, Value>,
    pub(crate) origin: Origin,
    pub(crate) sub_agent: Option<String>,
}

/// What was found.
pub(crate) struct Judged<'a> {
    pub(crate) explained: Explained<'a>,
    pub(crate) layers: Vec<(Layer, Asked)>,
}

/// What a layer said.
pub(crate) enum Asked {
    Passes,
    Objects(Box<Objection>),
    /// The folder says nothing of it.
    NotThere(&'static str),
}

impl Call {
    /// Reads `{"effect": …}` with all facts, and beside them `args`, `remote` and `sub_agent`.
    pub(crate) fn read(fields: &Map<String, Value>) -> Result<Self, String> {
        let mut fields = fields.clone();
        let args = match fields.remove("args") {
            None => Map::new(),
            Some(Value::Object(args)) => args,
            Some(_) => return Err("`args` is an object".to_owned()),
        };
        let origin = match fields.remove("remote") {
            None | Some(Value::Bool(false)) => Origin::Local,
            Some(Value::Bool(true)) => Origin::Remote,
            Some(_) => return Err("`remote` is true or false".to_owned()),
        };
        let sub_agent = match fields.remove("sub_agent") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err("`sub_agent` is a string".to_owned()),
        };
        let sheet = FactSheet::from_value(&fields.into()).map_err(|why| why.to_string())?;
        Ok(Self { sheet, args, origin, sub_agent })
    }
}

impl Judged<'_> {
    /// The strictest of all.
    pub(crate) fn decision(&self) -> Decision {
        self.objections().map(|it| it.decision).fold(self.explained.decision(), Decision::max)
    }

    /// The rule or layer that decides.
    pub(crate) fn rule(&self) -> &str {
        let decision = self.decision();
        let first = self.objections().find(|it| it.decision == decision);
        first.map_or_else(|| self.explained.verdict.rule(), |it| &it.rule)
    }

    /// What stands against the call: layers first, then rules.
    pub(crate) fn objections(&self) -> impl Iterator<Item = &Objection> {
        let layers = self.layers.iter().filter_map(|(_, asked)| match asked {
            Asked::Objects(objection) => Some(&**objection),
            Asked::Passes | Asked::NotThere(_) => None,
        });
        layers.chain(&self.explained.verdict.objections)
    }
}

pub(crate) fn judge<'a>(loaded: &'a Loaded, call: &Call) -> Judged<'a> {
    let explained = loaded.policy.explain(&call.sheet.facts());
    let layers = Layer::ALL.iter().map(|it| (*it, ask(loaded, call, *it))).collect();
    Judged { explained, layers }
}

fn ask(loaded: &Loaded, call: &Call, layer: Layer) -> Asked {
    let agent = &call.sheet.agent;
    let listed = loaded.manifests.as_ref().map(|it| it.get(agent.as_str()));
    let known = loaded.users.as_ref().map(|it| it.get(call.sheet.user.as_str()));
    match layer {
        Layer::Global if loaded.global.is_none() => return Asked::NotThere("no config.yaml"),
        Layer::Agent if listed == Some(None) => return refused(layer, "there is no such agent"),
        Layer::Agent | Layer::Sandbox | Layer::Operation if listed.is_none() => {
            return Asked::NotThere("no agents");
        }
        Layer::User if known == Some(None) => return refused(layer, "there is no such user"),
        Layer::User if known.is_none() => return Asked::NotThere("no users.yaml"),
        Layer::Global | Layer::Agent | Layer::Sandbox | Layer::User | Layer::Operation => {}
    }
    let global = loaded.global.clone().unwrap_or_default();
    let manifest = listed.flatten().cloned().unwrap_or_else(|| Manifest::silent(agent));
    let user = known.flatten().cloned().unwrap_or_else(|| User::local(call.sheet.user.clone()));
    let layers = Layers { global: &global, manifest: &manifest, user: &user };
    let tool = Tool::new(agent.as_str(), &call.sheet.tool, call.sheet.effect);
    let (args, sub_agent) = (&call.args, call.sub_agent.as_deref());
    let request = Request { tool: &tool, args, origin: call.origin, sub_agent };
    // Scopes stand in the settings.
    let in_scope = |()| match layer {
        Layer::Global => access::in_scope(&layers, &request),
        Layer::Agent | Layer::Sandbox | Layer::User | Layer::Operation => Ok(()),
    };
    match layer.check(&layers, &request).and_then(in_scope) {
        Ok(()) => Asked::Passes,
        Err(objection) => Asked::Objects(Box::new(objection)),
    }
}

fn refused(layer: Layer, why: &str) -> Asked {
    Asked::Objects(Box::new(Objection::new(layer.rule(), Decision::Deny, "unknown", why)))
}
