//! What in settings may be a secret, by its name or its form. Rather too much than too little.

/// Members whose values are masked, all of them.
const HOLDERS: &[&str] =
    &["env", "environment", "headers", "http_headers", "oauth", "oauthaccount"];
/// Words in a name that mean that its value is masked.
const SECRET_WORDS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "api_key",
    "api-key",
    "authorization",
    "credential",
];

/// Stands for what is not shown.
const HIDDEN: &str = "…";

/// Arguments of a command, those that may be secrets hidden.
pub(crate) fn shown_args(args: &[String]) -> Vec<String> {
    let mut is_next = false;
    let shown = args.iter().map(|it| {
        let is_hidden = is_next || is_secret_text(it);
        is_next = announces_secret(it);
        if is_hidden { HIDDEN.to_owned() } else { it.clone() }
    });
    shown.collect()
}

/// An address without its query and without who asks.
pub(crate) fn shown_url(url: &str) -> String {
    let (place, query) = url.split_once('?').map_or((url, ""), |it| (it.0, "?…"));
    match place.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) =
                rest.split_once('/').map_or((rest, None), |it| (it.0, Some(it.1)));
            let host = authority.rsplit('@').next().unwrap_or_default();
            let path = path.map(|it| format!("/{it}")).unwrap_or_default();
            format!("{scheme}://{host}{path}{query}")
        }
        None => format!("{place}{query}"),
    }
}

/// Is what has this name masked?
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    HOLDERS.contains(&name.as_str()) || SECRET_WORDS.iter().any(|it| name.contains(it))
}

/// Does a text hold a secret by itself: an option with its value, or an address with a password or a query?
pub(crate) fn is_secret_text(text: &str) -> bool {
    let option = text.strip_prefix('-').and_then(|it| it.split_once('='));
    let authority = text.split_once("://").map(|it| it.1.split('/').next().unwrap_or_default());
    option.is_some_and(|it| is_secret_name(it.0) || it.0.ends_with("key"))
        || authority.is_some_and(|it| it.contains('@') || text.contains('?'))
        || text.to_lowercase().starts_with("bearer ")
        || text.to_lowercase().starts_with("authorization:")
}

/// Is the next argument a secret?
pub(crate) fn announces_secret(text: &str) -> bool {
    text.starts_with('-') && (is_secret_name(text) || text.ends_with("key")) && !text.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let args =
            ["run", "--token", "x1", "--api-key=x2", "-k", "v", "https://u:x3@h/p", "--verbose"];
        let args = args.map(str::to_owned);
        assert_eq!(shown_args(&args), ["run", "--token", "…", "…", "-k", "v", "…", "--verbose"]);
        assert_eq!(shown_url("https://u:x@h.example/a/b?k=x"), "https://h.example/a/b?…");
        assert_eq!(shown_url("https://h.example"), "https://h.example");
    }
}
