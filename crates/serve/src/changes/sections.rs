//! The sections of `config.yaml`, each compared with what it was.

use policy::access::{
    Domain, Egress, FileSettings, Global, Models, Notifications, Sections, Security, TaintBudget,
    is_higher,
};

use super::{Found, has_more, serving, unblocks};

/// Whatever is different in the settings.
pub(super) fn compare(was: &Global, is: &Global, found: &mut Found) {
    let now = is.sections();
    // Without `..`, here and below: a part that is new has to be compared before this compiles.
    let Sections {
        tools: _,
        providers,
        egress,
        services,
        browser,
        sandbox,
        shell,
        scheduler,
        readers,
        notifications,
        sanitize,
        answers,
        serve,
        models,
        delegation,
        channels,
        history,
        security,
        scopes,
        hooks,
        host,
    } = was.sections();
    for domain in Domain::ALL {
        of_domain(was, is, *domain, found);
    }
    found.section("config.yaml: providers", providers != now.providers);
    let reaches_more = reaches_more(egress, now.egress);
    found.known("config.yaml: egress", egress != now.egress, reaches_more);
    found.section("config.yaml: services", services != now.services);
    found.section("config.yaml: browser", browser != now.browser);
    let holds_less = now.sandbox.holds_less_than(sandbox);
    found.known("config.yaml: sandbox", sandbox != now.sandbox, holds_less);
    found.section("config.yaml: shell", shell != now.shell);
    found.section("config.yaml: scheduler", scheduler != now.scheduler);
    found.section("config.yaml: intent", readers != now.readers);
    let Notifications { desktop } = notifications;
    let is_quieter = desktop && !now.notifications.desktop;
    found.known("config.yaml: notifications", notifications != now.notifications, is_quieter);
    found.section("config.yaml: sanitize", sanitize != now.sanitize);
    found.section("config.yaml: answers", answers != now.answers);
    serving::compare(serve, now.serve, found);
    of_models(models, now.models, found);
    found.section("config.yaml: delegation", delegation != now.delegation);
    found.section("config.yaml: channel_config", channels != now.channels);
    found.section("config.yaml: history", history != now.history);
    of_security(security, now.security, found);
    found.section("config.yaml: capabilityScopes", scopes != now.scopes);
    found.section("config.yaml: hooks", hooks != now.hooks);
    found.section("config.yaml: host", host != now.host);
}

fn of_domain(was: &Global, is: &Global, domain: Domain, found: &mut Found) {
    let name = domain.as_str();
    match (was.is_enabled(domain), is.is_enabled(domain)) {
        (false, true) => found.weaker(format!("config.yaml: tools.{name} is on")),
        (true, false) => found.other(format!("config.yaml: tools.{name} is off")),
        _ if was.tool(domain) != is.tool(domain) => {
            found.weaker(format!("config.yaml: tools.{name} changed"));
        }
        _ => {}
    }
}

fn of_models(was: &Models, is: &Models, found: &mut Found) {
    let Models { chains, also, anthropic, openai, local, guardrail, script, prices } = was;
    found.section("config.yaml: models of tasks", *chains != is.chains);
    found.section("config.yaml: models.also", *also != is.also);
    found.section("config.yaml: models.anthropic", *anthropic != is.anthropic);
    found.section("config.yaml: models.openai", *openai != is.openai);
    found.section("config.yaml: models.local", *local != is.local);
    found.section("config.yaml: models.guardrail", *guardrail != is.guardrail);
    found.section("config.yaml: models.mock", *script != is.script);
    found.section("config.yaml: models.prices", *prices != is.prices);
}

fn of_security(was: &Security, is: &Security, found: &mut Found) {
    let Security { profile, taint_budget, risk, files } = was;
    // One that is not chosen bounds nothing, and is the usual one.
    let is_laxer = is.profile.is_none_or(|it| it > profile.unwrap_or_default());
    found.known("config.yaml: securityProfile", *profile != is.profile, is_laxer);
    let TaintBudget { threshold, sensitive_actions } = taint_budget;
    let now = &is.taint_budget;
    found.section("config.yaml: taintBudget.threshold", *threshold != now.threshold);
    let is_different = *sensitive_actions != now.sensitive_actions;
    found.section("config.yaml: taintBudget.sensitiveActions", is_different);
    found.section("config.yaml: risk", *risk != is.risk);
    let FileSettings { deny_read } = files;
    let is_open = unblocks(Some(deny_read), Some(&is.files.deny_read));
    found.known("config.yaml: files.denyRead", *deny_read != is.files.deny_read, is_open);
}

/// Can more be reached by these, or may it?
fn reaches_more(was: &Egress, is: &Egress) -> bool {
    let Egress {
        allowed_domains,
        blocked_domains,
        ports,
        methods,
        payload_bytes,
        search,
        inner,
        flag_patterns,
    } = was;
    has_more(allowed_domains.as_deref(), is.allowed_domains.as_deref())
        || unblocks(blocked_domains.as_deref(), is.blocked_domains.as_deref())
        // Where no ports are named, those of the web are meant.
        || *ports != is.ports && (ports.is_none() || is.ports.is_none())
        || has_more(ports.as_deref(), is.ports.as_deref())
        || has_more(methods.as_deref(), is.methods.as_deref())
        || is_higher(*payload_bytes, is.payload_bytes)
        || *search != is.search
        || *inner != is.inner
        || unblocks(Some(flag_patterns), Some(&is.flag_patterns))
}
