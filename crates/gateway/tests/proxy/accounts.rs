//! Who may use the proxy.

use crate::origin::{Origin, Says};
use crate::support::{Setting, basic, credentials, refused, secret};

#[tokio::test]
async fn without_right_credentials_there_is_nothing() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let right = format!("main:{}", secret());
    let bearer = format!("proxy-authorization: Bearer {}\r\n", secret());
    let long = basic(&format!("main:{}{}", secret(), "x".repeat(2000)));
    let cases = [
        ("none", String::new()),
        ("another token", basic("main:AAAA")),
        ("no token", basic("main:")),
        ("a token that begins right", basic(&right[..right.len() - 1])),
        ("another agent's token", basic(&format!("other:{}", secret()))),
        ("an agent that is none", basic(&format!("nobody:{}", secret()))),
        ("no colon", basic("main")),
        ("two fields", [credentials(), credentials()].concat()),
        ("one right, one wrong", [basic("main:no"), credentials()].concat()),
        ("another scheme", bearer),
        ("the origin's field", credentials().replace("proxy-", "")),
        ("not base64", "proxy-authorization: Basic !!!!\r\n".to_owned()),
        ("not text", "proxy-authorization: Basic /////w==\r\n".to_owned()),
        ("too long", long),
    ];
    for (what, field) in cases {
        for line in [
            format!("GET http://origin.example:{}/", origin.port),
            format!("CONNECT origin.example:{}", origin.port),
        ] {
            let answer = rig.raw(format!("{line} HTTP/1.1\r\nhost: a.test\r\n{field}\r\n")).await;
            assert_eq!(refused(&answer, 407), "proxy-account", "{what}");
            assert!(answer.contains("proxy-authenticate: Basic realm=\"lazaret\""), "{answer}");
            assert!(!answer.contains(&secret()), "{what}");
        }
    }
    assert!(origin.seen().is_empty());
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
