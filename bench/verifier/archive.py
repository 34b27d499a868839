"""A bundle as a zip, read by docs/formats.md ("Archives"): what does not lie exactly so is refused."""

import stat
import struct
import unicodedata
import zlib

import normal

ENTRIES_MAX = 100_000
ENTRY_BYTES_MAX = 16 << 30
TOTAL_BYTES_MAX = 64 << 30
RATIO_MAX = 200
RATIO_FREE_BYTES = 64 << 20
NAME_BYTES_MAX = 1024
DEPTH_MAX = 16
DIRECTORY_BYTES_MAX = 64 << 20

END, WIDE_END, LOCATOR = "<4s4H2IH", "<4sQ2H2I4Q", "<4sIQI"
ENTRY, LOCAL = "<4s6H3I5H2I", "<4s5H3I2H"
U16, U32 = 0xFFFF, 0xFFFFFFFF
DESCRIPTOR, UTF8, EFFORT = 1 << 3, 1 << 11, 1 << 1 | 1 << 2
STORED, DEFLATED = 0, 8
WIDE_FIELD = 0x0001
# Another name for the entry, or encryption.
FIELDS_REFUSED = (0x0008, 0x0017, 0x7075, 0x9901)


class Refused(Exception):
    pass


def demand(holds, what):
    if not holds:
        raise Refused(what)


def unpack(layout, data, at):
    demand(0 <= at and at + struct.calcsize(layout) <= len(data), "cut short")
    return struct.unpack_from(layout, data, at)


class Entry:
    pass


class Archive:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        start, end, count = directory_place(self.data)
        entries = directory(self.data, start, end, count)
        layout(self.data, entries, start)
        self.tree = tree(entries)
        total = sum(it.size for it in entries)
        demand(all(it.size <= ENTRY_BYTES_MAX for it in entries) and total <= TOTAL_BYTES_MAX, "too long")
        demand(total <= max(RATIO_FREE_BYTES, RATIO_MAX * len(self.data)), "it inflates too much")
        self.entries = {it.name: it for it in entries}
        for it in entries:
            self._contents(it)

    def list(self, folder):
        inside = folder + "/" if folder else ""
        paths = {path.removeprefix(inside): kind for path, kind in self.tree.items() if path.startswith(inside)}
        return {name: kind for name, kind in paths.items() if "/" not in name}

    def read(self, name):
        if name not in self.entries:
            raise OSError("not there")
        return self._contents(self.entries[name])

    def _contents(self, it):
        raw = self.data[it.start : it.start + it.packed]
        if it.method == DEFLATED:
            inflate = zlib.decompressobj(-15)
            try:
                raw = inflate.decompress(raw, it.size + 1)
                ended = inflate.eof or not inflate.decompress(inflate.unconsumed_tail, 1)
            except zlib.error as error:
                raise Refused(str(error)) from None
            demand(ended and inflate.eof and not inflate.unused_data, "its deflated data do not end there")
        demand(len(raw) == it.size and zlib.crc32(raw) == it.crc, "length or checksum is false")
        return raw


def directory_place(data):
    """Where the directory begins and ends, and how many entries it has."""
    end_at = len(data) - struct.calcsize(END)
    signature, *narrow, comment = unpack(END, data, end_at)
    demand(signature == b"PK\5\6" and comment == 0, "it does not end with its end record")
    fields, directory_end = narrow, end_at
    locator_at = end_at - struct.calcsize(LOCATOR)
    if locator_at >= 0 and data[locator_at : locator_at + 4] == b"PK\6\7":
        _, wide_disk, wide_at, disks = unpack(LOCATOR, data, locator_at)
        demand(wide_disk == 0 and disks <= 1, "several disks")
        demand(wide_at + struct.calcsize(WIDE_END) == locator_at, "the 64-bit record is elsewhere")
        signature, length, _, _, *fields = unpack(WIDE_END, data, wide_at)
        demand(signature == b"PK\6\6" and length == struct.calcsize(WIDE_END) - 12, "the 64-bit record")
        limits = [U16] * 4 + [U32] * 2
        agree = all(a in (b, limit) for a, b, limit in zip(narrow, fields, limits))
        demand(agree, "the two end records differ")
        directory_end = wide_at
    else:
        demand(narrow[3] != U16 and U32 not in narrow[4:], "a 64-bit record is missing")
    disk, directory_disk, here, count, size, start = fields
    demand(disk == directory_disk == 0 and here == count, "several disks")
    demand(start + size == directory_end, "something before or behind the directory")
    demand(count <= ENTRIES_MAX and size <= DIRECTORY_BYTES_MAX, "too many entries")
    return start, directory_end, count


