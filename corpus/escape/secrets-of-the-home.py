# what: no secret of the home is read by its own name
# expect: ENOENT EACCES EPERM
for secret in env["SECRETS"].split("\n"):
    attempt(secret, lambda: read(f"{env['HOST_HOME']}/{secret}"))
    parts = os.path.dirname(secret)
    if parts.startswith("."):
        try:
            for seen in os.listdir(f"{env['HOST_HOME']}/{parts}"):
                if seen == os.path.basename(secret):
                    escaped(f"saw {secret}")
        except OSError:
            pass
