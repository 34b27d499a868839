# what: no link that was planted in the workspace leads to a secret, our state or another file
# expect: ENOENT EACCES EPERM ENOTDIR EISDIR EXDEV
import glob
for link in sorted(glob.glob(f"{env['WS']}/links/*")):
    for below in ["", "/secret", "/file", "/store", "/etc/shadow"]:
        attempt(link + below, lambda: read(link + below))
    if not (link.endswith("/root") and env["LADDER"] == "bubblewrap"):
        # There it is the root that we are in.
        attempt(f"list {link}", lambda: os.listdir(link))
# New ones lead nowhere else.
os.symlink(f"{env['HOST_HOME']}/.netrc", "fresh-link")
attempt("a new link", lambda: read("fresh-link"))
attempt("a hard link", lambda: os.link(f"{env['HOST_HOME']}/.netrc", "hard-link"))
