//! The tools that a model is offered: the actions of the table, as far as domains and user allow them.
//!
//! INVARIANT (OneTable): names, descriptions and schemas are those by which messages are read. What is offered here
//! decides nothing: a call is judged by the gate, offered or not.

use llm::ToolDefinition;
use model::Domain;
use model::ipc::ActionName;
use serde_json::{Map, Value};

/// The tools in these domains, without those that are denied by name, by last part of a name, by the name that others
/// have for them, or by domain.
#[must_use]
pub fn offered(domains: &[Domain], denied: &[String]) -> Vec<ToolDefinition> {
    let is_offered = |name: &ActionName| {
        let Some(domain) = name.kind().domain() else { return false };
        domains.contains(&domain) && !is_denied(denied, name.as_str(), Some(domain))
    };
    ActionName::ALL.iter().copied().filter(is_offered).map(definition).collect()
}

/// The tool that calls services in the user's name, which is of no domain; none if it is denied by name.
#[must_use]
pub fn services(denied: &[String]) -> Option<ToolDefinition> {
    let name = ActionName::OauthCall;
    (!is_denied(denied, name.as_str(), None)).then(|| definition(name))
}

/// One action as a tool.
#[must_use]
pub fn definition(name: ActionName) -> ToolDefinition {
    ToolDefinition {
        name: name.as_str().to_owned(),
        description: name.about().to_owned(),
        parameters: parameters(name),
    }
}

/// The message that a tool call means. A name of a server's tool stays whole: whose tool it is, the parent knows ([`settled`]).
///
/// # Errors
/// If there is no such tool, or its arguments are no object.
pub fn message(name: &str, input: &Value) -> Result<Value, String> {
    let action = match of_server(name) {
        Some(_) => Some(name),
        None => ActionName::parse(name).map(ActionName::as_str),
    };
    let Some(action) = action else {
        return Err(format!("there is no tool `{}`", name.escape_debug()));
    };
    let Value::Object(fields) = input else {
        return Err(format!("the arguments of `{action}` must be an object"));
    };
    let mut fields: Map<String, Value> = fields.clone();
    // Whatever the arguments say: which tool is called was said by its name.
    if fields.insert(ACTION.to_owned(), action.into()).is_some() {
        return Err(format!("`{action}` has no argument `action`"));
    }
    Ok(Value::Object(fields))
}

/// The message with the action's own name, where it names a tool of a server that is not offered: models that were trained with
/// servers of tools write `mcp__SERVER__TOOL` for any tool.
#[must_use]
pub fn settled(mut message: Value, is_offered: impl Fn(&str) -> bool) -> Value {
    let name = message.get(ACTION).and_then(Value::as_str);
    let meant = name.filter(|it| !is_offered(it)).and_then(of_server);
    let own = meant.and_then(|(_, tool)| ActionName::parse(tool));
    if let (Some(own), Some(fields)) = (own, message.as_object_mut()) {
        fields.insert(ACTION.to_owned(), own.as_str().into());
    }
    message
}

/// The tool of a server or plugin that a message calls, and with what. Whether there is such a tool, only the gate knows.
#[must_use]
pub fn server_call(message: &Value) -> Option<(String, Map<String, Value>)> {
    let Value::Object(fields) = message else { return None };
    let tool = fields.get(ACTION).and_then(Value::as_str).filter(|it| of_server(it).is_some())?;
    let mut args = fields.clone();
    args.remove(ACTION);
    Some((tool.to_owned(), args))
}

/// The server and the tool that a name names, if it reads as that of a server's tool.
fn of_server(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(SERVERS)?.split_once("__").filter(|(server, _)| !server.is_empty())
}

/// How names of tools of servers begin.
const SERVERS: &str = "mcp__";
/// The field that names the action.
const ACTION: &str = "action";

/// What a person is shown of a tool's name: that of the host's own tool, where a model wrote more than that.
pub(crate) fn shown(name: &str) -> &str {
    match of_server(name) {
        Some((_, tool)) if ActionName::parse(tool).is_some() => tool,
        Some(_) | None => name,
    }
}

