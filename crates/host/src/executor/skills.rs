//! Skills of the host. What comes back brings its label along.

use model::ipc::{SkillList, SkillPropose, SkillRead};
use monitor::{Output, Permit, Status};
use serde_json::{Map, Value, json};

use crate::skills::{Listed, SkillError, SkillName, Skills};

pub(super) fn list(skills: &Skills, permit: Permit<SkillList>) -> Output {
    let SkillList { .. } = permit.spend();
    match skills.list() {
        Ok(found) => {
            let shown: Vec<Value> = found.iter().map(line).collect();
            // A description is a part of the skill, as tainted as the rest.
            let tags = found.into_iter().filter_map(|it| it.tag).collect();
            Output { tags, ..Output::text(json!({ "skills": shown }).to_string()) }
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn read(skills: &Skills, permit: Permit<SkillRead>) -> Output {
    let asked = permit.spend();
    let found = SkillName::parse(asked.name.as_str()).map_err(SkillError::from);
    match found.and_then(|name| Ok((skills.read(&name)?, name))) {
        Ok((text, name)) => {
            let body = json!({ "name": name.as_str(), "content": text.content }).to_string();
            Output { tags: text.tag.into_iter().collect(), ..Output::text(body) }
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn propose(skills: &Skills, permit: Permit<SkillPropose>, now: i64) -> Output {
    let made = match skills {
        Skills::Folder(_) => Err(SkillError::ReadOnly),
        Skills::Repository(repository) => repository.propose(permit, now),
    };
    match made {
        Ok(proposal) => {
            let body = json!({
                "id": proposal.id.to_string(),
                "skill": proposal.skill.as_str(),
                "commit": proposal.commit.to_string(),
                "status": "waiting",
            });
            Output::text(body.to_string())
        }
        Err(SkillError::ReadOnly) => Output::not_begun(SkillError::ReadOnly.to_string()),
        Err(error) => failed(&error),
    }
}

fn line(it: &Listed) -> Value {
    let mut shown = Map::from_iter([("name".to_owned(), json!(it.name.as_str()))]);
    if let Some(description) = &it.front.description {
        shown.insert("description".to_owned(), json!(description));
    }
    if it.tag.is_some() {
        shown.insert("tainted".to_owned(), json!(true));
    }
    Value::Object(shown)
}

fn failed(error: &SkillError) -> Output {
    Output { status: Status::Failed, ..Output::text(error.to_string()) }
}
