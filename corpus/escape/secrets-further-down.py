# what: a file with an environment or a password is not read wherever in the workspace it lies
# expect: EACCES EROFS EBUSY EPERM ENOTDIR EXDEV EINVAL
# on: namespaces
# world: dotfiles
ws = env["WS"]
for place in ["packages/api/.env", "packages/api/deep/er/.env.production", "deploy/.netrc", "deploy/.env-live"]:
    at = f"{ws}/{place}"
    attempt(f"read {place}", lambda: read(at))
    attempt(f"move {place}", lambda: os.rename(at, f"{ws}/elsewhere"))
    attempt(f"remove {place}", lambda: os.unlink(at))
    attempt(f"link {place}", lambda: os.link(at, f"{ws}/another"))
    attempt(f"allow {place}", lambda: os.chmod(at, 0o777))
attempt("move what it lies in", lambda: os.rename(f"{ws}/packages/api/deep", f"{ws}/moved"))
with open(f"{ws}/packages/api/.env.example") as file:
    held("an example is read", "EACCES" if file.read() else "nothing in it")
