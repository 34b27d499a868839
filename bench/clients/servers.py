"""Calls of an MCP server, which pass the hook and the gateway."""
from case import ORDER, SEND, Case, stopped


class Server(Case):
    """A call of an MCP server passes the hook and the gateway, and is judged once."""

    with_server = True
    trusted = True

    def turns(self, stage):
        return [[stage.client.server_call("hello there")]]

    def said(self, stage):
        log = stage.dir / "server.log"
        return log.read_text() if log.exists() else ""

    def outcome(self, stage):
        stage.check("the server heard it", "hello there" in self.said(stage), stage.told)
        stage.check("the result reached the model", stage.was_told("echo: hello there"), stage.told)
        found = stage.decisions("hello there")
        stage.check("judged once, and allowed", found == ["allow"], found)
        listed = stage.lazaret("mcp", "list")
        stage.check("the gateway knows the server", "probe" in listed.stdout, listed.stdout)


class ServerInjected(Server):
    """What a server says counts as outside, whoever's folder it is."""

    def turns(self, stage):
        return [[stage.client.server_call(ORDER)], [stage.client.shell(SEND)]]

    def outcome(self, stage):
        stopped(stage, "touch ran")
        tainted = [it for it in stage.records if it["type"] == "ToolResult" and "UNTRUSTED" in it["taint"]]
        stage.check("its result is marked", tainted, [(it["type"], it["taint"]) for it in stage.records])


class ServerDaemonKilled(Server):
    def at(self, stage):
        return {0: stage.kill_daemon}

    def outcome(self, stage):
        super().outcome(stage)
        stage.check("there was a daemon to kill", getattr(stage, "killed", None))
