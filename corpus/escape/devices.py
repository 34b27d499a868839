# what: no device but the plain ones
# expect: ENOENT EACCES EPERM ENXIO EROFS ENOSPC
import glob
import stat
for path in ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/fuse", "/dev/net/tun", "/dev/kvm", "/dev/vda", "/dev/sda", "/dev/nvme0n1",
             "/dev/loop-control", "/dev/loop0", "/dev/mapper/control", "/dev/vsock", "/dev/vhost-vsock", "/dev/uinput", "/dev/input/event0", "/dev/tty1", "/dev/console",
             "/dev/pts/0", "/dev/dri/card0", "/dev/rfkill", "/dev/cpu/0/msr"]:
    attempt(path, lambda: os.open(path, os.O_RDONLY | os.O_NONBLOCK))
for at in [env["WS"], "/tmp", "/dev", "/dev/shm"]:
    for kind, number in [(stat.S_IFCHR, (1, 1)), (stat.S_IFCHR, (5, 1)), (stat.S_IFBLK, (254, 0))]:
        attempt(f"make one in {at}", lambda: os.mknod(f"{at}/node", kind | 0o666, os.makedev(*number)))
