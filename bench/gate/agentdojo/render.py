"""How tool answers look: YAML as PyYAML's safe_dump writes it, Python's repr, JSON, or prose.

The YAML writer follows PyYAML's emitter (width 80, keys sorted, non-ASCII escaped), because that is
what AgentDojo's answers are made with and what a monitor has to read through: a sentence may be folded
over lines, quotes doubled, umlauts escaped.
"""
import datetime
import json
import re

WIDTH = 80
ESCAPES = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r",
           '"': '"', "\\": "\\", "\x85": "N", "\xa0": "_"}
OTHER_TYPES = re.compile(
    r"^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|=|<<"
    r"|[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)"
    r"|[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*"
    r"|\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?.*)$")


def render(value, style):
    """The text of one answer."""
    if style == "text":
        return value
    if style == "yaml":
        return yaml(value).strip("\n")
    if style == "json":
        return json.dumps(value, indent=1, ensure_ascii=False, default=str)
    if style == "json-line":
        return json.dumps(value, ensure_ascii=False, default=str)
    if style == "repr":
        return repr(plain(value))
    raise ValueError(f"no such style: {style}")


def plain(value):
    """The value with times as text, so that repr shows what an API would."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return str(value)
    return value


def yaml(value, indent=0):
    if isinstance(value, dict):
        return yaml_map(value, indent)
    if isinstance(value, list):
        return yaml_list(value, indent)
    return scalar(value, indent + 2, indent) + "\n"


def yaml_map(value, indent):
    if not value:
        return " " * indent + "{}\n"
    out = ""
    for key in sorted(value):
        item = value[key]
        head = " " * indent + scalar(str(key), indent + 2, indent) + ":"
        if isinstance(item, dict) and item:
            out += head + "\n" + yaml_map(item, indent + 2)
        elif isinstance(item, list) and item:
            out += head + "\n" + yaml_list(item, indent)
        elif isinstance(item, (dict, list)):
            out += head + (" {}\n" if isinstance(item, dict) else " []\n")
        else:
            out += head + " " + scalar(item, indent + 2, len(head) + 1) + "\n"
    return out


def yaml_list(value, indent):
    if not value:
        return " " * indent + "[]\n"
    out = ""
    for item in value:
        if isinstance(item, (dict, list)) and item:
            inner = yaml(item, indent + 2)
            out += " " * indent + "- " + inner[indent + 2:]
        else:
            out += " " * indent + "- " + scalar(item, indent + 2, indent + 2) + "\n"
    return out


def scalar(value, indent, column):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (datetime.datetime, datetime.date)):
        return str(value)
    text = str(value)
    if needs_double(text):
        return double_quoted(text, indent, column)
    if text == "" or needs_single(text):
        return single_quoted(text, indent, column)
    return folded(text, indent, column)


def needs_double(text):
    odd = any(not (" " <= c <= "~" or c == "\n") for c in text)
    return odd or " \n" in text or "\n " in text


def needs_single(text):
    return (text[0] in "#,[]{}&*!|>'\"%@` \n" or text[-1] in " \n:" or "\n" in text
            or re.match(r"[-?:](\s|$)", text) is not None or text[:3] in ("---", "...")
            or ": " in text or " #" in text or OTHER_TYPES.match(text) is not None)


def folded(text, indent, column):
    words = text.split(" ")
    out = words[0]
    column += len(words[0])
    for before, word in zip(words, words[1:]):
        if column > WIDTH and before != "" and word != "":
            out += "\n" + " " * indent + word
            column = indent + len(word)
        else:
            out += " " + word
            column += 1 + len(word)
    return out


def single_quoted(text, indent, column):
    out, column = "'", column + 1
    for i, part in enumerate(re.split(r"(\n+)", text)):
        if i % 2 == 1:
            out += "\n" + "\n" * len(part) + " " * indent
            column = indent
            continue
        part = part.replace("'", "''")
        piece = folded(part, indent, column)
        out += piece
        column = len(piece) - piece.rfind("\n") - 1 if "\n" in piece else column + len(piece)
    return out + "'"


def double_quoted(text, indent, column):
    out, column, start, end = '"', column + 1, 0, 0
    while end <= len(text):
        ch = text[end] if end < len(text) else None
        if ch is None or ch in '"\\' or not " " <= ch <= "~":
            if start < end:
                out += text[start:end]
                column += end - start
                start = end
            if ch is not None:
                data = escape(ch)
                out += data
                column += len(data)
                start = end + 1
        if 0 < end < len(text) - 1 and (ch == " " or start >= end) and column + (end - start) > WIDTH:
            out += text[start:end] + "\\\n" + " " * indent
            start = max(start, end)
            column = indent
            if text[start] == " ":
                out += "\\"
                column += 1
        end += 1
    return out + '"'


def escape(ch):
    if ch in ESCAPES:
        return "\\" + ESCAPES[ch]
    if ch <= "\xff":
        return "\\x%02X" % ord(ch)
    if ch <= "\uffff":
        return "\\u%04X" % ord(ch)
    return "\\U%08X" % ord(ch)
