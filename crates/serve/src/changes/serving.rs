//! How agents are served: `serve` in `config.yaml`, compared with what it was.

use policy::access::{Logging, Privacy, RateLimits, ServeSettings};

use super::{Found, has_more};

/// Whatever is different in `serve`.
pub(super) fn compare(was: &ServeSettings, is: &ServeSettings, found: &mut Found) {
    // Without `..`, here and below: what is new has to be compared before this compiles.
    let ServeSettings {
        tls,
        behind_proxy,
        allowed_hosts,
        allowed_origins,
        allow_query_token,
        max_workers,
        rate_limits,
        privacy,
        prices,
        logging,
    } = was;
    found.known("config.yaml: serve.tls", *tls != is.tls, tls.is_some());
    found.section("config.yaml: serve.behindProxy", *behind_proxy != is.behind_proxy);
    let mut list = |name: &str, was: &[String], is: &[String]| {
        let more = has_more(Some(was), Some(is));
        found.known(&format!("config.yaml: serve.{name}"), was != is, more);
    };
    list("allowedHosts", &allowed_hosts.0, &is.allowed_hosts.0);
    list("allowedOrigins", &allowed_origins.0, &is.allowed_origins.0);
    let is_different = *allow_query_token != is.allow_query_token;
    found.known("config.yaml: serve.allowQueryToken", is_different, is.allow_query_token.0);
    let (more, fewer) = (is.max_workers.get(), max_workers.get());
    found.known("config.yaml: serve.maxWorkers", more != fewer, more > fewer);
    of_limits(rate_limits, &is.rate_limits, found);
    of_privacy(privacy, &is.privacy, found);
    found.section("config.yaml: serve.prices", *prices != is.prices);
    let Logging { level } = logging;
    let (level, now) = (*level, is.logging.level);
    found.known("config.yaml: serve.logging.level", level != now, now > level);
}

fn of_limits(was: &RateLimits, is: &RateLimits, found: &mut Found) {
    let RateLimits {
        max_requests_per_window,
        window_ms,
        max_message_length,
        max_connections_per_user,
        messages_per_minute,
        concurrent_sessions,
        auth_failures_per_minute,
        ws_idle_timeout_ms,
    } = was;
    let mut limit = |name: &str, was: u64, is: u64| {
        let name = format!("config.yaml: serve.rateLimits.{name}");
        found.known(&name, was != is, is > was);
    };
    limit("maxRequestsPerWindow", max_requests_per_window.get(), is.max_requests_per_window.get());
    // The longer the window, the fewer requests.
    limit("windowMs", is.window_ms.get(), window_ms.get());
    limit("maxMessageLength", max_message_length.get(), is.max_message_length.get());
    let now = is.max_connections_per_user.get();
    limit("maxConnectionsPerUser", max_connections_per_user.get(), now);
    limit("messagesPerMinute", messages_per_minute.get(), is.messages_per_minute.get());
    limit("concurrentSessions", concurrent_sessions.get(), is.concurrent_sessions.get());
    let now = is.auth_failures_per_minute.get();
    limit("authFailuresPerMinute", auth_failures_per_minute.get(), now);
    limit("wsIdleTimeoutMs", ws_idle_timeout_ms.get(), is.ws_idle_timeout_ms.get());
}

fn of_privacy(was: &Privacy, is: &Privacy, found: &mut Found) {
    let Privacy {
        session_retention_days,
        workspace_retention_days,
        usage_retention_days,
        policy_version,
    } = was;
    // To keep something longer, and to forget it sooner, may both be what nobody wanted.
    let mut kept = |name: &str, is_different: bool| {
        found.section(&format!("config.yaml: serve.privacy.{name}"), is_different);
    };
    kept("sessionRetentionDays", *session_retention_days != is.session_retention_days);
    kept("workspaceRetentionDays", *workspace_retention_days != is.workspace_retention_days);
    kept("usageRetentionDays", *usage_retention_days != is.usage_retention_days);
    kept("policyVersion", *policy_version != is.policy_version);
}
