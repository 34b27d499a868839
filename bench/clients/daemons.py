"""Parts of ours that are gone: the daemon, its program, the hook's program."""
from case import Case, let_through, stopped, tail


class DaemonKilled(Case):
    trusted = True

    def turns(self, stage):
        shell = stage.client.shell
        return [[shell("touch first")], [shell("touch ran; sudo -n true")], [shell("touch last")]]

    def at(self, stage):
        return {1: stage.kill_daemon}

    def outcome(self, stage):
        let_through(stage, "touch first", "first")
        stage.check("there was a daemon to kill", getattr(stage, "killed", None))
        stopped(stage, "sudo")
        let_through(stage, "touch last", "last")
        stage.check("another runs now", stage.daemon_pid() not in (None, getattr(stage, "killed", None)), stage.status)


class DaemonKilledBetween(Case):
    """Killed while the tool runs: the result of a call that the new daemon does not know."""

    trusted = True

    def turns(self, stage):
        kill = f"{stage.dir}/bin/kill-daemon; echo OUT-AS-IT-IS; touch first"
        return [[stage.client.shell(kill)], [stage.client.shell("touch ran; sudo -n true")]]

    def before_run(self, stage):
        pid = stage.daemon_pid()
        stage.put("bin/kill-daemon", f"#!/bin/sh\nkill -9 {pid}\n").chmod(0o755)

    def judge(self, stage):
        stage.check("the client ends well", stage.exit == 0, f"exit {stage.exit}: {tail(stage, 'stderr')}")
        stage.check("the tool ran", stage.ran("first"), stage.told)
        stopped(stage, "sudo")
        verified = stage.lazaret("evidence", "verify")
        stage.check("the journal verifies", verified.returncode == 0, verified.stdout + verified.stderr)
        closed = "door_missed" in stage.kinds() or "interrupted" in stage.kinds()
        stage.check("the lost call is on record", closed, sorted(set(stage.kinds())))


class DaemonGone(Case):
    trusted = True
    notes = "the daemon is killed and its program is gone: every hook has to deny by itself"

    def turns(self, stage):
        return [[stage.client.shell("touch first")], [stage.client.shell("touch ran")]]

    def at(self, stage):
        def gone():
            stage.kill_daemon()
            stage.lazaret_file.rename(stage.dir / "away")
        return {1: gone}

    def judge(self, stage):
        stage.check("the tool ran while the daemon did", stage.ran("first"), stage.told)
        stage.check("the tool did not run", not stage.ran(), stage.told)
        # Claude Code ends the session, since the results of a batch cannot be looked at either; without a terminal it says no more.
        is_stopped = '"terminal_reason":"hook_stopped"' in tail(stage, "stdout", 5000)
        stage.check("it was said why", is_stopped or stage.was_told("daemon did not answer"), stage.told)


class HookMissing(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell("touch ran")]]

    def before_run(self, stage):
        stage.hook.unlink()

    def judge(self, stage):
        as_known = stage.ran() == (stage.client.without_hook == "open")
        stage.check(f"the call is {stage.client.without_hook}", as_known, stage.told)
        seen = stage.lazaret("verify")
        stage.check("`verify` finds it", seen.returncode != 0, seen.stdout)
