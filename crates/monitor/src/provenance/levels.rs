//! How much is given to others: levels of access, from looking to owning, and what everybody sees. Where the user named a
//! level, a call may not give a higher one; what everybody sees, the user must have spoken of.

use super::acts::name_words;

/// Words for each level, lowest first.
const LEVELS: &[&[&str]] = &[
    &[
        "view",
        "viewer",
        "viewing",
        "read",
        "reader",
        "readonly",
        "reporter",
        "guest",
        "lesen",
        "lesezugriff",
        "lecteur",
        "lectura",
        "lector",
        "lettura",
        "leitura",
        "leitor",
        "lezen",
        "odczyt",
        "okuma",
        "閲覧",
        "查看",
        "只读",
    ],
    &["comment", "commenter", "commenting", "kommentieren", "commenter"],
    &[
        "edit",
        "editor",
        "editing",
        "write",
        "writer",
        "contributor",
        "developer",
        "bearbeiten",
        "schreiben",
        "modification",
        "écriture",
        "editar",
        "escritura",
        "modifica",
        "escrita",
        "bewerken",
        "edycja",
        "düzenleme",
        "編集",
        "编辑",
    ],
    &["admin", "administrator", "maintainer", "manager", "manage", "owner", "full", "write_all"],
];
/// Words in the names of parameters that say how much somebody may do.
const OF_PARAMETERS: &[&str] = &["role", "permission", "permissions", "access", "level", "rights"];

/// Words in the names of parameters that say who sees something.
const OF_SIGHT: &[&str] = &[
    "visibility",
    "visible",
    "audience",
    "access",
    "level",
    "scope",
    "sharing",
    "sichtbar",
    "sichtbarkeit",
    "visibilité",
    "visibilidad",
    "visibilità",
];
/// Words for everybody as a value.
const EVERYBODY: &[&str] = &[
    "public",
    "everyone",
    "everybody",
    "anyone",
    "world",
    "öffentlich",
    "oeffentlich",
    "publique",
    "público",
    "publico",
    "pubblico",
    "openbaar",
    "publiczny",
    "herkes",
    "公開",
    "公开",
    "internet",
];
/// Words by which the user speaks of it.
const IN_PUBLIC: &[&str] = &[
    "website",
    "online",
    "press",
    "publicly",
    "everywhere",
    "alle",
    "allen",
    "tous",
    "tutti",
    "iedereen",
    "wszyscy",
];
/// Words that leave everybody else out.
const ONLY: &[&str] = &[
    "only",
    "nur",
    "seulement",
    "uniquement",
    "sólo",
    "solo",
    "solamente",
    "soltanto",
    "só",
    "apenas",
    "alleen",
    "tylko",
    "sadece",
    "confidential",
    "embargo",
    "だけ",
    "只",
];

/// Words for all of the user's own people as a value.
const OWN_PEOPLE: &[&str] =
    &["organization", "organisation", "org", "domain", "company", "tenant", "workspace"];

/// Who is to see something, as far as the user's clauses say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Nobody was spoken of.
    Unsaid,
    /// Somebody with whom it is shared.
    Somebody,
    /// Whoever wants to.
    Everybody,
}

/// Does a parameter say who sees something, and is that more than the user asked for or spoke of? Where something is shared
/// with somebody, the user's own people are more as well. A switch has no value: its name says what it does.
pub(super) fn is_seen_wider(
    param: &str,
    value: Option<&str>,
    audience: Audience,
    spoken: impl Fn(&str) -> bool,
) -> bool {
    let named = name_words(param);
    let is_of_sight = || named.iter().any(|it| OF_SIGHT.contains(&it.as_str()));
    let seen = match value {
        // Most parameters say nothing of it, and their texts may be long.
        Some(_) if !is_of_sight() => return false,
        Some(text) => name_words(text),
        None => named,
    };
    let has = |list: &[&str]| seen.iter().any(|it| list.contains(&it.as_str()));
    let any = |list: &[&str]| list.iter().any(|it| spoken(it));
    let in_public = audience == Audience::Everybody || any(EVERYBODY) || any(IN_PUBLIC);
    if has(EVERYBODY) {
        return any(ONLY) || !in_public;
    }
    has(OWN_PEOPLE) && audience == Audience::Somebody && !in_public && !any(OWN_PEOPLE)
}

