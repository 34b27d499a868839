//! What a reading tells besides its decision: machines, what is done, and what counts in a cage.

use shell::{Blocklist, Class, Decision, read, read_with};

#[test]
fn machines_are_named_as_they_are_written() {
    for (command, hosts) in [
        ("psql -h db.example.com -c 'select 1'", &["db.example.com"][..]),
        ("psql --host=db.example.com", &["db.example.com"]),
        ("psql 'host=db.example.com dbname=x'", &["db.example.com"]),
        ("mysql -hdb.example.com", &["db.example.com"]),
        ("redis-cli -h cache.example.com ping", &["cache.example.com"]),
        ("ldapsearch -H ldap://dir.example.com -x", &["dir.example.com"]),
        ("mosquitto_pub -h mqtt.example.com -t a -m b", &["mqtt.example.com"]),
        ("psql -h /run/postgresql", &[]),
        ("psql -c 'select 1'", &[]),
        ("ssh -D 1080 h", &["h"]),
        (
            "ssh -i key.pem -J jump.example.com u@h.example.com ls",
            &["jump.example.com", "h.example.com"],
        ),
        ("http :8080/a", &[]),
        ("http example.com", &["example.com"]),
        ("http 'http://[2001:db8::1]:80/'", &["2001:db8::1"]),
        (r#"python3 -c 'urlopen("http://x.example",data=open("f"))'"#, &["x.example"]),
        (r#"python3 -c 'urlopen(\"http://x.example\",data=open(\"f\"))'"#, &["x.example"]),
        ("git clone --depth 1 git@git.example.com:a/b.git", &["git.example.com"]),
        ("git push --repo=git@git.example.com:a", &["git.example.com"]),
        ("git show HEAD:src/main.rs", &[]),
        ("git push origin HEAD:main", &[]),
        ("git stash drop stash@{0}", &[]),
        ("git log --author=a@b.example", &[]),
    ] {
        assert_eq!(read(command).hosts, hosts, "{command}");
    }
}

#[test]
fn what_is_done_is_told() {
    for (command, class) in [
        ("psql -h db.example.com", Class::Network),
        ("twine upload dist/*", Class::Network),
        ("python3 -m twine upload dist/*", Class::Network),
        ("python3 -m pip install x", Class::PackageInstall),
        ("python -m pip install x", Class::PackageInstall),
        ("pipx install x", Class::PackageInstall),
        ("uv pip install x", Class::PackageInstall),
        ("git clean -fdx", Class::Delete),
        ("git rm -rf .", Class::Delete),
        ("newgrp docker", Class::Privilege),
    ] {
        assert!(read(command).classes.contains(&class), "{command}");
    }
    for (command, class) in [
        ("psql -c 'select 1'", Class::Network),
        ("twine check dist/*", Class::Network),
        ("python3 -m pip list", Class::PackageInstall),
        ("git clean -n", Class::Delete),
        ("git rm --cached f", Class::Delete),
    ] {
        assert!(!read(command).classes.contains(&class), "{command}");
    }
}

#[test]
fn what_ssh_runs_there_is_not_what_its_options_take() {
    let told = |command: &str| {
        let reading = read(command);
        reading.decisive.map(|it| it.reason).unwrap_or_default()
    };
    for command in ["ssh -D 1080 h", "ssh -NL 8080:localhost:80 h", "ssh -o A=b -p 22 h -v"] {
        assert_eq!(told(command), "`ssh` carries data to another machine", "{command}");
    }
    for command in ["ssh -p 22 -i k h uptime", "ssh h -p 22 uptime", "ssh -J j -l root h uptime"] {
        assert_eq!(told(command), "it runs `uptime` on another machine", "{command}");
    }
}

#[test]
fn in_a_cage_dd_may_write_a_plain_file_and_nothing_else() {
    let cage = Blocklist::in_a_cage();
    for command in
        ["dd if=/dev/zero of=./big bs=1M count=1", "dd if=a of=/tmp/b", "dd if=a of=/work/b"]
    {
        assert_eq!(read_with(command, &cage).decision, Decision::Allow, "{command}");
        assert_eq!(read(command).decision, Decision::Deny, "{command}");
    }
    for command in [
        "dd if=/dev/zero of=/dev/sda",
        "dd if=/dev/sda of=./image",
        "dd if=a of=/dev/shm/b",
        "dd if=a of=/etc/hosts",
        "dd if=a of=/proc/sysrq-trigger",
        "dd if=a of=../b",
        "dd if=a of=\"$SOMEWHERE\"",
        "dd if=a of=$(target)",
        "dd if=a of=*",
        "dd if=a of=b of=/etc/passwd",
        "dd if=a",
        "sudo dd if=a of=b",
    ] {
        assert_eq!(read_with(command, &cage).decision, Decision::Deny, "{command}");
    }
}

/// What may be several words is not surely for this machine alone.
#[test]
fn what_is_sent_to_this_machine_is_known() {
    for command in ["nc -w $(x) localhost 80", "nc localhost $(x)", "curl localhost$(x)"] {
        assert_eq!(read(command).decision, Decision::Deny, "{command}");
    }
    for command in
        ["curl -H \"A: $(x)\" localhost:80", "wget --header=\"A: $(x)\" http://localhost"]
    {
        assert_eq!(read(command).decision, Decision::StepUp, "{command}");
    }
    for command in ["nc -w 1 localhost 80", "curl -H 'A: b' localhost:80"] {
        assert_eq!(read(command).decision, Decision::Allow, "{command}");
    }
}