def directory(data, at, end, count):
    entries = []
    while at < end:
        it = Entry()
        signature, _, _, it.flags, it.method, _, _, it.crc, packed, size, name, extra, comment, disk, _, mode, offset = (
            unpack(ENTRY, data, at)
        )
        demand(signature == b"PK\1\2" and disk == 0 and len(entries) < count, "the directory")
        at += struct.calcsize(ENTRY)
        it.raw_name = data[at : at + name]
        count_wide = [size, packed, offset].count(U32)
        wide = extra_fields(data[at + name : at + name + extra])
        demand((wide is None) == (count_wide == 0) and len(wide or []) == count_wide, "64-bit sizes")
        it.size, it.packed, it.offset = (wide.pop(0) if value == U32 else value for value in (size, packed, offset))
        at += name + extra + comment
        check_entry(it, stat.S_IFMT(mode >> 16))
        entries.append(it)
    demand(at == end and len(entries) == count, "the directory does not have as many entries as it says")
    return entries


def extra_fields(data):
    """The 64-bit numbers, if there are any."""
    found, at = None, 0
    while len(data) - at >= 4:
        kind, length = struct.unpack_from("<2H", data, at)
        at += 4 + length
        demand(at <= len(data) and kind not in FIELDS_REFUSED, "an extra field")
        if kind == WIDE_FIELD:
            demand(found is None and length % 8 == 0, "64-bit sizes")
            found = list(struct.unpack_from(f"<{length // 8}Q", data, at - length))
    demand(at == len(data), "an extra field")
    return found


def check_entry(it, kind):
    demand(0 < len(it.raw_name) <= NAME_BYTES_MAX, "the length of a name")
    try:
        it.name = it.raw_name.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("a name is not UTF-8") from None
    it.folder = it.name.endswith("/")
    parts = it.name.removesuffix("/").split("/")
    bad = any(part in ("", "..") or part[-1] in " ." for part in parts) or len(parts) > DEPTH_MAX
    bad = bad or any(char in "\\:\ufffd" or unicodedata.category(char) == "Cc" for char in it.name)
    demand(not bad, f"the name {it.name!r}")
    demand(it.name.isascii() or it.flags & UTF8, "a name that is not marked as UTF-8")
    demand(kind in (0, stat.S_IFDIR if it.folder else stat.S_IFREG), "neither file nor folder")
    demand(not it.folder or it.size == it.packed == 0, "a folder with data")
    demand(it.method in (STORED, DEFLATED) and not it.flags & ~(EFFORT | DESCRIPTOR | UTF8), "method or flags")
    if it.method == STORED:
        demand(not it.flags & DESCRIPTOR and it.size == it.packed, "a stored entry without its length")


def layout(data, entries, end):
    """Each entry begins where the one before ends, the first with the archive, and repeats what the directory says."""
    order = sorted(entries, key=lambda it: it.offset)
    ends = [it.offset for it in order[1:]] + [end]
    demand((order[0].offset if order else end) == 0, "something before the entries")
    for it, next_at in zip(order, ends):
        at = it.offset
        signature, _, flags, method, _, _, crc, packed, size, name, extra = unpack(LOCAL, data, at)
        at += struct.calcsize(LOCAL)
        same = data[at : at + name] == it.raw_name and method == it.method and not (flags ^ it.flags) & ~EFFORT
        demand(signature == b"PK\3\4" and same, f"the header of {it.name!r}")
        wide = extra_fields(data[at + name : at + name + extra])
        demand(wide is None or len(wide) == 2, "64-bit sizes")
        said = [(crc, it.crc)]
        for place, (value, true) in enumerate(((size, it.size), (packed, it.packed))):
            # Some readers take these even where the 32-bit sizes do not point here.
            said += [(wide[place], true)] if wide else []
            said += [] if wide and value == U32 else [(value, true)]
        later = it.flags & DESCRIPTOR
        demand(all(a == b or later and a == 0 for a, b in said), f"the header of {it.name!r}")
        it.start = at + name + extra
        at = it.start + it.packed
        demand(at <= next_at, "entries overlap")
        demand(data[at:next_at] in (descriptors(it) if later else (b"",)), "something between the entries")


def descriptors(it):
    """The mark may be absent, and sizes have 32 or 64 bits."""
    forms = [struct.pack("<I2Q", it.crc, it.packed, it.size)]
    if max(it.packed, it.size) <= U32:
        forms.append(struct.pack("<3I", it.crc, it.packed, it.size))
    return forms + [b"PK\7\x08" + form for form in forms]


def tree(entries):
    """Each path with what lies there; no file is a folder as well, and none differ by case alone."""
    out, spelled = {}, {}
    for it in entries:
        parts = it.name.removesuffix("/").split("/")
        paths = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        for path in paths:
            folded = normal.nfc(normal.nfc(path).casefold())
            demand(spelled.setdefault(folded, path) == path, f"{path!r} is there in another spelling")
        for path in paths[:-1]:
            demand(out.setdefault(path, "folder") == "folder", f"{path!r} is a file and a folder")
        own = "folder" if it.folder else "file"
        there = out.setdefault(paths[-1], own)
        demand(there == own, f"{paths[-1]!r} is a file and a folder")
    names = [it.name for it in entries]
    demand(len(set(names)) == len(names), "two entries of one name")
    return out
