# what: what git and agents obey in repositories further down in the workspace stays as it is
# on: namespaces
# expect: EACCES EPERM EROFS EBUSY EXDEV ENOENT ENOTDIR EISDIR EINVAL ENOTEMPTY
os.makedirs("mine/hooks")
write("mine/config")
for path in ["packages/api/.git/config", "packages/api/.git/hooks/pre-commit.sample", "packages/api/.claude/settings.json",
             "packages/web/.git", "mirror.git/config", "mirror.git/hooks/update.sample",
             "node_modules/left/.git/config", ".git/worktrees/tree/commondir", "tree/.git"]:
    attempt(f"write {path}", lambda: write(path, os.O_WRONLY))
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"remove {path}", lambda: os.unlink(path))
    attempt(f"replace {path}", lambda: os.replace("mine/config", path))
    attempt(f"move {path}", lambda: os.rename(path, "elsewhere"))
    attempt(f"mode {path}", lambda: os.chmod(path, 0o777))
for path in ["packages/api/.git/hooks/pre-commit", "packages/api/.claude/commands", "mirror.git/hooks/update"]:
    attempt(f"add {path}", lambda: write(path))
    attempt(f"link {path}", lambda: os.symlink("../../mine/config", path))
    attempt(f"hard link {path}", lambda: os.link("mine/config", path))
for dir in ["packages", "packages/api", "packages/api/.git", "packages/api/.git/hooks", "mirror.git", "node_modules", "tree"]:
    attempt(f"move {dir}", lambda: os.rename(dir, "elsewhere"))
