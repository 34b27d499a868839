"""Single calls: allowed, denied, asked, their results rewritten; and `uninstall`."""
import json

from case import SEND, VALUE, Case, let_through, stopped, tail


class Allowed(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell("touch ran && echo OUT-AS-IT-IS")]]

    def outcome(self, stage):
        let_through(stage, "OUT-AS-IT-IS")
        stage.check("the result reached the model", stage.was_told("OUT-AS-IT-IS"), stage.told)
        seen = stage.lazaret("verify")
        stage.check("`verify` says that the agent called it", seen.returncode == 0 and "not called" not in seen.stdout, seen.stdout)


class Failed(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell("touch ran; echo OUT-AS-IT-IS; exit 3")]]

    def outcome(self, stage):
        let_through(stage, "OUT-AS-IT-IS")
        stage.check("the result reached the model", stage.was_told("OUT-AS-IT-IS"), stage.told)


class Denied(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell("touch ran; sudo -n true")]]

    def outcome(self, stage):
        stopped(stage, "sudo")
        stage.check("with its rule", stage.was_told("shell-privilege"), stage.told)
        stage.check("nobody is asked", not stage.approvals, stage.approvals)


class Parallel(Case):
    trusted = True

    def turns(self, stage):
        shell = stage.client.shell
        return [[shell("touch ran; sudo -n true"), shell("touch other; echo OUT-OF-OTHER")]]

    def outcome(self, stage):
        stopped(stage, "sudo")
        let_through(stage, "OUT-OF-OTHER", "other")
        stage.check("the result reached the model", stage.was_told("OUT-OF-OTHER"), stage.told)


class Asked(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell(SEND)]]

    def outcome(self, stage):
        stopped(stage, "collector.example")
        waiting = [it for it in stage.approvals if it["state"] == "pending"]
        stage.check("one question waits", len(waiting) == 1, stage.approvals)
        if waiting and not stage.client.asks:
            stage.check("the model knows its name", stage.was_told(waiting[0]["id"][:8]), stage.told)


class AskedApproved(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell(SEND)], [stage.client.shell(SEND)]]

    def at(self, stage):
        def approve():
            stage.check("it did not run before", not stage.ran())
            waiting = stage.lines("approvals")
            name = waiting[0]["id"] if waiting else "none"
            stage.must("approve", stage.lazaret("approvals", "approve", name, "--yes", "--by", "me"))
        return {1: approve}

    def outcome(self, stage):
        stage.check("the tool ran", stage.ran(), stage.told)
        found = stage.decisions("collector.example")
        stage.check("stopped, then allowed", found[:1] == ["step_up"] and found[1:] == ["allow"], found)


class Rewritten(Case):
    trusted = True

    def turns(self, stage):
        return [[stage.client.shell("touch ran; cat key.txt")]]

    def before_init(self, stage):
        stage.put("work/key.txt", f"the key is {VALUE} for deploys\n")
        self.keep_secret(stage)

    def keep_secret(self, stage):
        stage.must("vault init", stage.lazaret("vault", "init"))
        stage.must("vault set", stage.lazaret("vault", "set", "DEPLOY_KEY", "--host", "deploy.example", given=VALUE))

    def outcome(self, stage):
        let_through(stage, "key.txt")
        stage.check("the model has the rest", stage.was_told("the key is"), stage.told)
        everything = json.dumps(stage.model.asked) + json.dumps(stage.records)
        stage.check("the value is nowhere", VALUE not in everything, stage.told)


class RewrittenLater(Rewritten):
    """The vault is made while the daemon runs."""

    def before_init(self, stage):
        stage.put("work/key.txt", f"the key is {VALUE} for deploys\n")

    def before_run(self, stage):
        self.keep_secret(stage)


class Interactive(Case):
    """What is typed into a shell later is shown to no hook."""

    clients = ("codex",)
    trusted = True

    def turns(self, stage):
        call = stage.client.shell("bash")
        call["input"]["tty"] = True
        return [[call]]

    def outcome(self, stage):
        stage.check("it was refused", stage.was_told("interactive"), stage.told)


class Uninstalled(Case):
    """`uninstall` puts every file back, and the client works as before."""

    def turns(self, stage):
        return [[stage.client.shell("touch ran; sudo -n true")]]

    def before_init(self, stage):
        super().before_init(stage)
        stage.files = self.files(stage)

    def files(self, stage):
        home = stage.dir / "home"
        every = (it for it in home.rglob("*") if it.is_file() and "node_modules" not in it.parts)
        return {str(it.relative_to(home)): it.read_bytes() for it in every}

    def before_run(self, stage):
        wired = self.files(stage)
        stage.check("init changed something", wired != stage.files)
        stage.must("init again", stage.lazaret("init", "--yes", "--agent", stage.client.name))
        stage.check("init again changes nothing", self.files(stage) == wired)
        stage.must("uninstall", stage.lazaret("uninstall"))
        now = self.files(stage)
        changed = [it for it in {**now, **stage.files} if now.get(it) != stage.files.get(it)]
        stage.check("every file is as it was", not changed, changed)

    def judge(self, stage):
        stage.check("the client ends well", stage.exit == 0, f"exit {stage.exit}: {tail(stage, 'stderr')}")
        stage.check("the tool ran", stage.ran(), stage.told)
