//! The five layers: each closes what it should, and none opens what another closed.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use model::ipc::ActionName;
use model::{AgentId, EffectKind};
use policy::access::{
    Global, KnownTools, Layer, Layers, Manifest, Origin, Request, Tool, User, Users, decide,
};
use serde_json::{Map, Value, json};

/// Everything that a call meets, in the words of the files.
struct Scene {
    global: &'static str,
    manifest: &'static str,
    user: &'static str,
    origin: Origin,
    sub_agent: Option<&'static str>,
}

const OPEN: Scene = Scene {
    global: "tools: {}",
    manifest: "name: Billing",
    user: "agents: '*'",
    origin: Origin::Local,
    sub_agent: None,
};

fn user(entry: &str) -> User {
    let hash = "ab".repeat(32);
    let text = format!(
        "users:\n  - token_hash: {hash}\n    name: bob\n    budget: unlimited\n    {}\n",
        entry.replace('\n', "\n    ")
    );
    Users::parse(&text, &KnownTools::default()).unwrap().get("bob").unwrap().clone()
}

#[test]
fn users_without_a_token_of_their_own_are_told_apart_by_their_names() {
    let entry = |name: &str| format!("  - {{name: {name}, agents: '*', budget: unlimited}}\n");
    let read = |text: String| Users::parse(&format!("users:\n{text}"), &KnownTools::default());
    let users = read(entry("ann") + &entry("bob")).unwrap();
    assert!(users.iter().all(|it| it.token_hash.is_empty()));
    assert!(read(entry("ann") + &entry("Ann")).is_err());
    let empty = "  - {name: ann, token_hash: '', agents: '*', budget: unlimited}\n";
    assert!(read(empty.to_owned()).is_err(), "an empty hash is none");
}

impl Scene {
    /// The layer that objects, and why.
    fn ask(&self, tool: &str, effect: EffectKind, args: Value) -> Result<(), (String, String)> {
        let agent = AgentId::parse("billing").unwrap();
        let manifest = format!("---\n{}\n---\nbody\n", self.manifest);
        let manifest = Manifest::parse(&agent, &manifest).unwrap();
        let global = Global::parse(self.global).unwrap();
        let user = user(self.user);
        let layers = Layers { global: &global, manifest: &manifest, user: &user };
        let args: Map<String, Value> = args.as_object().unwrap().clone();
        let tool = Tool::new("billing", tool, effect);
        let request =
            Request { tool: &tool, args: &args, origin: self.origin, sub_agent: self.sub_agent };
        decide(&layers, &request)
            .map(drop)
            .map_err(|it| (it.rule.into_owned(), it.code.into_owned()))
    }

    fn denies(&self, layer: Layer, code: &str, tool: &str, effect: EffectKind) {
        let wanted = Err((layer.rule().to_owned(), code.to_owned()));
        assert_eq!(self.ask(tool, effect, json!({})), wanted, "{tool}");
    }

    fn passes(&self, tool: &str, effect: EffectKind) {
        assert_eq!(self.ask(tool, effect, json!({})), Ok(()), "{tool}");
    }
}

#[test]
fn a_domain_that_is_off_is_off_by_every_name() {
    let scene = Scene { global: "tools: {shell: {enabled: false}}", ..OPEN };
    for (tool, effect) in [
        ("mcp__billing-shell__shell_exec", EffectKind::ToolWrite),
        ("mcp__evil__shell_exec", EffectKind::ToolWrite),
        ("mcp__evil__Shell_Exec", EffectKind::ToolRead),
        ("mcp__other-shell__run", EffectKind::ToolRead),
        ("Bash", EffectKind::ShellExec),
        ("shell_exec", EffectKind::ToolWrite),
    ] {
        scene.denies(Layer::Global, "domain_off", tool, effect);
    }
    scene.passes("mcp__billing-web__web_fetch", EffectKind::WebFetch);
}

