//! The programs that people point at a proxy: curl, Python's requests, Node's fetch, git.

use std::path::Path;
use std::process::{Command, Output};

use testkit::tls::Authority;

use crate::origin::{Origin, Says};
use crate::support::{Rig, Setting};

/// A proxy, a server with TLS behind it, and a file that says who vouches for the server.
struct Scene {
    rig: Rig,
    plain: Origin,
    tls: Origin,
    dir: tempfile::TempDir,
}

impl Scene {
    async fn new(says: Says) -> Self {
        let (authority, plain) = (Authority::generate(), Origin::plain(Says::Echo).await);
        let tls = Origin::tls(says, authority.vouch(&["origin.example"])).await;
        let rig = Setting::to(&[&plain, &tls]).start().await;
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("ca.pem"), &authority.pem());
        Self { rig, plain, tls, dir }
    }

    fn https(&self) -> String {
        format!("https://origin.example:{}/in?q=1", self.tls.port)
    }

    fn http(&self) -> String {
        format!("http://origin.example:{}/in?q=1", self.plain.port)
    }

    fn authority(&self) -> String {
        self.dir.path().join("ca.pem").display().to_string()
    }

    /// Runs a program with arguments and what it finds in its environment.
    async fn run(&self, program: &str, args: &[&str], environment: &[(&str, &str)]) -> Said {
        run(self.dir.path(), program, args, environment).await
    }
}

struct Said {
    worked: bool,
    all: String,
}

#[expect(clippy::disallowed_methods, reason = "the proxy is driven by other people's programs")]
async fn run(dir: &Path, program: &str, args: &[&str], environment: &[(&str, &str)]) -> Said {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_clear().env("HOME", dir);
    for name in ["PATH", "PYENV_ROOT", "PYENV_VERSION"] {
        command.envs(std::env::var_os(name).map(|it| (name, it)));
    }
    command.envs(environment.iter().copied());
    let ran = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let Output { status, stdout, stderr } =
        ran.unwrap_or_else(|error| panic!("{program}: {error}; scripts/test installs it"));
    let all = [stdout, stderr].concat();
    Said { worked: status.success(), all: String::from_utf8_lossy(&all).into_owned() }
}

#[expect(clippy::disallowed_methods, reason = "a file for another program, and nobody else's")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn curl() {
    let scene = Scene::new(Says::Echo).await;
    let (proxy, ca) = (scene.rig.url(), scene.authority());
    let all = ["-sS", "-i", "-m", "20", "--proxy", &proxy, "--cacert", &ca];
    let ask = async |more: &[&str]| scene.run("curl", &[&all[..], more].concat(), &[]).await;

    let said = ask(&[&scene.http()]).await;
    assert!(said.worked && said.all.contains("GET /in?q=1 HTTP/1.1"), "{}", said.all);
    let said = ask(&[&scene.https()]).await;
    assert!(said.worked && said.all.contains("GET /in?q=1 HTTP/1.1"), "{}", said.all);
    for url in [scene.http(), scene.https()] {
        let said = ask(&["-d", "some=thing", &url]).await;
        assert!(said.worked && said.all.contains(" 10 bytes"), "{}", said.all);
    }

    let said = ask(&["http://10.0.0.1/"]).await;
    assert!(said.all.contains("403") && said.all.contains("\"rule\":\"net-v4-private\""));
    let said = ask(&["https://10.0.0.1/"]).await;
    assert!(!said.worked && said.all.contains("x-lazaret-refusal: net-v4-private"), "{}", said.all);
    let without = format!("http://127.0.0.1:{}", scene.rig.port);
    let said = scene.run("curl", &["-sS", "-i", "--proxy", &without, &scene.https()], &[]).await;
    assert!(!said.worked && said.all.contains("407"), "{}", said.all);
}

