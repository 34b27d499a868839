# what: abstract sockets of the host are not reached
# expect: ECONNREFUSED EPERM EACCES
for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET]:
    def connect():
        it = socket.socket(socket.AF_UNIX, kind)
        it.settimeout(2)
        it.connect("\0" + env["ABSTRACT"])
        return it.recv(100)

    attempt(f"kind {kind}", connect)


def pair():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect("\0" + env["ABSTRACT"])
    return one.send(b"hello")


attempt("by a pair", pair)
