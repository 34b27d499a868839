# what: system calls of 32-bit programs end the process
# expect: SIGSYS SIGSEGV
import mmap
if X86_64:
    # mov eax, 20 (getpid); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
    run = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))

    def act():
        if run() == os.getpid():
            escaped("getpid by int 0x80")

    status = children(act, 1)[0]
    if os.WIFSIGNALED(status):
        held("int 0x80", signal.Signals(os.WTERMSIG(status)).name)
    else:
        escaped("int 0x80 came back")
else:
    held("not this processor", "SIGSYS")