#[tokio::test]
async fn python_requests() {
    let scene = Scene::new(Says::Echo).await;
    let script = "import sys, requests\n\
        try:\n\
        \x20 said = requests.request(sys.argv[2], sys.argv[1], verify='ca.pem', timeout=20,\n\
        \x20   data=sys.argv[3] or None)\n\
        \x20 print(said.status_code, said.headers.get('x-lazaret-refusal'), said.text)\n\
        except requests.exceptions.ProxyError as error: print('refused', error)\n";
    let proxy = scene.rig.url();
    let environment = [("HTTPS_PROXY", proxy.as_str()), ("HTTP_PROXY", proxy.as_str())];
    let ask = async |url: &str, method: &str, body: &str| {
        scene.run("python3", &["-c", script, url, method, body], &environment).await.all
    };
    for url in [scene.http(), scene.https()] {
        let said = ask(&url, "GET", "").await;
        assert!(said.starts_with("200 None GET /in?q=1 HTTP/1.1"), "{said}");
        let said = ask(&url, "POST", "twelve bytes").await;
        assert!(said.contains(" 12 bytes"), "{said}");
    }
    let said = ask("http://169.254.169.254/latest/", "GET", "").await;
    assert!(said.starts_with("403 net-"), "{said}");
    let said = ask("https://169.254.169.254/latest/", "GET", "").await;
    assert!(said.starts_with("refused") && said.contains("403"), "{said}");
}

/// Node takes a proxy from its environment from version 24 on; before that, fetch is given an agent of the
/// package that fetch is made from.
const FETCH: &str = "const proxy = new URL(process.env.HTTPS_PROXY);\n\
    let options = {};\n\
    if (Number(process.versions.node.split('.')[0]) < 24) {\n\
      const { ProxyAgent } = require('undici');\n\
      const token = 'Basic ' + btoa(proxy.username + ':' + proxy.password);\n\
      options.dispatcher = new ProxyAgent({ uri: 'http://' + proxy.host, token });\n\
    }\n\
    if (process.argv[2]) Object.assign(options, { method: 'POST', body: process.argv[2] });\n\
    fetch(process.argv[1], options).then(async it => console.log(it.status, await it.text()))\n\
      .catch(it => console.log('refused', it.message, it.cause && it.cause.message))\n\
      .then(() => process.exit(0));\n";

#[tokio::test]
async fn node_fetch() {
    let scene = Scene::new(Says::Echo).await;
    let (proxy, ca) = (scene.rig.url(), scene.authority());
    let environment = [
        ("HTTPS_PROXY", proxy.as_str()),
        ("HTTP_PROXY", proxy.as_str()),
        ("NODE_USE_ENV_PROXY", "1"),
        ("NODE_EXTRA_CA_CERTS", ca.as_str()),
        ("NODE_PATH", "/usr/share/nodejs"),
    ];
    let ask = async |url: &str, body: &str| {
        scene.run("node", &["-e", FETCH, url, body], &environment).await.all
    };
    let said = ask(&scene.https(), "").await;
    assert!(said.contains("200 GET /in?q=1 HTTP/1.1"), "{said}");
    let said = ask(&scene.https(), "eight by").await;
    assert!(said.contains(" 8 bytes"), "{said}");
    let said = ask("https://10.0.0.1/", "").await;
    assert!(said.contains("refused"), "{said}");
    let refused = scene.rig.events(3).await;
    assert!(refused.iter().any(|it| it["rule"] == "net-v4-private"), "{refused:?}");
}

#[tokio::test]
async fn git_clone() {
    let root = tempfile::tempdir().unwrap();
    let quiet = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0")];
    let git = async |dir: &Path, args: &[&str]| {
        let said = run(dir, "git", args, &quiet).await;
        assert!(said.worked, "git {args:?}: {}", said.all);
    };
    let work = root.path().join("work");
    git(root.path(), &["init", "-q", "-b", "main", "work"]).await;
    write(&work.join("harbour.txt"), "ships\n");
    git(&work, &["add", "."]).await;
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    git(&work, &[&who[..], &["commit", "-q", "-m", "one"]].concat()).await;
    git(root.path(), &["clone", "-q", "--bare", "work", "repo.git"]).await;
    git(&root.path().join("repo.git"), &["update-server-info"]).await;

    let scene = Scene::new(Says::Files(root.path().to_owned())).await;
    let proxy = format!("http.proxy={}", scene.rig.url());
    let ca = format!("http.sslCAInfo={}", scene.authority());
    let clone = async |url: &str| {
        let args = ["-c", &proxy, "-c", &ca, "clone", "-q", url, "got"];
        scene.run("git", &args, &quiet).await
    };
    let said = clone("https://10.0.0.1/repo.git").await;
    assert!(!said.worked && said.all.contains("403"), "{}", said.all);
    let said = clone(&format!("https://origin.example:{}/repo.git", scene.tls.port)).await;
    assert!(said.worked, "{}", said.all);
    let got = std::fs::read_to_string(scene.dir.path().join("got/harbour.txt")).unwrap();
    assert_eq!(got, "ships\n");
}
