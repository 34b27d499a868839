# what: programs, libraries and settings of the system stay as they are
# expect: EACCES EPERM EROFS ENOENT EXDEV ENOTDIR EISDIR
for dir in ["/usr", "/usr/bin", "/usr/lib", "/bin", "/etc", "/etc/cron.d", "/etc/profile.d", "/opt", "/lib", "/boot", "/root", "/var/spool/cron"]:
    attempt(f"add to {dir}", lambda: write(f"{dir}/lazaret-escape"))
    attempt(f"add a directory to {dir}", lambda: os.mkdir(f"{dir}/lazaret-escape-dir"))
    attempt(f"move into {dir}", lambda: os.rename("src/main.c", f"{dir}/lazaret-escape"))
# Programs that nobody is running just now: those could not be written to anyway.
for file in ["/etc/passwd", "/etc/ld.so.cache", "/etc/hosts", "/usr/bin/shuf", "/bin/tsort"]:
    attempt(f"open {file}", lambda: os.open(file, os.O_WRONLY))