#[test]
fn an_allow_list_opens_only_what_truly_belongs_to_it() {
    let scene = Scene { manifest: "tools: {allow: [web]}", ..OPEN };
    scene.passes("mcp__billing-web__web_fetch", EffectKind::WebFetch);
    // Somebody else's server does not become `web` by its name.
    for tool in ["mcp__evil-web__fetch", "mcp__web__fetch", "mcp__evil__web_fetch"] {
        scene.denies(Layer::Agent, "not_in_manifest", tool, EffectKind::ToolRead);
    }
    // A name of the host's with another effect needs both domains.
    scene.denies(Layer::Agent, "not_in_manifest", "mcp__billing-web__x", EffectKind::ShellExec);
    scene.denies(Layer::Agent, "not_in_manifest", "unheard_of", EffectKind::ToolRead);
}

#[test]
fn servers_that_are_named_are_the_only_ones() {
    let manifest = "mcp: [{server: crm, uri: 'https://crm.example/'}]";
    let scene = Scene { manifest, ..OPEN };
    scene.passes("mcp__crm__find", EffectKind::ToolRead);
    scene.passes("mcp__CRM__find", EffectKind::ToolRead);
    scene.denies(Layer::Agent, "not_in_manifest", "mcp__crm2__find", EffectKind::ToolRead);
    OPEN.passes("mcp__crm2__find", EffectKind::ToolRead);
}

#[test]
fn a_remote_shell_is_opened_in_so_many_words() {
    let remote = |manifest| Scene { manifest, origin: Origin::Remote, ..OPEN };
    let tool = "mcp__billing-shell__shell_exec";
    for manifest in [
        "name: Billing",
        "tools: {allow: [shell]}",
        "sandbox: {enforce: true}",
        "{tools: {deny: [web]}, sandbox: {enforce: true}}",
        "{tools: {allow: [shell]}, sandbox: {enforce: false}}",
        "{tools: {allow: [shell]}, sandbox: {enforce: true, shell: false}}",
    ] {
        remote(manifest).denies(Layer::Sandbox, "remote_shell", tool, EffectKind::ShellExec);
    }
    remote("{tools: {allow: [shell]}, sandbox: {enforce: true}}")
        .passes(tool, EffectKind::ShellExec);
    OPEN.passes(tool, EffectKind::ShellExec);
}

#[test]
fn a_command_is_no_server_for_the_network() {
    let manifest = "mcp: [{server: notes, command: notes-mcp}]";
    Scene { manifest, ..OPEN }.passes("mcp__notes__list", EffectKind::ToolRead);
    let remote = Scene { manifest, origin: Origin::Remote, ..OPEN };
    remote.denies(
        Layer::Sandbox,
        "remote_command_server",
        "mcp__notes__list",
        EffectKind::ToolRead,
    );
}

#[test]
fn a_user_is_denied_by_full_name_last_part_or_domain() {
    let tool = "mcp__billing-shell__shell_exec";
    for deny in ["shell", "shell_exec", "SHELL_EXEC", "mcp__billing-shell__shell_exec"] {
        let entry: &'static str = format!("agents: '*'\ntools_deny: [{deny}]").leak();
        Scene { user: entry, ..OPEN }.denies(
            Layer::User,
            "denied_to_user",
            tool,
            EffectKind::ShellExec,
        );
    }
    let scene = Scene { user: "agents: '*'\ntools_deny: [shell]", ..OPEN };
    scene.denies(Layer::User, "denied_to_user", "Bash", EffectKind::ShellExec);
    scene.denies(Layer::User, "denied_to_user", "mcp__evil__shell_exec", EffectKind::ToolRead);
    scene.passes("mcp__billing-web__web_fetch", EffectKind::WebFetch);
}

/// A users file that was written for another program denies what does the same here.
#[test]
fn an_action_is_denied_by_the_name_that_others_have_for_it() {
    for (name, action) in [
        ("write_file", ActionName::FileWrite),
        ("grep_files", ActionName::FileSearch),
        ("memory_replace", ActionName::MemoryDelete),
        ("prompt_propose", ActionName::SkillPropose),
    ] {
        let user: &'static str = format!("agents: '*'\ntools_deny: [{name}]").leak();
        let scene = Scene { user, ..OPEN };
        scene.denies(Layer::User, "denied_to_user", action.as_str(), action.kind());
        scene.passes("memory_list", EffectKind::MemoryList);
    }
}

