//! t
use sandbox::cage::*;
fn main() {
    let mut args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let mut cage = Cage::default();
    cage.home = std::env::home_dir();
    let ws = std::env::current_dir().unwrap();
    cage.workspaces.push(ws.clone());
    let mut inmate = Inmate::default();
    while let Some(a) = args.first().and_then(|a| a.to_str()).and_then(|a| a.strip_prefix("--")).map(str::to_owned) {
        args.remove(0);
        if a == "tty" { inmate.terminal = true; } else if a == "net" { cage.network = Network::Proxy("a:b".into()) } else { cage.without.push(Rung::parse(&a).unwrap()); }
    }
    inmate.words = args;
    inmate.directory = ws;
    inmate.environment = vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin".into()), ("HOME".into(), cage.home.clone().unwrap().into())];
    match cage.put(&inmate) {
        Ok(w) => { if std::env::var("Q").is_err() { eprintln!("{}", w.held()); } let e = w.begin().unwrap().wait(); if std::env::var("Q").is_err() {eprintln!("{e:?}");} }
        Err(e) => eprintln!("ERR {e}"),
    }
}