/// The schema of the message, less the field that names the action.
fn parameters(name: ActionName) -> Value {
    let mut schema = name.schema();
    if let Value::Object(schema) = &mut schema {
        for key in ["$schema", "title", "description"] {
            schema.remove(key);
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.remove(ACTION);
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|it| it != ACTION);
        }
    }
    schema
}

fn is_denied(patterns: &[String], name: &str, domain: Option<Domain>) -> bool {
    patterns.iter().any(|pattern| {
        let pattern = pattern.to_ascii_lowercase();
        let elsewhere = || Domain::same_as(&pattern).iter().any(|it| it.as_str() == name);
        pattern == name
            || domain.is_some_and(|it| pattern == it.as_str())
            || name.rsplit('_').next() == Some(&pattern)
            || elsewhere()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_tool_that_is_offered_reads_as_its_action() {
        let all = offered(Domain::ALL, &[]);
        assert!(all.len() > 20, "{}", all.len());
        for tool in &all {
            let required = tool.parameters["required"].as_array().unwrap();
            assert!(!required.contains(&json!("action")), "{}", tool.name);
            let said = message(&tool.name, &json!({})).unwrap();
            let read = model::ipc::parse(said.to_string().as_bytes());
            assert_eq!(read.is_ok(), required.is_empty(), "{}: {read:?}", tool.name);
        }
    }

    #[test]
    fn domains_and_denials_take_tools_away() {
        let names = |domains: &[Domain], denied: &[&str]| -> Vec<String> {
            let denied: Vec<String> = denied.iter().map(|it| (*it).to_owned()).collect();
            offered(domains, &denied).into_iter().map(|it| it.name).collect()
        };
        assert!(names(&[], &[]).is_empty());
        assert!(names(&[Domain::Shell], &[]).contains(&"shell_exec".to_owned()));
        assert!(names(&[Domain::Shell], &["SHELL"]).is_empty());
        assert!(!names(&[Domain::Web], &["web_fetch"]).contains(&"web_fetch".to_owned()));
        assert!(!names(&[Domain::Workspace], &["edit_file"]).contains(&"file_edit".to_owned()));
        assert!(!names(Domain::ALL, &[]).contains(&"llm_call".to_owned()));
        // Services are of no domain.
        assert!(!names(Domain::ALL, &[]).contains(&"oauth_call".to_owned()));
        assert_eq!(services(&[]).unwrap().name, "oauth_call");
        assert!(services(&["CALL".to_owned()]).is_none());
    }

    #[test]
    fn a_call_names_its_tool_once() {
        let asked = json!({"action": "shell_exec", "url": "x"});
        assert!(message("web_fetch", &asked).is_err());
        assert!(message("rm", &json!({})).is_err());
        assert!(message("web_fetch", &json!("x")).is_err());
    }

    #[test]
    fn a_name_of_a_server_is_one_of_ours_only_where_no_server_has_it() {
        let name = "mcp__web__web_fetch";
        let said = message(name, &json!({"url": "x"})).unwrap();
        assert_eq!(settled(said.clone(), |_| false)["action"], "web_fetch");
        assert_eq!(settled(said.clone(), |it| it == name), said);
        let other = message("mcp__web__look", &json!({})).unwrap();
        assert_eq!(settled(other.clone(), |_| false), other);
        assert_eq!((shown(name), shown("mcp__web__look")), ("web_fetch", "mcp__web__look"));
    }

    #[test]
    fn a_tool_of_a_server_is_called_by_its_whole_name() {
        let name = "mcp__weather-plugin__web_fetch";
        let said = message(name, &json!({"city": "Rome"})).unwrap();
        let (tool, args) = server_call(&said).unwrap();
        assert_eq!((tool.as_str(), Value::Object(args)), (name, json!({"city": "Rome"})));
        assert!(message(name, &json!({"action": "x"})).is_err());
        assert!(server_call(&message("web_fetch", &json!({})).unwrap()).is_none());
        assert!(message("mcp____web_fetch", &json!({})).is_err());
    }
}
