# what: every call of the list is refused before the kernel looks at its arguments
# expect: EPERM
# The arguments mean nothing: a call that came through would answer something else, and do nothing.
for line in env["DENIED"].split("\n"):
    what, number = line.split()
    # It has no arguments to be wrong.
    if what != "vhangup":
        attempt(what, lambda: call(int(number), -1, -1, -1, -1, -1, -1))
