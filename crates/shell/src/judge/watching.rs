//! What sees or hears people: their network, their screen, their keys, their clipboard.

use super::super::Class;
use super::super::engine::Engine;
use super::super::names;
use super::super::simple::Call;
use super::option;
use crate::Rule;
use crate::tables::Words;

/// They take a picture of the screen, whatever their arguments.
static SCREEN: Words = Words::named("judge.watching.SCREEN");
/// Devices and displays as programs for films and sound name them.
static CAPTURED: Words = Words::named("judge.watching.CAPTURED");

impl Engine<'_> {
    /// What others type, show, send or keep in memory.
    pub(super) fn judge_watching(&mut self, call: &Call<'_>) {
        let plain = call.plain();
        let shown = |it: &String| it.starts_with("root:") || it.starts_with("x:");
        let root_window = plain.iter().any(|it| it == "-root" || it == "root" || shown(it));
        let watches = match call.name.as_str() {
            "tcpdump" => !reads_saved(call, 'r', "BcCEFGijmMQsTVwWyzZ"),
            "tshark" => {
                !reads_saved(call, 'r', "abBcCdDeEfFHijJKNoOQRsSTuUwWXyYz")
                    || plain.iter().any(|it| it.contains("lua_script"))
            }
            "ngrep" => !reads_saved(call, 'I', "AcdFnOPsSW"),
            "strace" | "ltrace" | "truss" | "ktrace" => attaches(call),
            "dumpcap" | "ettercap" | "bettercap" | "arpspoof" | "dsniff" | "logkeys" | "xspy" => {
                true
            }
            "xwd" | "import" => root_window,
            "gcore" | "procdump" => true,
            "gdb" | "lldb" => option(call, Some('p'), "pid") || call.has(&["attach"]),
            "xterm" => call.has(&["-display"]),
            "nmap" => {
                call.has(&["--interactive", "--script"])
                    || plain.iter().any(|it| it.starts_with("--script=") && it.contains('/'))
            }
            "ztcp" => true,
            "machinectl" => call.words().first().is_some_and(|it| it == "shell" || it == "login"),
            "bpftrace" | "stap" => call.short('e'),
            "procstat" => call.short('e'),
            "capsh" => call.has(&["--"]) || plain.iter().any(|it| it.starts_with("--uid=0")),
            "bwrap" | "proot" | "systemd-nspawn" | "flatpak-spawn" => call.args.len() > 1,
            "frida" | "frida-trace" => call.short('p') || option(call, None, "attach-pid"),
            // A shell of another machine is made ready for a person.
            "stty" => call.has(&["raw"]) && call.has(&["-echo"]),
            "xev" => call.has(&["-root"]),
            "ip" | "ifconfig" => {
                call.words().iter().any(|it| it == "promisc") && !call.has(&["off", "-promisc"])
            }
            "debugfs" => {
                let asked = |it: &String| it.starts_with("cat ") || it.starts_with("dump ");
                plain.iter().any(asked)
            }
            "zmodload" => plain.iter().any(|it| it.starts_with("zsh/net")),
            _ => false,
        };
        let lists = matches!(call.name.as_str(), "tcpdump" | "tshark")
            && call.has(&["-D", "--list-interfaces"]);
        if watches && !lists {
            self.classes.insert(Class::Credentials);
            self.ask(Rule::Watching, format!("`{}` sees what is not meant for it", call.name));
        }
        if captures(call) {
            self.classes.insert(Class::Credentials);
            self.ask(Rule::Collection, "it takes what a person sees, says, copies or types");
        }
    }
}

/// Is a file of packets read, and not a network? The letters in `valued` take what stands behind them.
fn reads_saved(call: &Call<'_>, wanted: char, valued: &str) -> bool {
    let mut args = call.plain().iter();
    while let Some(arg) = args.next() {
        if arg == "--read-file" || arg.starts_with("--read-file=") {
            return true;
        }
        let letters = arg.strip_prefix('-').filter(|it| !it.starts_with('-')).unwrap_or_default();
        for (at, letter) in letters.char_indices() {
            if letter == wanted {
                return true;
            }
            if valued.contains(letter) {
                // The next word is its value.
                let is_last = at + letter.len_utf8() == letters.len();
                let _value = if is_last { args.next() } else { None };
                break;
            }
        }
    }
    false
}

/// Does a tracer look into a process that runs already?
pub(in super::super) fn attaches(call: &Call<'_>) -> bool {
    call.plain().iter().any(|it| it.starts_with("-p") || it.starts_with("--attach"))
}

/// Processes that hold passwords and keys.
fn keeps_secrets(name: &str) -> bool {
    static KEEPERS: Words = Words::named("judge.watching.KEEPERS");
    KEEPERS.iter().any(|it| name.contains(it)) || name == "su"
}

impl Engine<'_> {
    /// `exec -a`: under which name a command runs.
    pub(in super::super) fn judge_prefix(&mut self, call: &Call<'_>) {
        let plain = call.plain();
        let renamed = plain.windows(2).find_map(|it| match it {
            [flag, name] if flag == "-a" && call.name == "exec" => Some(name),
            _ => None,
        });
        if renamed.is_some_and(|it| it.starts_with('[') || names::matters(it) || keeps_secrets(it))
        {
            self.ask(Rule::Masquerade, "a program gets the name of another");
        }
    }
}

fn captures(call: &Call<'_>) -> bool {
    let words = call.words();
    let lists = call.has(&["-l", "-L", "--list", "--list-devices", "--list-pcms"]);
    let name = call.name.as_str();
    match name {
        "pbpaste" | "wl-paste" => true,
        "xclip" => call.plain().iter().any(|it| it.len() > 1 && "-out".starts_with(it.as_str())),
        // Without a word of what to do, it prints unless something is put into it.
        "xsel" => {
            let puts = ['i', 'a', 'c', 'd', 'k', 'x'].iter().any(|it| call.short(*it))
                || call.has(&[
                    "--input",
                    "--append",
                    "--clear",
                    "--delete",
                    "--keep",
                    "--exchange",
                ]);
            option(call, Some('o'), "output")
                || (!puts && call.stdin.is_none() && !call.has(&["--help", "--version"]))
        }
        "sox" => call.plain().iter().rev().skip(1).any(|it| it == "-d" || it == "--default-device"),
        "rec" | "imagesnap" | "ttyrec" => !call.args.is_empty() && !lists,
        "script" => {
            let hidden = |it: &String| {
                it.starts_with("/tmp/") || it.contains("/.") || it.starts_with("/dev/shm/")
            };
            option(call, Some('f'), "flush") && call.operands().iter().any(hidden)
        }
        // A window that asks a person for a password.
        "zenity" | "kdialog" | "yad" => {
            call.plain().iter().any(|it| it == "--password" || it == "--hide-text")
        }
        "arecord" | "parec" | "parecord" | "pw-record" | "fswebcam" | "streamer" => !lists,
        "ffmpeg" | "avconv" | "gst-launch-1.0" | "mencoder" => {
            let glued =
                |it: &String| it.strip_prefix("-f").is_some_and(|it| CAPTURED.contains(&it));
            words.iter().any(|it| CAPTURED.contains(&it.as_str())) || call.plain().iter().any(glued)
        }
        "xinput" => call.plain().first().is_some_and(|it| {
            it.trim_start_matches('-') == "test" || it.trim_start_matches('-') == "test-xi2"
        }),
        "evtest" | "showkey" => true,
        "libinput" => words.first().is_some_and(|it| it == "debug-events" || it == "record"),
        _ => SCREEN.contains(&name),
    }
}
