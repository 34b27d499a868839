# what: limits are not raised again
# expect: EPERM
# limits: processes=310 files=100 file=4M
import resource
for what in ["RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"]:
    def more():
        number = getattr(resource, what)
        soft, hard = resource.getrlimit(number)
        new = struct.pack("QQ", hard + 1, hard + 1)
        return call(302 if X86_64 else 261, 0, number, new, 0)

    attempt(what, more)
