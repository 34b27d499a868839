# what: nothing is typed into a terminal as if by its user
# expect: EPERM
# terminal: yes
import fcntl
import termios
if not os.isatty(0):
    escaped("from the test: there is no terminal")
byte = ctypes.create_string_buffer(b"x\n")
for fd in [0, 1, 2, os.open("/dev/tty", os.O_RDWR)]:
    attempt(f"TIOCSTI {fd}", lambda: fcntl.ioctl(fd, termios.TIOCSTI, b"x"))
    attempt(f"TIOCSTI with high bits {fd}", lambda: call(16 if X86_64 else 29, fd, (1 << 32) | termios.TIOCSTI, byte))
    attempt(f"TIOCLINUX {fd}", lambda: fcntl.ioctl(fd, 0x541C, b"\x03"))
    attempt(f"TIOCSETD {fd}", lambda: fcntl.ioctl(fd, termios.TIOCSETD, struct.pack("i", 0)))
