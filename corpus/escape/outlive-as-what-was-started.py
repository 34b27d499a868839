# what: no timer, job or service of the system takes something over
# expect: failed
import subprocess
for words in [["systemd-run", "--user", "true"], ["systemd-run", "true"], ["crontab", "-l"], ["at", "now"], ["dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"],
              ["busctl", "list"], ["loginctl", "list-sessions"], ["docker", "ps"]]:
    try:
        code = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20).returncode
    except (OSError, subprocess.TimeoutExpired):
        code = 1
    if code:
        held(words[0], "failed")
    else:
        escaped(f"{words}")
