# what: what git, editors and agents obey in a workspace stays as it is
# on: namespaces
# expect: EACCES EPERM EROFS EBUSY EXDEV ENOENT ENOTDIR EISDIR EINVAL ENOTEMPTY
RENAME_EXCHANGE = 2
os.makedirs("mine/hooks")
write("mine/config")
for path in [".git/config", ".git/hooks/pre-commit.sample", ".claude/settings.json", ".vscode/settings.json",
             ".git/modules/lib/config", ".git/modules/lib/hooks/update.sample"]:
    attempt(f"write {path}", lambda: write(path, os.O_WRONLY))
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"remove {path}", lambda: os.unlink(path))
    attempt(f"replace {path}", lambda: os.replace("mine/config", path))
    attempt(f"move {path}", lambda: os.rename(path, "elsewhere"))
    attempt(f"mode {path}", lambda: os.chmod(path, 0o777))
    attempt(f"exchange {path}", lambda: call(316, -100, path.encode(), -100, b"mine/config", RENAME_EXCHANGE) if X86_64 else os.open("/nothing", 0))
for path in [".git/hooks/pre-commit", ".git/hooks/post-checkout", ".claude/commands", ".git/modules/lib/hooks/update"]:
    attempt(f"add {path}", lambda: write(path))
    attempt(f"link {path}", lambda: os.symlink("../../mine/config", path))
    attempt(f"hard link {path}", lambda: os.link("mine/config", path))
for dir in [".git", ".git/hooks", ".claude", ".vscode", ".git/modules", ".git/modules/lib"]:
    attempt(f"move {dir}", lambda: os.rename(dir, "elsewhere"))
    attempt(f"exchange {dir}", lambda: call(316, -100, dir.encode(), -100, b"mine", RENAME_EXCHANGE) if X86_64 else os.open("/nothing", 0))
