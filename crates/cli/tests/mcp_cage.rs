//! MCP servers in cages: by default, with what they need, and said where there is none.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

/// A home with a server in its workspace, and what npm has fetched.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = Self { dir };
        fs::create_dir_all(world.path("user")).unwrap();
        fs::create_dir_all(world.path("work")).unwrap();
        fs::write(world.path("user/secret.txt"), "nobody's").unwrap();
        let server =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp-server/server.py");
        fs::copy(server, world.path("work/server.py")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        files::resolved(self.dir.path()).unwrap().join(name)
    }

    /// What npm leaves when it has fetched a package; its program is the server of the tests.
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn fetch(&self, package: &str) {
        let folder = self.path("user/.npm/_npx/a3241bba59c344f5");
        let module = folder.join("node_modules").join(package);
        fs::create_dir_all(module.join("dist")).unwrap();
        fs::create_dir_all(folder.join("node_modules/.bin")).unwrap();
        let about = json!({ "_npx": { "packages": [package] } });
        fs::write(folder.join("package.json"), about.to_string()).unwrap();
        let about = json!({ "name": package, "bin": { "notes-server": "dist/index" } });
        fs::write(module.join("package.json"), about.to_string()).unwrap();
        let source = fs::read_to_string(self.path("work/server.py")).unwrap();
        let program = module.join("dist/index");
        fs::write(&program, format!("#!/usr/bin/env python3\n{source}")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(&program, folder.join("node_modules/.bin/notes-server")).unwrap();
    }

    fn start(&self, words: &[&str]) -> Client {
        let mut child = lazaret(self.path("state"), words)
            .env("HOME", self.path("user"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("GIVEN", "x")
            .current_dir(self.path("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Client { child, from, next: 0 }
    }

    fn run(&self, words: &[&str]) -> testkit::program::Ran {
        lazaret(self.path("state"), words).env("HOME", self.path("user")).run()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.run(&["daemon", "stop"]);
    }
}

struct Client {
    child: Child,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.child.stdin.as_mut().unwrap(), "{asked}").unwrap();
        let mut line = String::new();
        while self.from.read_line(&mut line).unwrap() > 0 {
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["id"] == id {
                return said;
            }
            line.clear();
        }
        let mut why = String::new();
        let _ = std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut why);
        panic!("it ended: {why}");
    }

    fn initialize(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        self.ask("initialize", &params)
    }

    fn look(&mut self, name: &str) -> String {
        self.initialize();
        self.ask("tools/list", &json!({}));
        let params = json!({ "name": "look", "arguments": { "name": name } });
        let said = self.ask("tools/call", &params);
        said["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut said = String::new();
        let _ = std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said);
        self.child.wait().unwrap();
        said
    }
}

#[test]
fn a_server_runs_in_a_cage_unless_it_is_said_otherwise() {
    let world = World::new();
    let words = ["mcp", "--name", "notes", "--env", "GIVEN", "--", "python3", "-B", "server.py"];
    let mut client = world.start(&words);
    assert_eq!(client.look("plain"), "The meeting is at nine.");
    let names = client.look("environment");
    assert!(names.contains("GIVEN"), "{names}");
    let said = client.end();
    assert!(said.contains("notes runs in a cage"), "{said}");
    assert!(world.run(&["mcp", "list"]).out.contains(", in a cage"));
    assert_eq!(world.run(&["status", "--json"]).object()["servers"]["not_caged"], json!([]));
    let words = ["mcp", "--name", "notes", "--no-cage", "--", "python3", "-B", "server.py"];
    let mut client = world.start(&words);
    assert_eq!(client.look("plain"), "The meeting is at nine.");
    client.end();
    assert!(world.run(&["mcp", "list"]).out.contains("NOT in a cage"));
    assert!(world.run(&["status"]).out.contains("not in a cage: notes"));
}

#[test]
fn a_server_that_is_not_there_or_fails_is_told_in_a_cage_too() {
    let world = World::new();
    let ended = |words: &[&str]| {
        let mut client = world.start(words);
        let said = client.initialize();
        assert!(said["error"]["message"].is_string(), "{said}");
        drop(client.child.stdin.take());
        client.child.wait().unwrap().code()
    };
    assert_eq!(ended(&["mcp", "--", "no-such-server"]), Some(3));
    assert_eq!(ended(&["mcp", "--", "python3", "-B", "-c", "exit(1)"]), Some(3));
    assert_eq!(ended(&["mcp", "--no-cage", "--", "python3", "-B", "-c", "exit(1)"]), Some(3));
    assert_eq!(ended(&["mcp", "--", "python3", "-B", "-c", "exit(0)"]), Some(0));
    let mut gone = world.start(&["mcp", "--", "no-such-server"]);
    drop(gone.child.stdin.take());
    assert_eq!(gone.child.wait().unwrap().code(), Some(3), "also where nobody asks anything");
    let refused = world.run(&["mcp", "--network", "bad domain", "--", "python3"]);
    assert!(refused.code == 2 && refused.err.contains("--network"), "{}", refused.err);
    let words = ["mcp", "--name", "notes", "--", "python3", "-B", "server.py"];
    let mut client = world.start(&words);
    client.initialize();
    drop(client.child.stdin.take());
    assert_eq!(client.child.wait().unwrap().code(), Some(0), "it ended after its client");
}

#[test]
fn a_caged_server_sees_nothing_beside_its_folder() {
    let world = World::new();
    let read = |path: &str| format!("print(open({path:?}).read())");
    let secret = world.path("user/secret.txt").display().to_string();
    let looks = |options: &[&str]| {
        let code = read(&secret);
        let words = [&["mcp", "--name", "s"], options, &["--", "python3", "-c", &code]].concat();
        // It says no MCP, so that what it prints is refused; whether it could is what it says on stderr.
        world.start(&words).end()
    };
    assert!(looks(&[]).contains("No such file"), "{}", looks(&[]));
    assert!(!looks(&["--no-cage"]).contains("No such file"));
}

#[test]
fn a_server_of_npm_runs_as_it_was_fetched_before() {
    let world = World::new();
    let words = ["mcp", "--name", "notes", "--", "npx", "-y", "@scope/notes-server", "."];
    let missing = world.start(&words).end();
    assert!(missing.contains("`@scope/notes-server` was not fetched yet"), "{missing}");
    world.fetch("@scope/notes-server");
    let mut client = world.start(&words);
    assert_eq!(client.look("plain"), "The meeting is at nine.");
    client.end();
    assert!(world.run(&["mcp", "list"]).out.contains(", in a cage"));
}
