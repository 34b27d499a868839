#!/usr/bin/env python3
"""Verifies an AEGX bundle strictly, by docs/formats.md alone.

It shares nothing with the program `aegx`, so that what both say of a bundle rests on the document.
Exit 0: nothing was found. Exit 1: something was.

usage: aegx_verify.py BUNDLE [--key KEY] [--json]
"""

import argparse
import calendar
import hashlib
import json
import os
import re
import stat
import sys

import archive
import jsonform
import note
from jsonform import Obj

HEX = re.compile(r"[0-9a-f]{64}")
TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z")
ZEROS = "0" * 64
LINE_BYTES_MAX = 16 << 20
FILES = ("manifest.json", "records.jsonl", "audit-log.jsonl")
TYPES = """SessionStart SessionMessage ToolCall ToolResult FileRead FileWrite FileDelete
    ControlPlaneChangeRequest MemoryCommitRequest GuardDecision Snapshot Rollback""".split()
PRINCIPALS = "USER SYS WEB TOOL SKILL CHANNEL EXTERNAL".split()
RECORD = ["recordId", "type", "principal", "taint", "parents", "meta", "payload", "schema"]
ENTRY = ["idx", "ts", "recordId", "prev", "entryHash"]
MANIFEST = ["aegx_version", "audit_head", "blob_count", "canonicalization", "created_at",
            "hash_alg", "record_count", "root_records"]
CONSTANTS = {"aegx_version": "0.1", "hash_alg": "sha256", "canonicalization": "AEGX_CANON_0_1"}


def is_hex(value):
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def is_time(value):
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if not found or not value.isascii():
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    if not 1 <= month <= 12 or hour > 23 or minute > 59 or second > 60:
        return False
    # Year 0 is a leap year, as 400 is.
    return 1 <= day <= calendar.monthrange(year or 400, month)[1]


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Directory:
    """A bundle as a directory: plain files and `blobs/`, no links."""

    def __init__(self, path):
        self.path = path

    def list(self, folder):
        try:
            names = os.listdir(os.path.join(self.path, folder))
        except FileNotFoundError:
            return {}
        return {name: self._kind(os.path.join(self.path, folder, name)) for name in names}

    def _kind(self, path):
        mode = os.lstat(path).st_mode
        return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"

    def read(self, name):
        path = os.path.join(self.path, name)
        parts = [path] + ([os.path.dirname(path)] if "/" in name else [])
        if any(os.path.islink(it) for it in parts) or not os.path.isfile(path):
            raise OSError("not a plain file")
        with open(path, "rb") as file:
            return file.read()