/// Whatever an agent can ask for, a users file can deny by its name.
#[test]
fn each_action_is_denied_by_its_name() {
    // Whoever hands work on needs somebody to hand it to.
    let open = Scene { manifest: "agents: {helper: {}}", ..OPEN };
    for name in ActionName::ALL {
        let (name, kind) = (name.as_str(), name.kind());
        let user: &'static str = format!("agents: '*'\ntools_deny: [{name}]").leak();
        open.passes(name, kind);
        Scene { user, ..open }.denies(Layer::User, "denied_to_user", name, kind);
        let tool: &'static str = format!("mcp__billing-own__{name}").leak();
        Scene { user, ..open }.denies(Layer::User, "denied_to_user", tool, kind);
    }
}

#[test]
fn both_sides_say_who_may_use_an_agent() {
    let tool = "mcp__billing-web__web_fetch";
    for (manifest, user) in [
        ("access: private", "agents: '*'"),
        ("{access: users, users: [alice]}", "agents: '*'"),
        ("{access: users, users: [Bob]}", "agents: '*'"),
        ("access: users", "agents: [billing]"),
        ("access: public", "agents: [billing2]"),
        ("access: public", "agents: []"),
    ] {
        let scene = Scene { manifest, user, ..OPEN };
        scene.denies(Layer::User, "agent_not_open", tool, EffectKind::WebFetch);
    }
    let scene =
        Scene { manifest: "{access: users, users: [bob]}", user: "agents: [billing]", ..OPEN };
    scene.passes(tool, EffectKind::WebFetch);
}

#[test]
fn operations_cannot_be_smuggled() {
    let ask = |rule: &str, args: Value| {
        let manifest: &'static str = format!("toolOperations: {{braintree: {{{rule}}}}}").leak();
        let scene = Scene { manifest, ..OPEN };
        scene.ask("mcp__billing-web__braintree", EffectKind::ToolWrite, args).is_ok()
    };
    for (rule, args, passes) in [
        ("allow: [search]", json!({"operation": "search"}), true),
        ("allow: [search]", json!({"operation": "SEARCH"}), true),
        ("allow: [search]", json!({"operation": "search", "action": "search"}), true),
        ("allow: [search]", json!({"operation": "search", "action": "delete"}), false),
        ("allow: [search]", json!({"operation": "search", "METHOD": "delete"}), false),
        ("allow: [search]", json!({"operation": "search "}), false),
        ("allow: [search]", json!({"operation": ["search"]}), false),
        ("allow: [search]", json!({"operation": null}), false),
        ("allow: [search]", json!({}), false),
        ("allow: [search]", json!({"query": "delete"}), false),
        ("allow: []", json!({"operation": "search"}), false),
        ("deny: [delete]", json!({"operation": "get"}), true),
        ("deny: [delete]", json!({}), true),
        ("deny: [delete]", json!({"operation": "DELETE"}), false),
        ("deny: [delete]", json!({"operation": "delete "}), false),
        ("deny: [delete]", json!({"operation": "ｄｅｌｅｔｅ"}), false),
        ("deny: [delete]", json!({"operation": "get", "action": "delete"}), false),
        ("deny: [delete]", json!({"operation": 7}), false),
    ] {
        assert_eq!(ask(rule, args.clone()), passes, "{rule} {args}");
    }
}

#[test]
fn a_sub_agent_has_at_most_what_its_agent_has() {
    let manifest = "agents: {reader: {tools: [web]}, helper: {model: small}}";
    let sub = |name| Scene { manifest, sub_agent: Some(name), ..OPEN };
    let memory = "mcp__billing-memory__memory_read";
    sub("reader").passes("mcp__billing-web__web_fetch", EffectKind::WebFetch);
    sub("reader").denies(Layer::Agent, "not_for_sub_agent", memory, EffectKind::MemoryRead);
    sub("reader").denies(Layer::Agent, "not_for_sub_agent", "mcp__crm__find", EffectKind::ToolRead);
    sub("helper").passes(memory, EffectKind::MemoryRead);
    let denied = Scene { user: "agents: '*'\ntools_deny: [web]", ..sub("reader") };
    denied.denies(
        Layer::User,
        "denied_to_user",
        "mcp__billing-web__web_fetch",
        EffectKind::WebFetch,
    );
}

