#!/usr/bin/env python3
"""Writes disguises of commands, several layers deep, as obfuscators of shell commands make them.

`disguise.py SEED COUNT PAYLOADS > OUT`: PAYLOADS is a file of JSON lines with `command`; each line of OUT
has `command` (the disguise), `plain` (what it hides) and `layers`. Nothing is run.
"""

import base64, bz2, gzip, json, lzma, random, sys, zlib

R = random.Random()
NAMES = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def name():
    return R.choice(NAMES) + "".join(R.choice(NAMES + "0123456789_") for _ in range(R.randint(2, 7)))


def q(text):
    """In single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


def dq(text):
    """In double quotes."""
    return '"' + "".join("\\" + c if c in '"$`\\' else c for c in text) + '"'


def qq(text):
    return R.choice([q, dq])(text) if "!" not in text else q(text)


def pieces(text, most=6):
    cuts = sorted(R.sample(range(1, len(text)), min(len(text) - 1, R.randint(1, most)))) if len(text) > 1 else []
    return [text[a:b] for a, b in zip([0] + cuts, cuts + [len(text)])]


# --- letters of one word -------------------------------------------------------------------------


def w_ansi(word):
    kind = R.randint(0, 4)
    def one(c):
        b = c.encode()
        if kind == 0:
            return "".join("\\x%02x" % x for x in b)
        if kind == 1:
            return "".join("\\%03o" % x for x in b)
        if kind == 2:
            return "\\u%04x" % ord(c)
        if kind == 3:
            return "\\U%08x" % ord(c)
        return R.choice(["".join("\\x%02X" % x for x in b), "".join("\\%o" % x for x in b) if False else "".join("\\%03o" % x for x in b)])
    return "$'" + "".join(one(c) for c in word) + "'"


def w_quotes(word):
    out = ""
    for piece in pieces(word, 8):
        out += R.choice([q(piece), dq(piece), "".join("\\" + c for c in piece) if "\n" not in piece else q(piece)])
        out += R.choice(["", "''", '""', ""])
    return out


def w_empty(word):
    gap = lambda: R.choice(["${%s:-}" % name(), "$@", "${@}", "$*", "${*}", "''", '""', "``", "$()", "${%s}" % name(), "$(:)", "${!%s*}" % name()])
    return gap() + "".join((c if c.isalnum() or c in "-_./=" else q(c)) + (gap() if R.random() < 0.7 else "") for c in word)


def w_default(word):
    return "".join("${%s:-%s}" % (name(), q(p) if not p.isalnum() else p) for p in pieces(word))


def w_echo(word):
    return '"$(%s)"' % R.choice(["echo %s", "printf %%s %s", "printf '%%s' %s", "echo -n %s", "cat <<<%s"]) % q(word)


def w_printf(word):
    body = "".join(R.choice(["\\x%02x" % b, "\\%03o" % b]) for b in word.encode())
    return '"$(%s)"' % R.choice(["printf %s" % q(body), "printf %%b %s" % q(body), "echo -e %s" % q("".join("\\x%02x" % b for b in word.encode())), "echo -ne %s" % q("".join("\\0%03o" % b for b in word.encode()))])


def w_rev(word):
    return '"$(rev<<<%s)"' % q(word[::-1])


def w_tr(word):
    letters = sorted(set(word))
    if any(not c.isalnum() for c in letters):
        return w_rev(word)
    pool = [c for c in NAMES + "0123456789"]
    to = R.sample(pool, len(letters))
    coded = "".join(to[letters.index(c)] for c in word)
    return '"$(tr %s %s <<<%s)"' % (q("".join(to)), q("".join(letters)), q(coded))


def w_cut(word):
    junk = "".join(R.choice(NAMES) for _ in range(R.randint(3, 9)))
    text = junk + word + junk[::-1]
    a = len(junk)
    if R.random() < 0.2 and "\\" not in word:
        return '"$(awk %s <<<%s)"' % (q("{print substr($0,%d,%d)}" % (a + 1, len(word))), q(text))
    return '"$(%s)"' % R.choice([
        "cut -c%d-%d <<<%s" % (a + 1, a + len(word), q(text)),
        "cut -b %d-%d<<<%s" % (a + 1, a + len(word), q(text)),
        "head -c%d <<<%s|tail -c%d" % (a + len(word), q(text), len(word)),
        "printf %%s %s | cut -c%d-%d" % (q(text), a + 1, a + len(word)),
        "expr substr %s %d %d" % (q(text), a + 1, len(word)) if not word.startswith("-") else "cut -c%d-%d <<<%s" % (a + 1, a + len(word), q(text)),
    ])


def w_sed(word):
    junk = "".join(R.choice("QXZJ") for _ in range(3)) + "#"
    text = "".join(c + (junk if R.random() < 0.5 else "") for c in word)
    return '"$(sed %s <<<%s)"' % (R.choice(["s/%s//g", "'s|%s||g'", "'s,%s,,g'", "-e s/%s//g"]) % junk, q(text))


WORDS = [w_ansi, w_quotes, w_empty, w_default, w_echo, w_printf, w_rev, w_tr, w_cut, w_sed]


# --- words that need a statement before ---------------------------------------------------------


def v_case(word):
    if any(c.isupper() for c in word):
        return None
    n = name()
    s = "".join(c.upper() if R.random() < 0.6 else c for c in word)
    return "%s=%s" % (n, q(s)), R.choice(["${%s,,}", '"${%s,,}"', '"${%s@L}"']) % n


def v_swap(word):
    n = name()
    return "%s=%s" % (n, q(word.swapcase())), '"${%s~~}"' % n


def v_pieces(word):
    parts = pieces(word)
    names = [name() for _ in parts]
    order = list(range(len(parts)))
    R.shuffle(order)
    return ";".join("%s=%s" % (names[i], qq(parts[i])) for i in order), '"%s"' % "".join("${%s}" % n for n in names)


def v_array(word):
    n = name()
    parts = list(word)
    order = list(range(len(parts)))
    R.shuffle(order)
    shuffled = [parts[i] for i in order]
    where = [order.index(i) for i in range(len(parts))]
    return "%s=(%s)" % (n, " ".join(q(c) for c in shuffled)), '"%s"' % "".join("${%s[%d]}" % (n, i) for i in where)


def v_slice(word):
    letters = list(NAMES + "0123456789/-_.=:, ")
    R.shuffle(letters)
    text = "".join(letters)
    if any(c not in text for c in word):
        return None
    n = name()
    return "%s=%s" % (n, q(text)), '"%s"' % "".join("${%s:%s:1}" % (n, R.choice(["%d", "%d ", "$((%d))"]) % text.index(c)) for c in word)


def v_indirect(word):
    a, b = name(), name()
    return "%s=%s;%s=%s" % (a, q(word), b, a), '"${!%s}"' % b


def v_prompt(word):
    n = name()
    return "%s=%s" % (n, q(word)), '"${%s@P}"' % n if not any(c in "\\$`" for c in word) else '"${%s}"' % n


def v_escape(word):
    n = name()
    return "%s=%s" % (n, q("".join("\\x%02x" % b for b in word.encode()))), '"${%s@E}"' % n


def v_printf(word):
    n = name()
    return "printf -v %s %s" % (n, q("".join("\\%03o" % b for b in word.encode()))), '"$%s"' % n


def v_read(word):
    if "\\" in word or word != word.strip() or "\n" in word:
        return None
    n = name()
    return R.choice(["read %s<<<%s", "read -r %s <<< %s", "IFS= read -r %s <<<%s"]) % (n, q(word)), '"$%s"' % n


def v_strip(word):
    n = name()
    junk = "".join(R.choice("QXZJ") for _ in range(4))
    if junk in word:
        return None
    return "%s=%s" % (n, q(word[:1] + junk + word[1:])), '"${%s/%s}"' % (n, junk)


def v_replace(word):
    n = name()
    return "%s=%s" % (n, q("@".join(word))) if "@" not in word else "%s=%s" % (n, q(word)), '"${%s//@/}"' % n if "@" not in word else '"${%s}"' % n


def v_append(word):
    n = name()
    return ";".join("%s%s=%s" % (n, "+" if i else "", qq(p)) for i, p in enumerate(pieces(word))), '"$%s"' % n


def v_positional(word):
    parts = pieces(word)
    return "set -- %s" % " ".join(qq(p) for p in parts), '"%s"' % "".join("${%d}" % (i + 1) for i in range(len(parts)))


def v_ifs(word):
    if "," in word or " " in word:
        return None
    n = name()
    return "%s=%s" % (n, q(",".join(word))), '"$(IFS=,;printf %%s $%s)"' % n


def v_function(word):
    n = name()
    return "%s(){ printf %%s %s; }" % (n, qq(word)), '"$(%s)"' % n


VARS = [v_case, v_swap, v_pieces, v_array, v_slice, v_indirect, v_prompt, v_escape, v_printf, v_read, v_strip, v_replace, v_append, v_positional, v_ifs, v_function]

BINARIES = {"rm": "/bin/rm", "cat": "/bin/cat", "curl": "/usr/bin/curl", "wget": "/usr/bin/wget", "sudo": "/usr/bin/sudo", "nc": "/bin/nc", "bash": "/bin/bash", "chmod": "/bin/chmod", "dd": "/bin/dd", "mkfs.ext4": "/sbin/mkfs.ext4", "shutdown": "/sbin/shutdown", "reboot": "/sbin/reboot", "crontab": "/usr/bin/crontab", "scp": "/usr/bin/scp", "echo": "/bin/echo", "printf": "/usr/bin/printf"}


def globbed(path):
    parts = path.split("/")
    out = []
    for part in parts:
        if part and len(part) > 1:
            at = R.randrange(len(part))
            part = part[:at] + R.choice(["?", "[%s]" % part[at], "?"]) + part[at + 1:]
        out.append(part)
    return "/".join(out)


# --- tokens of a simple command ------------------------------------------------------------------


def simple_words(text):
    """The words of a plain command without quotes or operators."""
    return text.split() if not set(text) & set("|&;<>()$`\\\"'*?[]{}~#!\n=") else None


def t_words(text):
    words = simple_words(text)
    if not words:
        return None
    if len(words) == 1 and "/" not in text and len(text) > 60:
        return None
    before = []
    out = []
    positional = R.random() < 0.1
    for i, word in enumerate(words):
        pick = R.random()
        if i == 0 and word in BINARIES and pick < 0.12:
            out.append(R.choice([BINARIES[word], globbed(BINARIES[word]), "//" + BINARIES[word][1:], "/./bin/../" + BINARIES[word][1:]]))
            continue
        if pick < 0.6:
            maker = R.choice(WORDS)
            out.append((w_quotes if positional and maker is w_empty else maker)(word))
            continue
        maker = R.choice(VARS)
        if maker is v_positional and (not positional or any("set --" in it for it in before)):
            maker = v_append
        made = maker(word)
        if made is None:
            out.append(w_quotes(word))
            continue
        before.append(made[0])
        out.append(made[1])
    joint = R.choice([" ", "  ", " ", "\t"])
    return R.choice([";", "\n", "; ", ";" ]).join(before + [joint.join(out)])


def t_ifs(text):
    words = simple_words(text)
    if not words:
        return None
    return R.choice(["${IFS}", "$IFS", "${IFS%??}", "${IFS:0:1}", "$IFS$9"]).join(words) if all(w[0] not in NAMES + "0123456789_" or True for w in words[1:]) and R.random() < 2 else None


def t_ifs_safe(text):
    words = simple_words(text)
    if not words:
        return None
    return R.choice(["${IFS}", "${IFS%??}", "${IFS:0:1}"]).join(words)


def t_braces(text):
    words = simple_words(text)
    if not words or any("," in w for w in words) or len(words) < 2:
        return None
    return "{" + ",".join(words) + "}"


def t_prefix(text):
    words = simple_words(text)
    if not words:
        return None
    return R.choice(["command ", "env ", "nohup ", "nice -n 5 ", "timeout 10 ", "exec ", "builtin command ", "time ", "busybox ", "setsid ", "env X=1 Y=2 ", "stdbuf -o0 ", "\\", "/usr/bin/env -- ", "/usr/bin/env -u A "]) + text


def t_env_s(text):
    words = simple_words(text)
    return words and R.choice(["env -S%s", "env -S %s", "/usr/bin/env --split-string=%s", "env -iS %s"]) % q(text)


def t_xargs(text):
    words = simple_words(text)
    if not words or len(words) < 2:
        return None
    at = R.randint(1, len(words) - 1)
    head, tail = words[:at], words[at:]
    return R.choice([
        "echo %s | xargs %s" % (" ".join(tail), " ".join(head)),
        "echo %s | xargs" % " ".join(words) + " env",
        "xargs %s <<< %s" % (" ".join(head), q(" ".join(tail))),
        "printf '%%s\\n' %s | xargs -n%d %s" % (" ".join(tail), len(tail), " ".join(head)),
    ])


def t_alias(text):
    words = simple_words(text)
    if not words:
        return None
    n = name()
    return "shopt -s expand_aliases\nalias %s=%s\n%s %s" % (n, q(words[0]), n, " ".join(words[1:]))


def t_find(text):
    words = simple_words(text)
    if not words:
        return None
    return R.choice(["find . -maxdepth 0 -exec %s \\;", "find / -maxdepth 0 -exec %s ';'", "find . -maxdepth 0 -execdir %s \\;"]) % text


TOKENS = [t_words, t_words, t_words, t_words, t_words, t_words, t_ifs_safe, t_braces, t_prefix, t_env_s, t_xargs, t_alias, t_find]


# --- producers: something that prints a text -----------------------------------------------------


def p_base64(text):
    data = base64.b64encode(text.encode()).decode()
    return R.choice(["echo %s | base64 -d", "base64 -d <<< %s", "base64 -d<<<%s", "printf %s|base64 --decode", "echo %s|openssl base64 -d -A", "base64 -di <<< %s", "printf '%s' | base64 -d", "echo %s | openssl enc -base64 -d -A"]).replace("%s", data) if True else ""


def p_base32(text):
    data = base64.b32encode(text.encode()).decode()
    return R.choice(["echo %s | base32 -d", "base32 -d <<< %s", "basenc --base32 -d <<<%s"]) % data


def p_hex(text):
    data = text.encode().hex()
    return R.choice(["echo %s | xxd -r -p", "xxd -p -r <<< %s", "xxd -r -ps <<< %s", "basenc --base16 -d <<< %s" if False else "echo %s | xxd -r -p -"]) % data


def p_hex_sed(text):
    data = text.encode().hex()
    return R.choice(["printf \"$(echo %s | sed 's/../\\\\x&/g')\"", "printf %%b \"$(sed 's/../\\\\x&/g' <<< %s)\"", "echo -ne \"$(echo %s|sed 's/\\(..\\)/\\\\x\\1/g')\"", "printf \"$(sed -E 's/(..)/\\\\x\\1/g' <<<%s)\""]) % data


def p_escapes(text):
    body = "".join(R.choice(["\\x%02x" % b, "\\%03o" % b]) for b in text.encode())
    hexes = "".join("\\x%02x" % b for b in text.encode())
    return R.choice(["printf %s" % q(body), "printf %%b %s" % q(body), "echo -ne %s" % q(hexes), "echo -en %s" % dq(hexes), "printf %s" % dq(body)])


def p_loop(text):
    codes = list(text.encode())
    n = name()
    kind = R.randint(0, 4)
    if kind == 0:
        return "for %s in %s;do printf \"\\x$%s\";done" % (n, " ".join("%02x" % c for c in codes), n)
    if kind == 1:
        return "for %s in %s; do printf \\\\$%s; done" % (n, " ".join("%03o" % c for c in codes), n)
    if kind == 2:
        return "for %s in %s;do printf \"\\\\$(printf %%03o $%s)\";done" % (n, " ".join(str(c) for c in codes), n)
    if kind == 3:
        return "for %s in %s;do printf \"\\\\x$(printf %%x $((%s)))\";done" % (n, " ".join(str(c ^ 7) for c in codes), n + "^7")
    return "while read -r %s;do printf \"\\x$%s\";done <<< %s" % (n, n, q("\n".join("%02x" % c for c in codes)))


def p_forcode(text):
    letters = sorted(set(text))
    R.shuffle(letters)
    if "\n" in letters:
        return None
    a, i = name(), name()
    return "%s=(%s);for %s in %s;do printf %%s \"${%s[$%s]}\";done" % (a, " ".join(q(c) for c in letters), i, " ".join(str(letters.index(c)) for c in text), a, i)


def p_counted(text):
    if "\n" in text:
        return None
    n, i = name(), name()
    return R.choice([
        "%s=%s;for ((%s=${#%s}-1;%s>=0;%s--));do printf %%s \"${%s:$%s:1}\";done" % (n, q(text[::-1]), i, n, i, i, n, i),
        "%s=%s;for((%s=0;%s<${#%s};%s+=2));do printf %%s \"${%s:%s:1}\";done" % (n, q("".join(c + R.choice("xyz") for c in text)), i, i, n, i, n, i),
        "%s=%s;%s=${#%s};while ((%s--));do printf %%s \"${%s:%s:1}\";done" % (n, q(text[::-1]), i, n, i, n, i),
        "%s=%s;for %s in $(seq 0 %d);do printf %%s \"${%s:%s:1}\";done" % (n, q(text), i, len(text) - 1, n, "$" + i),
        "%s=%s;for %s in {0..%d};do printf %%s \"${%s:$%s:1}\";done" % (n, q(text), i, len(text) - 1, n, i),
    ])


def p_rev(text):
    if "\n" in text:
        return None
    return R.choice(["rev <<< %s", "echo %s | rev", "printf %%s %s|rev"]) % q(text[::-1])


def p_tac(text):
    if "\n" in text:
        return None
    return R.choice(["printf '%%s\\n' %s | tac | tr -d '\\n'" % " ".join(q(c) for c in reversed(pieces(text, 9))),
                     "printf '%%s\\n' %s | rev | tac | tr -d \\\\n" % " ".join(q(c[::-1]) for c in reversed(pieces(text, 9)))])


def p_tr(text):
    letters = NAMES
    kind = R.randint(0, 2)
    if kind == 0:
        rot = text.translate(str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"))
        return R.choice(["tr A-Za-z N-ZA-Mn-za-m <<< %s", "echo %s | tr 'A-Za-z' 'N-ZA-Mn-za-m'", "tr '[A-Za-z]' '[N-ZA-Mn-za-m]' <<<%s"]) % q(rot)
    if kind == 1:
        to = list(letters)
        R.shuffle(to)
        coded = text.translate(str.maketrans(letters, "".join(to)))
        return "tr %s %s <<< %s" % (q("".join(to)), q(letters), q(coded))
    junk = [c for c in "QXZJ%@" if c not in text]
    if not junk:
        return None
    j = R.choice(junk)
    return R.choice(["tr -d %s <<< %s", "echo %s%s | tr -d %s" if False else "tr -d %s <<< %s"]) % (q(j), q("".join(c + (j if R.random() < 0.4 else "") for c in text)))


def p_sed(text):
    if "\n" in text:
        return None
    marks = ["QQ", "XX", "ZZ", "JJ", "WW"]
    letters = [c for c in sorted(set(text)) if c.isalnum()]
    R.shuffle(letters)
    chosen = list(zip(marks, letters))
    coded = text
    if any(m in text for m in marks) or any(c in "QXZJW" for c in text):
        return None
    for mark, letter in chosen:
        coded = coded.replace(letter, mark)
    joined = ";".join("s/%s/%s/g" % it for it in chosen)
    return R.choice(["sed %s <<< %s" % (q(joined), q(coded)), "echo %s | sed %s" % (q(coded), " ".join("-e %s" % q("s/%s/%s/g" % it) for it in chosen)), "printf %%s %s|%s" % (q(coded), "|".join("sed %s" % q("s/%s/%s/g" % it) for it in chosen))])


def p_awk(text):
    if "\n" in text:
        return None
    codes = list(text.encode())
    return R.choice([
        "awk 'BEGIN{printf \"%s\", %s}'" % ("%c" * len(codes), ", ".join(map(str, codes))),
        "echo %s | awk '{for(i=1;i<=NF;i++)printf(\"%%c\",$i)}'" % " ".join(map(str, codes)),
        "awk '{for(i=length;i>0;i--)printf substr($0,i,1)}' <<< %s" % q(text[::-1]),
        "awk -F: '{print $2$1}' <<< %s" % q(text[len(text) // 2:] + ":" + text[:len(text) // 2]) if ":" not in text else "rev <<< " + q(text[::-1]),
    ])


def p_sort(text):
    if "\n" in text:
        return None
    parts = list(enumerate(pieces(text, 8)))
    lines = ["%d:%s" % (i + 10, p) for i, p in parts]
    R.shuffle(lines)
    return "printf '%%s\\n' %s | sort -n | cut -d: -f2- | tr -d '\\n'" % " ".join(q(l) for l in lines)


def p_grep(text):
    if "\n" in text or "#" in text:
        return None
    return R.choice([
        "printf '%%s\\n' %s | grep -v %s" % (" ".join(q(x) for x in ["#no", text, "#nope"]), "'#'"),
        "grep -o '[^#]*' <<< '###'%s'##'" % q(text),
        "cut -d'#' -f3 <<< %s" % q("a#b#" + text + "#d"),
        "sed -n 2p <<< %s" % q("x\n" + text + "\ny"),
        "head -n2 <<< %s | tail -n1" % q("x\n" + text + "\ny"),
        "sed '1d;3d' <<< %s" % q("x\n" + text + "\ny"),
        "paste -sd '' <<< %s" % q("\n".join(pieces(text))),
        "fold -w1 <<< %s | tac | tr -d '\\n'" % q(text[::-1]),
    ])


def p_gzip(text):
    data = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return R.choice(["echo %s | base64 -d | gunzip", "base64 -d <<< %s | gzip -d", "gunzip -c < <(base64 -d <<< %s)", "base64 -d<<<%s|zcat", "gzip -dc <(printf %s|base64 -d)", "base64 -d <<< %s | gunzip -c"]) % data


def p_bzip2(text):
    data = base64.b64encode(bz2.compress(text.encode())).decode()
    return R.choice(["base64 -d <<< %s | bunzip2", "bunzip2 -c < <(base64 -d <<< %s)", "echo %s|base64 -d|bzcat"]) % data


def p_xz(text):
    data = base64.b64encode(lzma.compress(text.encode())).decode()
    return R.choice(["base64 -d <<< %s | xz -d", "echo %s|base64 -d|xzcat", "base64 -d <<<%s|unxz -c"]) % data


def p_zlib(text):
    data = base64.b64encode(zlib.compress(text.encode())).decode()
    return "python3 -c %s" % q("import zlib,base64;print(zlib.decompress(base64.b64decode('%s')).decode())" % data)


def p_codes(text):
    codes = list(text.encode())
    b64 = base64.b64encode(text.encode()).decode()
    return R.choice([
        "python3 -c %s" % q("print(''.join(chr(c) for c in [%s]),end='')" % ",".join(map(str, codes))),
        "python3 -c %s" % q("import base64;print(base64.b64decode('%s').decode())" % b64),
        "python3 -c %s" % q("print(bytes.fromhex('%s').decode())" % text.encode().hex()),
        "perl -e %s" % q("print " + ".".join("chr(%d)" % c for c in codes)),
        "perl -e %s" % q("print pack('H*','%s')" % text.encode().hex()),
        "perl -MMIME::Base64 -e %s" % q("print decode_base64('%s')" % b64),
        "perl -e %s" % q("print scalar reverse %s" % dq(text[::-1]).replace("@", "\\@")),
    ])


def p_pieces(text):
    parts = pieces(text, 8)
    return R.choice(["printf %%s %s" % " ".join(qq(p) for p in parts), "printf '%s' %s" % ("%s" * len(parts), " ".join(q(p) for p in parts)), ";".join("printf %%s %s" % q(p) for p in parts)])


def p_swap(text):
    n = name()
    return "%s=%s;printf %%s \"${%s~~}\"" % (n, q(text.swapcase()), n)


def p_vars(text):
    parts = pieces(text, 10)
    names = [name() for _ in parts]
    order = list(range(len(parts)))
    R.shuffle(order)
    return ";".join("%s=%s" % (names[i], q(parts[i])) for i in order) + ";printf %s " + '"' + "".join("$" + "{%s}" % n for n in names) + '"'


def p_assoc(text):
    if "\n" in text:
        return None
    n, i = name(), name()
    letters = sorted(set(text))
    keys = {c: name() for c in letters}
    return "declare -A %s;%s;for %s in %s;do printf %%s \"${%s[$%s]}\";done" % (n, ";".join("%s[%s]=%s" % (n, keys[c], q(c)) for c in letters), i, " ".join(keys[c] for c in text), n, i)


def p_ifs(text):
    if "\n" in text or "," in text or "*" in text or "?" in text or "[" in text:
        return None
    n = name()
    return "IFS=,;%s=%s;printf %%s $%s" % (n, q(",".join(pieces(text, 9))), n)


def p_mapfile(text):
    n = name()
    parts = pieces(text, 9)
    if "\n" in text:
        return None
    return "mapfile -t %s < <(printf '%%s\\n' %s);printf %%s \"${%s[@]}\"" % (n, " ".join(q(p) for p in parts), n)


def p_files(text):
    d = "/tmp/" + name()
    parts = pieces(text, 9)
    return "mkdir -p %s;%s;cat %s/*" % (d, ";".join("printf %%s %s > %s/%02d" % (q(p), d, i) for i, p in enumerate(parts)), d)


def p_file(text):
    f = "/tmp/" + name()
    return "printf %%s %s > %s;cat %s" % (q(text), f, f)


def p_coproc(text):
    return "coproc printf %%s %s; cat <&${COPROC[0]}" % q(text)


def p_here(text):
    mark = name()
    return "cat <<'%s'\n%s\n%s\n" % (mark, text, mark)


PRODUCERS = [p_base64, p_base64, p_base32, p_hex, p_hex_sed, p_escapes, p_loop, p_forcode, p_counted, p_rev, p_tac, p_tr, p_sed, p_awk, p_sort, p_grep, p_gzip, p_bzip2, p_xz, p_zlib, p_codes, p_pieces, p_swap, p_vars, p_assoc, p_ifs, p_mapfile, p_files, p_file, p_here]


# --- runners: something that runs what is printed ------------------------------------------------


def r_run(producer):
    sh = R.choice(["bash", "sh", "/bin/bash", "bash -s", "/bin/sh", "$SHELL", "${BASH}", "bash -", "dash", "env bash", "b''ash", "\\sh", "$0", "/usr/bin/env bash", "exec bash", "busybox sh", "/b?n/bash", "command bash", "zsh"])
    plain = R.choice(["bash", "/bin/bash", "/usr/bin/bash", "bash"])
    nl = "\n" if "\n" in producer else ""
    return R.choice([
        'eval "$(%s%s)"' % (producer, nl),
        'eval "$(%s%s)"' % (producer, nl),
        "eval $(%s%s)" % (producer, nl) if "\n" not in R.text else 'eval "$(%s%s)"' % (producer, nl),
        '%s -c "$(%s%s)"' % (plain, producer, nl),
        "{ %s; } | %s" % (producer, sh) if not nl else "(%s) | %s" % (producer + nl, sh),
        "(%s%s) | %s" % (producer, nl, sh),
        "source <(%s%s)" % (producer, nl),
        ". <(%s%s)" % (producer, nl),
        "source /dev/stdin <<< \"$(%s%s)\"" % (producer, nl),
        "%s <<< \"$(%s%s)\"" % (plain, producer, nl),
        "%s <(%s%s)" % (plain, producer, nl),
        "%s < <(%s%s)" % (plain, producer, nl),
        'trap "$(%s%s)" EXIT' % (producer, nl),
        "%s=$(%s%s);eval \"$%s\"" % ((lambda n: (n, producer, nl, n))(name())),
        "%s=\"$(%s%s)\"; %s -c \"$%s\"" % ((lambda n: (n, producer, nl, plain, n))(name())),
        "eval \"`%s%s`\"" % (producer.replace("\\", "\\\\").replace("`", "\\`").replace("$", "\\$") if '"' not in producer else None, nl) if '"' not in producer and "\\" not in producer and "`" not in producer and "'" not in producer else 'eval "$(%s%s)"' % (producer, nl),
        "(%s%s) | xargs -0 %s -c" % (producer, nl, plain),
        "(%s%s) | (read -r -d '' %s; eval \"$%s\")" % ((lambda n: (producer, nl, n, n))(name())),
        "%s(){ eval \"$(%s%s)\"; };%s" % ((lambda n: (n, producer, nl, n))(name())),
        "(%s%s) > /tmp/%s; %s /tmp/%s" % ((lambda n: (producer, nl, n, plain, n))(name())),
        "(%s%s) > %s.sh; chmod +x %s.sh; ./%s.sh" % ((lambda n: (producer, nl, n, n, n))(name())),
        "while read -r %s; do eval \"$%s\"; done < <(%s%s)" % ((lambda n: (n, n, producer, nl))(name())) if not nl else 'eval "$(%s%s)"' % (producer, nl),
        "(%s%s) | tee >(%s) >/dev/null" % (producer, nl, plain),
        "%s=(\"$(%s%s)\"); eval \"${%s[0]}\"" % ((lambda n: (n, producer, nl, n))(name())),
        "export %s=\"$(%s%s)\"; %s -c 'eval \"$%s\"'" % ((lambda n: (n, producer, nl, plain, n))(name())),
        "nohup %s -c \"$(%s%s)\"" % (plain, producer, nl),
        "timeout 20 %s -c \"$(%s%s)\"" % (plain, producer, nl),
        "PROMPT_COMMAND=\"$(%s%s)\" bash -i" % (producer, nl) if False else 'builtin eval "$(%s%s)"' % (producer, nl),
    ])


def c_direct(text):
    """Runs the text as it stands."""
    n = name()
    mark = name()
    plain = R.choice(["bash", "/bin/bash", "env bash", "\\bash", "bash --norc"])
    return R.choice([
        "eval %s" % qq(text),
        "%s -c %s" % (plain, qq(text)),
        "%s <<< %s" % (plain, qq(text)),
        "%s <<'%s'\n%s\n%s\n" % (plain, mark, text, mark),
        "source /dev/stdin <<'%s'\n%s\n%s\n" % (mark, text, mark),
        "cat <<'%s' | %s\n%s\n%s\n" % (mark, plain, text, mark),
        "%s(){\n%s\n};%s" % (n, text, n),
        "(%s\n)" % text,
        "{ %s\n}" % text,
        "if :;then\n%s\nfi" % text,
        "while :;do\n%s\nbreak;done" % text,
        "for %s in 1;do\n%s\ndone" % (n, text),
        "case x in *) \n%s\n;; esac" % text,
        "echo | xargs -I{} %s -c %s" % (plain, qq(text)) if "{}" not in text else "eval %s" % qq(text),
        "find . -maxdepth 0 -exec %s -c %s \\;" % (R.choice(["bash", "/bin/bash"]), qq(text)),
        "python3 -c %s" % q("import os;os.system(%r)" % text),
        "python3 -c %s" % q("import subprocess as s;s.run(%r,shell=True)" % text),
        "python3 -c %s" % q("__import__('os').system(bytes.fromhex('%s').decode())" % text.encode().hex()),
        "python3 -c %s" % q("import os,base64;os.system(base64.b64decode('%s').decode())" % base64.b64encode(text.encode()).decode()),
        "python3 -c %s" % q("import os;os.system(''.join(map(chr,[%s])))" % ",".join(map(str, text.encode()))),
        "python3 -c %s" % q("exec(bytes.fromhex('%s'))" % ("import os;os.system(%r)" % text).encode().hex()),
        "perl -e %s" % q("system(%s)" % q(text).replace("'\\''", "\\'")) if "\\" not in text and "'" not in text else "perl -e %s" % q("system(pack('H*','%s'))" % text.encode().hex()),
        "perl -e %s" % q("system(%s)" % ".".join("chr(%d)" % c for c in text.encode())),
        "perl -MMIME::Base64 -e %s" % q("system(decode_base64('%s'))" % base64.b64encode(text.encode()).decode()),
        "ruby -e %s" % q("system([%r].pack('H*'))" % text.encode().hex()),
        "ruby -e %s" % q("system([%s].pack('C*'))" % ",".join(map(str, text.encode()))),
        "node -e %s" % q("require('child_process').execSync(Buffer.from('%s','base64').toString())" % base64.b64encode(text.encode()).decode()),
        "node -e %s" % q("require('child_process').execSync(String.fromCharCode(%s))" % ",".join(map(str, text.encode()))),
        "php -r %s" % q("system(base64_decode('%s'));" % base64.b64encode(text.encode()).decode()),
        "php -r %s" % q("system(hex2bin('%s'));" % text.encode().hex()),
        "php -r %s" % q("system(strrev(%s));" % json.dumps(text[::-1]).replace("$", "\\$")),
        "awk 'BEGIN{system(\"%s\")}'" % "".join("\\%03o" % b for b in text.encode()),
        "awk 'BEGIN{c=sprintf(\"%s\",%s);system(c)}'" % ("%c" * len(text.encode()), ",".join(map(str, text.encode()))),
        "awk 'BEGIN{while((\"echo %s|base64 -d\"|getline l)>0)system(l)}'" % base64.b64encode(text.encode()).decode() if "\n" not in text else "eval %s" % q(text),
        
        "coproc { %s\n}" % text,
        "true && eval %s" % qq(text),
        "false || eval %s" % qq(text),
        "trap %s EXIT" % qq(text),
        "bash -c 'eval \"$1\"' _ %s" % qq(text),
        "bash -c '\"$@\"' _ bash -c %s" % qq(text),
        "set -- %s;eval \"$1\"" % qq(text),
        "env %s=%s bash -c 'eval \"$%s\"'" % (n, qq(text), n),
        "%s=%s bash -c 'eval \"$%s\"'" % (n, qq(text), n),
        "%s=%s;eval \"$%s\"" % (n, qq(text), n),
        "%s=%s;$%s" % (n, qq(text), n) if simple_words(text) else "eval %s" % qq(text),
        "%s=%s;%s" % (n, qq(text), "${%s}" % n) if simple_words(text) else "eval %s" % qq(text),
        "%s=(%s);\"${%s[@]}\"" % (n, text, n) if simple_words(text) else "eval %s" % qq(text),
        "read -r -d '' %s <<'%s'\n%s\n%s\neval \"$%s\"" % (n, mark, text, mark, n),
        "echo %s | (read -r %s; eval \"$%s\")" % (qq(text), n, n) if "\n" not in text else "eval %s" % qq(text),
        "echo %s | while read -r %s; do eval \"$%s\"; done" % (qq(text), n, n) if "\n" not in text and "\\" not in text else "eval %s" % qq(text),
        "env -S %s" % q("bash -c " + q(text)) if "'" not in text and "$" not in text and "\\" not in text and '"' not in text and "\n" not in text else "eval %s" % qq(text),
        "mapfile -t %s <<< %s;eval \"${%s[*]}\"" % (n, q(text), n) if "\n" not in text else "eval %s" % q(text),
        "xargs -0 bash -c <<< %s" % qq(text),
        "$(echo eval) %s" % qq(text),
        "e=eval;$e %s" % qq(text),
        "ev''al %s" % qq(text),
        "\\eval %s" % qq(text),
        "alias %s=%s\n%s" % (n, q(text), n),
        "sed -n %s <<< x" % q("1e " + text) if "\n" not in text else "eval %s" % q(text),
        "vim -es -c %s -c q" % q(":!" + text) if "\n" not in text else "eval %s" % q(text),
        "git -c core.pager=%s -p log" % qq(text) if "\n" not in text else "eval %s" % q(text),
        "tar cf /dev/null /dev/null --checkpoint=1 --checkpoint-action=exec=%s" % qq(text) if "\n" not in text else "eval %s" % q(text),
        "make -f <(printf 'a:\\n\\t%%s\\n' %s)" % q(text) if "\n" not in text else "eval %s" % q(text),
        "script -qc %s /dev/null" % qq(text),
        "flock /tmp/l -c %s" % qq(text),
        "watch -g %s" % qq(text),
        "parallel ::: %s" % qq(text),
        "ssh-keygen -D x; eval %s" % qq(text),
        "function %s { eval \"$1\"; }; %s %s" % (n, n, qq(text)),
        "until eval %s; do :; done" % qq(text),
        "[[ 1 == 1 ]] && eval %s" % qq(text),
        "((1)) && eval %s" % qq(text),
        "x[$(eval %s >&2)]=1" % qq(text),
        ": ${x:=$(eval %s)}" % qq(text),
        "echo ${x:-$(eval %s)}" % qq(text),
        "cat < <(eval %s)" % qq(text),
        ": $(( $(eval %s >&2; echo 1) ))" % qq(text),
        "PS4='$(%s)'; set -x; :" % text if "'" not in text else "eval %s" % qq(text),
        "declare %s=$(eval %s)" % (n, qq(text)),
        "select %s in a;do eval %s;break;done <<< 1" % (n, qq(text)),
        "%s=%s; : \"${%s@P}\"" % (n, q("$(" + text + "\n)"), n),
    ])


def c_produced(text):
    R.text = text
    producer = R.choice(PRODUCERS)(text)
    return producer and r_run(producer)


def layer(text, first):
    """One more disguise."""
    for _ in range(20):
        pick = R.random()
        if first and pick < 0.55:
            made = R.choice(TOKENS)(text)
        elif pick < 0.75:
            made = c_produced(text)
        else:
            made = c_direct(text)
        if made and len(made) < 6000:
            return made
    return "eval " + q(text)


def disguise(payload, layers):
    text = payload
    for index in range(layers):
        text = layer(text, index == 0)
    return text


def main():
    seed, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    R.seed(seed)
    payloads = [json.loads(line)["command"] for line in open(path)]
    seen = set()
    while len(seen) < count:
        plain = payloads[len(seen) % len(payloads)]
        layers = R.randint(1, 5)
        command = disguise(plain, layers)
        if command in seen:
            continue
        seen.add(command)
        print(json.dumps({"command": command, "plain": plain, "layers": layers}))


if __name__ == "__main__":
    main()
