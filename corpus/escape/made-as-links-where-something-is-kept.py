# what: a link that was made at such a place is not there at the end, either
# on: namespaces
# expect: made EROFS EBUSY EEXIST
os.makedirs("mine")
write("mine/config")
os.makedirs("mine/vscode")
for place in [".mcp.json", ".envrc", ".codex", ".git/commondir", ".git/config.worktree", ".gemini"]:
    try:
        os.symlink(f"{env['WS']}/mine", place)
        held(place, "made")
    except OSError as error:
        held(place, name(error))