#[test]
fn talking_and_thinking_are_no_tools() {
    let scene = Scene { manifest: "{tools: {allow: []}, access: public}", ..OPEN };
    for effect in [EffectKind::LlmCall, EffectKind::MessageIn, EffectKind::MessageOut] {
        scene.passes(effect.as_str(), effect);
        let other = Scene { manifest: "access: private", ..OPEN };
        other.denies(Layer::User, "agent_not_open", effect.as_str(), effect);
    }
    scene.denies(Layer::Agent, "not_in_manifest", "memory_read", EffectKind::MemoryRead);
}

/// Whatever a layer is given in addition, nothing opens that was closed.
#[test]
fn a_lower_layer_can_only_restrict() {
    let globals = ["tools: {}", "tools: {web: {enabled: false}}"];
    let manifests =
        ["name: A", "tools: {deny: [shell]}", "tools: {allow: [web]}", "access: private"];
    let entries = ["agents: '*'", "agents: [billing]\ntools_deny: [web_fetch]", "agents: []"];
    let tools = [
        ("mcp__billing-web__web_fetch", EffectKind::WebFetch),
        ("Bash", EffectKind::ShellExec),
        ("mcp__crm__find", EffectKind::ToolRead),
    ];
    let mut scenes = Vec::new();
    for global in globals {
        for manifest in manifests {
            scenes.extend(entries.map(|user| Scene { global, manifest, user, ..OPEN }));
        }
    }
    for (tool, effect) in tools {
        for whole in &scenes {
            let Scene { global, manifest, user, .. } = *whole;
            let passes = whole.ask(tool, effect, json!({})).is_ok();
            let alone =
                [Scene { global, ..OPEN }, Scene { manifest, ..OPEN }, Scene { user, ..OPEN }];
            let each = alone.iter().all(|it| it.ask(tool, effect, json!({})).is_ok());
            assert_eq!(passes, each, "{tool}: {global} / {manifest} / {user}");
        }
    }
}

#[test]
fn work_is_handed_to_sub_agents_and_models_that_the_manifest_names() {
    let manifest = "model: own\nagents: {reader: {tools: [web]}, helper: {model: small}}";
    let ask = |manifest, args| {
        Scene { manifest, ..OPEN }.ask("agent_delegate", EffectKind::AgentDelegate, args)
    };
    let denied = |code: &str| Err((Layer::Agent.rule().to_owned(), code.to_owned()));
    assert_eq!(ask(manifest, json!({"agent": "reader"})), Ok(()));
    for other in
        [json!({}), json!({"agent": "root"}), json!({"agent": "Reader"}), json!({"agent": 7})]
    {
        assert_eq!(ask(manifest, other.clone()), denied("no_sub_agent"), "{other}");
    }
    assert_eq!(ask("agents: {only: {}}", json!({})), Ok(()));
    assert_eq!(ask("name: Billing", json!({})), denied("no_sub_agent"));
    for (model, expected) in [
        ("own", Ok(())),
        ("small", Ok(())),
        ("fast", Ok(())),
        ("default", denied("not_its_model")),
        ("expensive/model", denied("not_its_model")),
    ] {
        assert_eq!(ask(manifest, json!({"agent": "reader", "model": model})), expected, "{model}");
    }
    // A question to a model is asked of the same ones.
    for (model, expected) in [("own", Ok(())), ("expensive/model", denied("not_its_model"))] {
        let scene = Scene { manifest, ..OPEN };
        let asked = scene.ask("model_query", EffectKind::ModelQuery, json!({ "model": model }));
        assert_eq!(asked, expected, "{model}");
    }
    // Where only some domains are listed, that of other agents must be among them.
    let listed = "tools: {allow: [web]}\nagents: {reader: {tools: [web]}}";
    assert_eq!(ask(listed, json!({"agent": "reader"})), denied("not_in_manifest"));
    // A tool of somebody else that is called alike is not ours.
    Scene { manifest, ..OPEN }.passes("mcp__crm__agent_delegate", EffectKind::ToolRead);
}
