# what: services of the host at its loopback are not reached
# expect: ECONNREFUSED EACCES EPERM ENETUNREACH EAFNOSUPPORT EADDRNOTAVAIL EPROTONOSUPPORT
for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::ffff:127.0.0.1")]:
    def tcp(protocol=0):
        it = socket.socket(family, socket.SOCK_STREAM, protocol)
        it.settimeout(2)
        it.connect((address, int(env["TCP"])))
        return it.recv(100)

    attempt(f"tcp {address}", tcp)
    attempt(f"multipath tcp {address}", lambda: tcp(262))
    attempt(f"sctp {address}", lambda: tcp(132))


def fast_open():
    it = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    it.sendto(b"hello", 0x20000000, ("127.0.0.1", int(env["TCP"])))
    return it.recv(100)


attempt("tcp fast open", fast_open)
