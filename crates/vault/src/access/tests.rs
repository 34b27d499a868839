//! Tokens open what they were issued for, as long as they are in force.

use super::*;

fn tokens() -> (tempfile::TempDir, Tokens) {
    let dir = tempfile::tempdir().unwrap();
    let tokens = Tokens::in_home(dir.path());
    (dir, tokens)
}

fn ann() -> UserId {
    UserId::parse("ann").unwrap()
}

/// As if it were on record.
fn recorded(_: &Issued) -> Result<(), AccessError> {
    Ok(())
}

fn agent(name: &str) -> AgentId {
    AgentId::parse(name).unwrap()
}

#[test]
fn a_token_opens_until_it_ends_or_is_revoked_and_is_written_nowhere() {
    let (dir, tokens) = tokens();
    let (token, issued) =
        tokens.create(&ann(), Some(&[agent("main")]), (100, Some(200)), recorded).unwrap();
    let text = token.shown_once();
    assert!(is_well_formed(text) && text.len() == 4 + 72);
    let bearer = tokens.verify(text, 199).unwrap().unwrap();
    assert!(bearer.user == ann() && bearer.may_use(&agent("main")) && !bearer.may_use(&agent("x")));
    assert_eq!(tokens.verify(text, 200).unwrap(), None);

    let (next, other) = tokens.rotate(&issued.id, 150, recorded).unwrap();
    assert_eq!((other.expires, other.agents.as_deref()), (Some(250), issued.agents.as_deref()));
    assert_eq!(tokens.verify(text, 150).unwrap(), None);
    assert!(tokens.verify(next.shown_once(), 249).unwrap().is_some());
    assert!(matches!(tokens.rotate(&issued.id, 151, recorded), Err(AccessError::Over(_))));
    tokens.revoke(&other.id, 160, false, recorded).unwrap();
    assert_eq!(tokens.verify(next.shown_once(), 161).unwrap(), None);
    assert_eq!(tokens.list().unwrap().len(), 2);
    tokens.revoke(&other.id, 160, true, recorded).unwrap();
    assert_eq!(tokens.list().unwrap().len(), 1);

    let file = std::fs::read_to_string(dir.path().join("access.json")).unwrap();
    assert!(!file.contains(TOKEN_PREFIX) && !file.contains(text.get(4..20).unwrap()));
    assert!(!format!("{issued:?}").contains(text.get(4..40).unwrap()));
}

#[test]
fn what_is_no_token_is_nobodys() {
    let (_dir, tokens) = tokens();
    let (token, issued) = tokens.create(&ann(), None, (0, None), recorded).unwrap();
    let text = token.shown_once();
    let upper = text.to_uppercase();
    let cut = text.get(..text.len() - 1).unwrap();
    let mut typo: Vec<u8> = text.bytes().collect();
    typo[10] = if typo[10] == b'a' { b'b' } else { b'a' };
    let typo = String::from_utf8(typo).unwrap();
    let padded = format!("{text} ");
    for bad in
        ["", " ", "t", "lzt_", &upper, cut, &typo, &padded, &issued.id, &issued.hash, "lzt_é"]
    {
        assert_eq!(tokens.verify(bad, 1).unwrap(), None, "{bad}");
    }
    let error = tokens.revoke(text, 1, false, recorded).unwrap_err().to_string();
    assert!(!error.contains(text), "{error}");
}

#[test]
fn who_shows_nothing_is_nobody() {
    assert_eq!(bearer(Some("Bearer t")), Some("t"));
    for bad in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("bearer t"),
        Some("Basic t"),
        Some("t"),
    ] {
        assert_eq!(bearer(bad), None, "{bad:?}");
    }
    // The vectors of others on the same question; rows about networks and rates are not about tokens.
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../../corpus/credentials/http_auth.json"))
            .unwrap();
    let (_dir, tokens) = tokens();
    let mut seen = 0;
    for row in rows.iter().filter(|it| it["name"].as_str().unwrap().starts_with("auth_")) {
        // There is no way to run without tokens: who has none is nobody.
        let header = row["input"]["header"].as_str();
        let (token, _) = tokens.create(&ann(), None, (0, None), recorded).unwrap();
        let header = header.map(|it| it.replace(" t", &format!(" {}", token.shown_once())));
        let known = bearer(header.as_deref()).and_then(|it| tokens.verify(it, 1).unwrap());
        let passes = row["expected"]["authenticated"] == true;
        assert_eq!(known.is_some(), passes, "{row}");
        seen += 1;
    }
    assert_eq!(seen, 7);
}

#[test]
fn a_file_that_is_not_ours_alone_or_not_whole_opens_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let (dir, tokens) = tokens();
    let (token, _) = tokens.create(&ann(), None, (0, None), recorded).unwrap();
    let path = dir.path().join("access.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(tokens.verify(token.shown_once(), 1), Err(AccessError::File(_))));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let whole = std::fs::read(&path).unwrap();
    files::private::replace(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(matches!(
        tokens.create(&ann(), None, (1, None), recorded),
        Err(AccessError::Damaged(_))
    ));
    assert_eq!(std::fs::read(&path).unwrap().len(), whole.len() - 1);
}

#[test]
fn what_is_not_recorded_is_not_done() {
    let (_dir, tokens) = tokens();
    let (token, issued) = tokens.create(&ann(), None, (0, None), recorded).unwrap();
    let before = tokens.list().unwrap();
    let not = |it: &Issued| Err(AccessError::Random(it.id.clone()));
    assert!(tokens.create(&ann(), None, (0, None), not).is_err());
    assert!(tokens.rotate(&issued.id, 1, not).is_err());
    assert!(tokens.revoke(&issued.id, 1, false, not).is_err());
    assert!(tokens.revoke(&issued.id, 1, true, not).is_err());
    assert_eq!(tokens.list().unwrap(), before);
    assert!(tokens.verify(token.shown_once(), 2).unwrap().is_some());
}

#[test]
fn who_is_asked_again_and_again_knows_at_once_what_was_revoked_or_made() {
    let (dir, tokens) = tokens();
    let kept = KeptTokens::in_home(dir.path());
    let (first, issued) = tokens.create(&ann(), None, (100, Some(200)), recorded).unwrap();
    let first = first.shown_once();
    for _ in 0..2 {
        assert_eq!(kept.verify(first, 150).unwrap().unwrap().id, issued.id);
        assert_eq!(kept.verify(first, 200).unwrap(), None, "it has ended, whatever was kept");
    }
    let (second, _) = tokens.create(&ann(), None, (100, None), recorded).unwrap();
    assert!(kept.verify(second.shown_once(), 150).unwrap().is_some());
    tokens.revoke(&issued.id, 150, false, recorded).unwrap();
    assert_eq!(kept.verify(first, 150).unwrap(), None);
    assert!(kept.verify(second.shown_once(), 150).unwrap().is_some());

    // Whoever could read or write it might have: nobody is known, though the text is the same.
    use std::os::unix::fs::PermissionsExt as _;
    let path = dir.path().join("access.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert!(kept.verify(second.shown_once(), 150).is_err());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(kept.verify(second.shown_once(), 150).unwrap().is_some());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(kept.verify(second.shown_once(), 150).unwrap(), None);
}