class Verifier:
    def __init__(self, source, key):
        self.source, self.key = source, key
        self.found = []

    def bad(self, at, code, detail=""):
        self.found.append({"at": at, "code": code, "detail": detail})

    def run(self):
        manifest = self.manifest()
        self.members()
        records = self.lines("records.jsonl", self.record)
        entries = self.lines("audit-log.jsonl", self.entry)
        self.chain(records, entries, manifest)
        self.parents(records)
        self.blobs(records, manifest)
        if manifest:
            self.claims(manifest, records)
        self.note()
        return self.found

    def read(self, name):
        try:
            return self.source.read(name)
        except OSError as error:
            self.bad(name, "file_unreadable", str(error))

    def manifest(self):
        data = self.read("manifest.json")
        if data is None:
            return None
        try:
            value = jsonform.parse(data.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            return self.bad("manifest.json", "manifest_parse", str(error))
        fields = dict(value.pairs) if isinstance(value, Obj) else {}
        wrong = (
            not isinstance(value, Obj)
            or value.keys() != MANIFEST
            or any(fields[key] != want for key, want in CONSTANTS.items())
            or not is_time(fields["created_at"])
            or not is_hex(fields["audit_head"])
            or not is_count(fields["blob_count"])
            or not is_count(fields["record_count"])
            or not isinstance(fields["root_records"], list)
            or not all(is_hex(it) for it in fields["root_records"])
        )
        if wrong:
            return self.bad("manifest.json", "manifest_schema")
        if json.dumps(fields, indent=2).encode() != data:
            self.bad("manifest.json", "stored_form")
        return fields

    def members(self):
        for name, kind in self.source.list("").items():
            if name not in (*FILES, "blobs", "bundle.note"):
                self.bad(name, "file_unexpected")
            elif kind != ("folder" if name == "blobs" else "file"):
                self.bad(name, "file_not_regular")

    def lines(self, name, read):
        """What each line says; None for one that says nothing."""
        data = self.read(name)
        if not data:
            return []
        if not data.endswith(b"\n"):
            self.bad(name, "final_newline")
        out = []
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
            at = f"{name}:{number}"
            if len(line) > LINE_BYTES_MAX:
                self.bad(at, "line_too_long")
                return out
            try:
                out.append(read(at, line.decode("utf-8")))
            except (ValueError, RecursionError) as error:
                self.bad(at, "line_parse", str(error))
                out.append(None)
        return out

    def record(self, at, line):
        value = jsonform.parse(line)
        if not isinstance(value, Obj) or value.keys() != RECORD:
            return self.bad(at, "record_fields")
        it = dict(value.pairs)
        payload, meta = it["payload"], it["meta"]
        shape = payload.keys() if isinstance(payload, Obj) else None
        blob = shape == ["blob", "mime", "size"]
        wrong = (
            not is_hex(it["recordId"])
            or it["type"] not in TYPES
            or it["principal"] not in PRINCIPALS
            or it["schema"] != "0.1"
            or not isinstance(it["taint"], list)
            or not all(isinstance(text, str) for text in it["taint"])
            or not isinstance(it["parents"], list)
            or not all(is_hex(parent) for parent in it["parents"])
            or not isinstance(meta, Obj)
            or not is_time(meta.get("ts"))
            or not (blob or shape == ["inline"])
        )
        if not wrong and blob:
            wrong = not is_hex(payload.get("blob")) or not isinstance(payload.get("mime"), str)
            wrong = wrong or not is_count(payload.get("size"))
        if wrong:
            return self.bad(at, "record_schema")
        parts = {key: jsonform.stored(it[key]) for key in RECORD}
        if blob:
            inner = ",".join(f'"{k}":{jsonform.stored(payload.get(k))}' for k in shape)
            parts["payload"] = "{" + inner + "}"
        if "{" + ",".join(f'"{key}":{parts[key]}' for key in RECORD) + "}" != line:
            self.bad(at, "stored_form")
        if not all(jsonform.is_known(it[key]) for key in RECORD):
            self.bad(at, "text_unassigned")
        if not all(jsonform.is_pinned(it[key]) for key in RECORD):
            self.bad(at, "text_not_nfc")
        if not all(jsonform.is_stable(it[key]) for key in RECORD):
            self.bad(at, "number_unstable")
        hashed = jsonform.canonical(Obj([(key, it[key]) for key in RECORD if key != "recordId"]))
        if sha256(hashed.encode()) != it["recordId"]:
            self.bad(at, "record_id")
        return it

    def entry(self, at, line):
        value = jsonform.parse(line)
        if not isinstance(value, Obj) or value.keys() != ENTRY:
            return self.bad(at, "audit_fields")
        it = dict(value.pairs)
        digests = all(is_hex(it[key]) for key in ("recordId", "prev", "entryHash"))
        if not is_count(it["idx"]) or not is_time(it["ts"]) or not digests:
            return self.bad(at, "audit_schema")
        if "{" + ",".join(f'"{key}":{jsonform.stored(it[key])}' for key in ENTRY) + "}" != line:
            self.bad(at, "stored_form")
        hashed = jsonform.canonical(Obj([(key, it[key]) for key in ENTRY if key != "entryHash"]))
        if sha256(hashed.encode()) != it["entryHash"]:
            self.bad(at, "audit_hash")
        return it

    def chain(self, records, entries, manifest):
        head = ZEROS
        for number, entry in enumerate(entries):
            at = f"audit-log.jsonl:{number + 1}"
            if entry is None:
                continue
            if entry["idx"] != number:
                self.bad(at, "audit_idx")
            if entry["prev"] != head:
                self.bad(at, "audit_prev")
            head = entry["entryHash"]
            record = records[number] if number < len(records) else None
            if record and record["recordId"] != entry["recordId"]:
                self.bad(at, "audit_record_mismatch")
            elif record and record["meta"].get("ts") != entry["ts"]:
                self.bad(at, "audit_time")
        if len(records) != len(entries):
            self.bad("audit-log.jsonl", "audit_count")
        if manifest and manifest["audit_head"] != head:
            self.bad("manifest.json", "audit_head")

    def parents(self, records):
        before = set()
        for number, record in enumerate(records, 1):
            if record is None:
                continue
            if not before.issuperset(record["parents"]):
                self.bad(f"records.jsonl:{number}", "parent_missing")
            before.add(record["recordId"])

    def blobs(self, records, manifest):
        named = {}
        for number, record in enumerate(records, 1):
            payload = record["payload"] if record else None
            if payload and payload.keys() != ["inline"]:
                size = named.setdefault(payload.get("blob"), payload.get("size"))
                if size != payload.get("size"):
                    self.bad(f"records.jsonl:{number}", "blob_size")
        count = 0
        for name, kind in self.source.list("blobs").items():
            at = f"blobs/{name}"
            data = self.read(at) if kind == "file" else None
            if name == ".keep" and data == b"":
                continue
            count += 1
            if data is None:
                self.bad(at, "file_not_regular")
            elif not is_hex(name):
                self.bad(at, "blob_name")
            elif sha256(data) != name:
                self.bad(at, "blob_hash")
            elif name not in named:
                self.bad(at, "blob_unreferenced")
            elif named[name] != len(data):
                self.bad(at, "blob_size")
            named.pop(name, None)
        for name in named:
            self.bad(f"blobs/{name}", "blob_missing")
        if manifest and manifest["blob_count"] != count:
            self.bad("manifest.json", "blob_count")

    def claims(self, manifest, records):
        if manifest["record_count"] != len(records):
            self.bad("manifest.json", "record_count")
        roots = [it["recordId"] for it in records if it and not it["parents"]]
        if manifest["root_records"] != roots:
            self.bad("manifest.json", "roots_incomplete")

    def note(self):
        there = "bundle.note" in self.source.list("")
        if self.key and not there:
            self.bad("bundle.note", "bundle_signature", "the bundle is not signed")
        data = self.read("bundle.note") if there else None
        if data is None:
            return
        try:
            text, _ = note.split(data)
        except ValueError as error:
            return self.bad("bundle.note", "bundle_note", str(error))
        signer = text.split("\n")[0]
        names = sorted(it for it in self.source.list("blobs") if it != ".keep")
        lines = [signer, "AEGX bundle 0.1"]
        for name in FILES:
            data_of = self.read(name)
            if data_of is None:
                return
            lines.append(f"{name} {sha256(data_of)}")
        listed = "".join(it + "\n" for it in names).encode()
        lines.append(f"blobs {len(names)} {sha256(listed)}")
        if text != "".join(line + "\n" for line in lines):
            self.bad("bundle.note", "bundle_note", "it does not state what the bundle holds")
        if self.key and not self.is_signed(signer, data):
            self.bad("bundle.note", "bundle_signature", "it is not signed with this key")

    def is_signed(self, signer, data):
        try:
            return signer == note.read_key(self.key)[0] and note.is_signed(data, self.key)
        except ValueError:
            return False


def verify(path, key=None):
    try:
        source = Directory(path) if os.path.isdir(path) else archive.Archive(path)
    except (OSError, archive.Refused) as error:
        return [{"at": os.path.basename(path), "code": "archive", "detail": str(error)}]
    return Verifier(source, key).run()


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("bundle")
    options.add_argument("--key", help="the public key, or the file that holds it")
    options.add_argument("--json", action="store_true")
    args = options.parse_args()
    key = args.key
    if key and os.path.isfile(key):
        with open(key, encoding="utf-8") as file:
            key = file.read()
    sys.setrecursionlimit(10_000)
    found = verify(args.bundle, key)
    if args.json:
        print(json.dumps({"ok": not found, "errors": found}))
    else:
        for it in found:
            print(f"{it['at']}: {it['detail']} [{it['code']}]", file=sys.stderr)
        print("Verification: " + ("FAIL" if found else "PASS"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
