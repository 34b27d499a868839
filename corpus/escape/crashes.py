# what: a crash inside starts no program outside
# expect: EPERM bounded
# Where the system pipes memory images to a program, it does so for every limit but one: a single byte.
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
if (soft, hard) == (1, 1):
    held("the image of a crash", "bounded")
else:
    escaped(f"the image of a crash: {soft} {hard}")
attempt("more", lambda: call(302 if X86_64 else 261, 0, resource.RLIMIT_CORE, struct.pack("QQ", 2, 2), 0))
