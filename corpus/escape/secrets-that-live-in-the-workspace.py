# what: a secret that lies in the workspace because a link of the home leads there is not read, moved or replaced
# expect: EACCES EROFS EBUSY EPERM ENOTDIR EXDEV EINVAL
# on: namespaces
# world: dotfiles
ws = env["WS"]
for place in ["netrc", "key", "gnupg/secret"]:
    attempt(f"read {place}", lambda: read(f"{ws}/dotfiles/{place}"))
for place in ["netrc", "key", "gnupg"]:
    at = f"{ws}/dotfiles/{place}"
    attempt(f"move {place}", lambda: os.rename(at, f"{ws}/elsewhere"))
    attempt(f"replace {place}", lambda: os.replace(f"{ws}/src/main.c", at))
    attempt(f"allow {place}", lambda: os.chmod(at, 0o777))
attempt("list gnupg", lambda: os.listdir(f"{ws}/dotfiles/gnupg"))
attempt("write what the shell runs", lambda: write(f"{ws}/dotfiles/bashrc"))
attempt("remove what the shell runs", lambda: os.unlink(f"{ws}/dotfiles/bashrc"))
attempt("move all of it away", lambda: os.rename(f"{ws}/dotfiles", f"{ws}/moved"))
attempt("read the environment file", lambda: read(f"{ws}/.env"))
attempt("remove the environment file", lambda: os.unlink(f"{ws}/.env"))
