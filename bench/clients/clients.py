"""The clients: which package, how it is started beside a scripted model, and what its tools are called."""
import json
import os
import pathlib
import shutil
import sys

SERVER = pathlib.Path(__file__).resolve().parent / "server.py"


class Client:
    """One coding agent. `stage` is the place of a case: see stage.py."""

    name = ""
    packages = ()
    program = ""
    # Whether a hook's `ask` reaches a person in the middle of a run; elsewhere it is a denial with the question in it.
    asks = False
    # What becomes of a call when the hook's program is not there: by our measurement, and where it can be set by `init`.
    without_hook = "open"

    def __init__(self, root):
        self.root = root
        self.modules = root / "inst" / self.name / "node_modules"

    def prepare(self, stage, with_server):
        """Writes the configuration that a user would have before `lazaret init`."""

    def command(self, stage, prompt):
        raise NotImplementedError

    def env(self, stage):
        return {}

    def shell(self, command):
        raise NotImplementedError

    def read(self, path):
        return self.shell(f"cat {path}")

    def write(self, path, text):
        raise NotImplementedError

    def edit(self, path, old, new):
        raise NotImplementedError

    def agent(self, prompt):
        raise NotImplementedError

    def agent_done(self, text):
        """How a sub-agent ends."""
        return {"text": text}

    def after_agent(self):
        """Turns that pass until a sub-agent's answer is there."""
        return []

    def server_call(self, text):
        raise NotImplementedError

    def server(self, stage):
        """The command of the MCP server that a case may have."""
        return [sys.executable, str(SERVER), str(stage.dir / "server.log")]


class Claude(Client):
    name = "claude"
    packages = ("@anthropic-ai/claude-code@2.1.325",)
    program = "@anthropic-ai/claude-code-linux-x64/claude"
    asks = True
    without_hook = "closed"

    def prepare(self, stage, with_server):
        stage.put("home/.claude/settings.json", {"permissions": {"allow": []}})
        if with_server:
            command, *args = self.server(stage)
            probe = {"type": "stdio", "command": command, "args": args}
            stage.put("home/.claude.json", {"mcpServers": {"probe": probe}})

    def command(self, stage, prompt):
        tools = "Bash Read Write Edit Agent mcp__probe"
        return [str(self.modules / self.program), "-p", prompt, "--output-format", "json", "--allowedTools", tools]

    def env(self, stage):
        tmp = str(stage.dir / "tmp")
        return {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stage.model.port}", "ANTHROPIC_API_KEY": "none",
                "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "IS_SANDBOX": "1", "CLAUDE_CODE_TMPDIR": tmp}

    def shell(self, command):
        return {"tool": "Bash", "input": {"command": command, "description": "run it"}}

    def read(self, path):
        return {"tool": "Read", "input": {"file_path": str(path)}}

    def write(self, path, text):
        return {"tool": "Write", "input": {"file_path": str(path), "content": text}}

    def edit(self, path, old, new):
        return {"tool": "Edit", "input": {"file_path": str(path), "old_string": old, "new_string": new}}

    def agent(self, prompt):
        return {"tool": "Agent", "input": {"description": "part", "prompt": prompt, "subagent_type": "general-purpose"}}

    def after_agent(self):
        # It runs beside; the answer comes as a turn of the user.
        return [[{"text": "It is under way."}]]

    def server_call(self, text):
        return {"tool": "mcp__probe__echo", "input": {"text": text}}


# It offers `apply_patch` only to models that it knows.
CODEX = """model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
requires_openai_auth = false
supports_websockets = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
plugin_sharing = false
tool_suggest = false
plugin_discovery_prefetch = false
"""


class Codex(Client):
    name = "codex"
    packages = ("@openai/codex@0.166.0",)
    program = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"

    def prepare(self, stage, with_server):
        config = CODEX.format(port=stage.model.port)
        if with_server:
            command, *args = self.server(stage)
            config += f"\n[mcp_servers.probe]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
        stage.put("home/.codex/config.toml", config)

    def command(self, stage, prompt):
        how = ["exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access"]
        return [str(self.modules / self.program), *how, prompt]

    def env(self, stage):
        return {"SCRIPTED_KEY": "none"}

    def shell(self, command):
        return {"tool": "exec_command", "input": {"cmd": command}}

    def write(self, path, text):
        lines = "".join(f"+{it}\n" for it in text.splitlines())
        return self.patch(f"*** Add File: {path}\n{lines}")

    def edit(self, path, old, new):
        return self.patch(f"*** Update File: {path}\n@@\n-{old}\n+{new}\n")

    def patch(self, text):
        return {"tool": "apply_patch", "custom": True, "input": f"*** Begin Patch\n{text}*** End Patch\n"}

    def agent(self, prompt):
        return {"tool": "spawn_agent", "ns": "multi_agent_v1", "input": {"message": prompt}}

    def after_agent(self):
        return [[self.shell("sleep 6; echo waited")]]

    def server_call(self, text):
        return {"tool": "echo", "ns": "mcp__probe", "input": {"text": text}}


