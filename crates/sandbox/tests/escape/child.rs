//! The process that makes one cage and follows it to its end: this executable again, with one thread.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use monitor::terminal::vet;
use rustix::io::{FdFlags, fcntl_setfd};
use sandbox::cage::{Cage, CageError, Ending, Held, Inmate, Leave, Maker, Network, Rung};
use serde::{Deserialize, Serialize};

/// The argument by which this executable knows that it is the child.
pub(crate) const WORD: &str = "--make-one-cage";
/// Where a script stands that the judge of commands shall not see.
const HIDDEN: &str = "LAZARET_HIDDEN";

/// What the child is asked to do. Paths are bytes: they need not be text.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) workspaces: Vec<Vec<u8>>,
    pub(crate) readable: Vec<Vec<u8>>,
    pub(crate) changed: Vec<Vec<u8>>,
    pub(crate) directory: Vec<u8>,
    pub(crate) home: String,
    pub(crate) state: String,
    pub(crate) without: Vec<Rung>,
    pub(crate) needed: Vec<Rung>,
    pub(crate) words: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) limits: Vec<(String, u64)>,
    pub(crate) terminal: bool,
    /// Bubblewrap makes the namespaces, or nobody.
    pub(crate) bubblewrap: bool,
    /// Answers as a proxy with this, if there is a way to it.
    pub(crate) proxy_says: Option<String>,
    /// Descriptors that are left open on purpose.
    pub(crate) leak: Option<PathBuf>,
    /// What is done before, as root and out of sight of this machine.
    pub(crate) before: Option<String>,
    /// Where what was heard is written.
    pub(crate) told: PathBuf,
}

/// What the child tells.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) held: Option<Held>,
    /// `exited 0`, `killed 9`, `timed out`, `program 127`, `error …`.
    pub(crate) ending: String,
    /// What was set aside after the run.
    pub(crate) aside: Vec<PathBuf>,
}

pub(crate) fn main(spec: &str) {
    let spec: Spec = serde_json::from_str(spec).unwrap();
    let kept_open = spec.leak.as_deref().map(leak);
    let mut told = Told::default();
    told.ending = match run(&spec, &mut told) {
        Ok(Ending::Exited(code)) => format!("exited {code}"),
        Ok(Ending::Killed(signal)) => format!("killed {signal}"),
        Ok(Ending::TimedOut) => "timed out".to_owned(),
        Err(CageError::Program { code, .. }) => format!("program {code}"),
        Err(error) => format!("error {error}"),
    };
    write_told(&spec.told, &told);
    drop(kept_open);
}

fn write_told(at: &Path, told: &Told) {
    File::create(at).unwrap().write_all(&serde_json::to_vec(told).unwrap()).unwrap();
}

fn run(spec: &Spec, told: &mut Told) -> Result<Ending, CageError> {
    let path = |it: &Vec<u8>| PathBuf::from(OsString::from_vec(it.clone()));
    let mut cage = Cage {
        workspaces: spec.workspaces.iter().map(path).collect(),
        readable: spec.readable.iter().map(path).collect(),
        changed: spec.changed.iter().map(path).collect(),
        home: Some(PathBuf::from(&spec.home)),
        state: Some(PathBuf::from(&spec.state)),
        without: spec.without.clone(),
        needed: spec.needed.clone(),
        ..Cage::default()
    };
    if spec.bubblewrap {
        cage.maker = Maker::Bubblewrap;
    }
    if spec.proxy_says.is_some() {
        cage.network = Network::Proxy("name:word".to_owned());
    }
    for (name, value) in &spec.limits {
        match name.as_str() {
            "wall" => cage.limits.wall_time = Some(Duration::from_millis(*value)),
            "processes" => cage.limits.processes = u32::try_from(*value).unwrap(),
            "memory" => cage.limits.memory_bytes = *value,
            "file" => cage.limits.file_bytes = *value,
            "fresh" => cage.limits.fresh_bytes = *value,
            "files" => cage.limits.open_files = *value,
            _ => panic!("no such limit: {name}"),
        }
    }
    let mut inmate = Inmate {
        words: spec.words.iter().map(OsString::from).collect(),
        directory: path(&spec.directory),
        environment: spec.environment.iter().map(|(k, v)| (k.into(), v.into())).collect(),
        terminal: spec.terminal,
    };
    if vet(&inmate.words).is_err() {
        hide(&mut inmate);
    }
    let leave = || Ok(Leave::of_person(vet(&inmate.words).unwrap()));
    let mut waiting = cage.put(&inmate, leave)?;
    told.held = Some(waiting.held().clone());
    write_told(&spec.told, told);
    let listener = waiting.take_listener();
    assert_eq!(
        listener.is_some(),
        spec.proxy_says.is_some(),
        "a listener for a proxy, and only then"
    );
    if let (Some(listener), Some(answer)) = (listener, spec.proxy_says.clone()) {
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _gone = stream.unwrap().write_all(answer.as_bytes());
            }
        });
    }
    let (ending, aside) = waiting.begin()?.wait();
    told.aside = aside.into_iter().map(|it| it.now.unwrap_or(it.at)).collect();
    ending
}

/// What must never run is judged before it gets into a cage; the cage must hold it as if nobody had seen it coming.
fn hide(inmate: &mut Inmate) {
    assert_eq!(
        inmate.words.get(1).unwrap(),
        "-c",
        "only scripts can be hidden: {:?}",
        inmate.words
    );
    let script = inmate.words.pop().unwrap();
    inmate.words.push(format!("{HIDDEN}_=${HIDDEN}; unset {HIDDEN}; eval \"${HIDDEN}_\"").into());
    inmate.environment.push((HIDDEN.into(), script));
}

/// A secret file, the root directory and a socket with something to read, open for whoever is started.
fn leak(secret: &Path) -> Vec<OwnedFd> {
    let (one, mut other) = UnixStream::pair().unwrap();
    other.write_all(&std::fs::read(secret).unwrap()).unwrap();
    let all: Vec<OwnedFd> = vec![
        File::open(secret).unwrap().into(),
        File::open("/").unwrap().into(),
        File::open(secret.parent().unwrap()).unwrap().into(),
        one.into(),
        other.into(),
    ];
    for fd in &all {
        fcntl_setfd(fd.as_fd(), FdFlags::empty()).unwrap();
    }
    all
}