/// Words of levels that people use for other things as well: as values they are levels, in a sentence they are none.
const OTHER_THINGS: &[&str] = &["full", "manager", "manage", "owner", "guest"];

/// Does a parameter say how much somebody may do, and does its value give more than the levels that were `spoken` of? Where
/// only one was to be given, the lowest counts, and so does a value that stands for no level.
pub(super) fn is_above(param: &str, value: &str, spoken: impl Fn(&str) -> bool) -> bool {
    if !name_words(param).iter().any(|it| OF_PARAMETERS.contains(&it.as_str())) {
        return false;
    }
    let is_named =
        |words: &&[&str]| words.iter().any(|it| !OTHER_THINGS.contains(it) && spoken(it));
    let is_only = ONLY.iter().any(|it| spoken(it));
    let asked = match is_only {
        true => LEVELS.iter().position(&is_named),
        false => LEVELS.iter().rposition(is_named),
    };
    let level = |word: &String| LEVELS.iter().position(|it| it.contains(&word.as_str()));
    let given = name_words(value).iter().filter_map(level).max();
    asked.is_some_and(|asked| given.map_or(is_only, |given| given > asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::norm::{fold, words};

    #[test]
    fn everybody_is_spoken_of_or_asked_about() {
        use Audience::{Everybody, Somebody, Unsaid};
        let wide = |param: &str, value: &str, audience: Audience, text: &str| {
            let folded = fold(text);
            let spoken = |word: &str| words(&folded).any(|it| it == word);
            is_seen_wider(param, Some(value), audience, spoken)
        };
        assert!(wide("visibility", "public", Unsaid, "label the new issues"));
        assert!(wide("audience", "everyone", Everybody, "post it for the board only"));
        assert!(!wide("visibility", "public", Unsaid, "make the project public"));
        assert!(!wide("audience", "public", Everybody, "post the results"));
        assert!(wide("visibility", "anyoneWithLink", Unsaid, "list all projects"));
        assert!(!wide("visibility", "private", Unsaid, "label the new issues"));
        assert!(!wide("title", "Public holidays", Unsaid, "add a title"));
        assert!(wide("visibility", "public", Somebody, "share a link with bob"));
        assert!(wide("visibility", "organization", Somebody, "share a link with bob"));
        assert!(!wide("visibility", "organization", Somebody, "share it with the organization"));
        assert!(!wide("visibility", "organization", Unsaid, "open a project"));
    }

    #[test]
    fn a_switch_for_everybody_is_spoken_of_or_asked_about() {
        let wide = |param: &str, spoken: &[&str]| {
            is_seen_wider(param, None, Audience::Somebody, |word| spoken.contains(&word))
        };
        assert!(wide("public", &["share", "bob"]) && wide("anyone_can_view", &[]));
        assert!(!wide("make_public", &["public"]) && !wide("notify", &[]));
    }

    #[test]
    fn more_than_was_spoken_of_is_above() {
        let above = |param: &str, value: &str, text: &str| {
            let folded = fold(text);
            is_above(param, value, |word| words(&folded).any(|it| it == word))
        };
        assert!(above("permission", "edit", "share the list with Pia, view only"));
        assert!(above("access_level", "maintainer", "Add her as reporter"));
        assert!(!above("role", "reader", "share it read only"));
        assert!(!above("role", "writer", "read the note and let her edit the plan"));
        assert!(above("role", "admin", "share the full plan, view only"));
        assert!(above("role", "owner", "share it with my manager, view only"));
        assert!(above("role", "canEdit", "share it read only"));
        assert!(above("role", "organizer", "share it read only"), "it is no level that is known");
        assert!(!above("role", "editor", "share the plan with Ana"), "nobody named a level");
        assert!(!above("title", "Editor", "view only"), "it says nothing of rights");
    }
}