class Gemini(Client):
    name = "gemini"
    packages = ("@google/gemini-cli@0.61.0",)
    program = "@google/gemini-cli/bundle/gemini.js"
    without_hook = "closed"

    def prepare(self, stage, with_server):
        settings = {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"name": "gemini-2.5-flash"},
        }
        if with_server:
            command, *args = self.server(stage)
            settings["mcpServers"] = {"probe": {"command": command, "args": args}}
        stage.put("home/.gemini/settings.json", settings)

    def command(self, stage, prompt):
        script = str(self.modules / self.program)
        return ["node", script, "-p", prompt, "--output-format", "json", "--approval-mode", "yolo"]

    def env(self, stage):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{stage.model.port}",
                "GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def shell(self, command):
        return {"tool": "run_shell_command", "input": {"command": command, "description": "run it"}}

    def read(self, path):
        return {"tool": "read_file", "input": {"file_path": str(path)}}

    def write(self, path, text):
        return {"tool": "write_file", "input": {"file_path": str(path), "content": text}}

    def edit(self, path, old, new):
        given = {"file_path": str(path), "old_string": old, "new_string": new, "instruction": "change it"}
        return {"tool": "replace", "input": given}

    def agent(self, prompt):
        return {"tool": "invoke_agent", "input": {"agent_name": "generalist", "prompt": prompt}}

    def agent_done(self, text):
        return {"tool": "complete_task", "input": {"result": text}}

    def server_call(self, text):
        return {"tool": "mcp_probe_echo", "input": {"text": text}}


class Copilot(Client):
    name = "copilot"
    packages = ("@github/copilot@1.0.102",)
    program = "@github/copilot-linux-x64/copilot"
    asks = True
    without_hook = "closed"

    def prepare(self, stage, with_server):
        stage.put("home/.copilot/settings.json", {})
        if with_server:
            command, *args = self.server(stage)
            probe = {"type": "local", "command": command, "args": args, "tools": ["*"]}
            stage.put("home/.copilot/mcp-config.json", {"mcpServers": {"probe": probe}})

    def command(self, stage, prompt):
        how = ["--output-format", "json", "--no-auto-update", "--allow-all-tools", "--allow-all-paths"]
        return [str(self.modules / self.program), "-p", prompt, *how]

    def env(self, stage):
        # It unpacks 235 MB where it finds nothing.
        return {"COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{stage.model.port}/v1", "COPILOT_PROVIDER_API_KEY": "none",
                "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
                "XDG_CACHE_HOME": str(self.root / "cache-copilot")}

    def shell(self, command):
        return {"tool": "bash", "input": {"command": command, "description": "run it"}}

    def read(self, path):
        return {"tool": "view", "input": {"path": str(path)}}

    def write(self, path, text):
        return {"tool": "create", "input": {"path": str(path), "file_text": text}}

    def edit(self, path, old, new):
        return {"tool": "edit", "input": {"path": str(path), "old_str": old, "new_str": new}}

    def agent(self, prompt):
        given = {"agent_type": "general-purpose", "name": "part", "description": "part", "prompt": prompt, "mode": "sync"}
        return {"tool": "task", "input": given}

    def server_call(self, text):
        return {"tool": "probe-echo", "input": {"text": text}}


class OpenCode(Client):
    name = "opencode"
    # The second one it would fetch itself, and wait for a network, as soon as there is a plugin.
    packages = ("opencode-ai@1.18.33", "@opencode-ai/plugin@1.18.33")
    program = "opencode-linux-x64/bin/opencode"
    without_hook = "closed"

    def prepare(self, stage, with_server):
        folder = stage.dir / "home" / ".config" / "opencode"
        options = {"baseURL": f"http://127.0.0.1:{stage.model.port}/v1", "apiKey": "none"}
        limit = {"context": 100000, "output": 8000}
        models = {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": options, "models": models}
        config = {"autoupdate": False, "share": "disabled", "model": "scripted/scripted",
                  "small_model": "scripted/scripted", "provider": {"scripted": provider},
                  "permission": {"external_directory": "allow"}}
        if with_server:
            config["mcp"] = {"probe": {"type": "local", "command": self.server(stage), "enabled": True}}
        stage.put("home/.config/opencode/opencode.json", config)
        plugin = self.root / "inst" / "opencode"
        shutil.copytree(plugin / "node_modules", folder / "node_modules", symlinks=True, copy_function=os.link)
        for it in ("package.json", "package-lock.json"):
            shutil.copy(plugin / it, folder)

    def command(self, stage, prompt):
        return [str(self.modules / self.program), "run", "--format", "json", prompt]

    def env(self, stage):
        off = ("AUTOUPDATE", "MODELS_FETCH", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE")
        return {f"OPENCODE_DISABLE_{it}": "1" for it in off}

    def shell(self, command):
        return {"tool": "bash", "input": {"command": command, "description": "run it"}}

    def read(self, path):
        return {"tool": "read", "input": {"filePath": str(path)}}

    def write(self, path, text):
        return {"tool": "write", "input": {"filePath": str(path), "content": text}}

    def edit(self, path, old, new):
        return {"tool": "edit", "input": {"filePath": str(path), "oldString": old, "newString": new}}

    def agent(self, prompt):
        return {"tool": "task", "input": {"description": "part", "prompt": prompt, "subagent_type": "general"}}

    def server_call(self, text):
        return {"tool": "probe_echo", "input": {"text": text}}


ALL = {it.name: it for it in (Claude, Codex, Gemini, Copilot, OpenCode)}
