# what: a crash inside starts no program outside
# expect: EPERM bounded
# Where the system pipes memory images to a program, it does so for every limit but one: a single byte.
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
if (soft, hard) == (1, 1):
    held("the image of a crash", "bounded")
else:
    escaped(f"the image of a crash: {soft} {hard}")
attempt("more", lambda: resource.setrlimit(resource.RLIMIT_CORE, (2, 2)))
