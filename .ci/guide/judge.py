"""Runs every code block of the guide against a stack of its own: python3 judge.py RUNNER PYTHON.

- The sh and bash blocks of a page form one script, which bash runs in a clone that has the stack's .local/run.json.
- A ts, js, python or go block that begins with its imports (Go: package) starts a program. The page's following blocks
  of the language continue it. A program that contains port 8080 is a receiver: it gets signed, forged and old events.
- The environment has BASE_URL, PUBLIC_ID, PRIVATE_KEY, CONNECTION, TASK (a successful export) and WEBHOOK_SECRET. In
  commands and HTML, https://api.example.com/v1, public_test_…, private_test_… and port 8080 are replaced.
- JSON, HTML and CSS are checked by check.py. A text block, or one without language, is a sample of the page's output.
"""

import base64
import concurrent.futures
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
import tomllib

import blocks
import receiver
import stopwatch
from build import ROOT, build
from check import Checker

sys.path.insert(0, os.path.join(ROOT, ".ci/contract"))
import stack  # noqa: E402 the path is set above

CONFIG = os.path.join(ROOT, ".ci/guide/guide.toml")


def main(runner, python):
    with open(CONFIG, "rb") as file:
        config = tomllib.load(file)
    pages = blocks.read(os.path.join(ROOT, "docs/guide"), config["skip"])
    programs = [one for found in pages.values() for one in blocks.programs(found)]
    for one in programs:
        one.port = receiver.free_port() if re.search(r"\b8080\b", one.text) else None
    with tempfile.TemporaryDirectory(prefix="recordbridge-guide-") as folder, concurrent.futures.ThreadPoolExecutor() as pool:
        steps = "".join(one.text for one in pages["sdk.md"] if one.language == "bash")
        compiled = pool.submit(build, programs, os.path.join(folder, "programs"), python, steps)
        clone = os.path.join(folder, "clone")
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, clone], check=True)
        for name in ("build", ".local"):
            os.makedirs(os.path.join(clone, name))
        for name in os.listdir(os.path.join(ROOT, "build")):
            os.symlink(os.path.join(ROOT, "build", name), os.path.join(clone, "build", name))
        with stack.running(runner, os.path.join(clone, ".local"), rate=1_000_000) as run:
            guide = Guide(run, clone, config)
            guide.programs = list(zip(programs, compiled.result(), strict=True))
            watched = pool.submit(lambda: list(stopwatch.measure(clone, dict(os.environ))))
            failures = [failure for found in pool.map(guide.page, pages, pages.values()) for failure in found]
            stopwatch.report(0, watched.result())
    unused = [f"{page}: no block contains {text!r}" for page, texts in config["skip"].items() for text in texts
              if not any(text in one.text for one in pages.get(page, []) if one.skipped)]
    unused += [f"guide.toml: {page} has no code to expect or skip anything of"
               for part in config.values() for page in part if page.endswith(".md") and not pages.get(page)]
    for page, found in pages.items():
        print(f"{page}: {len(found)} blocks, {sum(one.skipped for one in found)} of them not run")
    if failures + unused:
        raise SystemExit("\n".join(failures + unused))


class Guide:
    """The stack with a customer, whose values the blocks use."""

    def __init__(self, run, clone, config):
        self.run, self.clone, self.config, self.programs = run, clone, config, []
        self.organisation = run["organisations"][0]
        self.key = secrets.token_bytes(24)
        customer = stack.Customer(run, self.organisation)
        connection = customer.connection()
        task = customer.call("POST", "/bridge/fhir/ehi-export", {"org_connection_id": connection})["task_id"]
        self.event = received(customer, task)
        self.environment = os.environ | {
            "BASE_URL": run["base_url"], "PUBLIC_ID": self.organisation["public_id"], "TASK": task, "CONNECTION": connection,
            "PRIVATE_KEY": self.organisation["private_key"], "WEBHOOK_SECRET": "whsec_" + base64.b64encode(self.key).decode(),
        }
        self.checker = Checker(ROOT, config["json"], lambda url: stack.send("GET", self.localised(url, 0)))

    def localised(self, text, port):
        base = self.run["base_url"]
        text = text.replace("https://api.example.com/v1", base).replace("https://api.example.com", base.removesuffix("/v1"))
        text = re.sub(r"public_test_([0-9a-f-]{36}|…)", self.organisation["public_id"], text)
        return re.sub(r"\b8080\b", str(port), text.replace("private_test_…", self.organisation["private_key"]))

    def page(self, page, found):
        """Runs a page's blocks, and returns their failures."""
        failures, printed = [], {}
        commands = [one for one in found if one.language in blocks.SHELL and not one.skipped]
        work = [(commands[0], lambda: self.shell(commands))] if commands else []
        work += [(one, lambda one=one, command=command: self.program(one, command))
                 for one, command in self.programs if one.page == page]
        for first, run in work:
            try:
                printed[first.place] = self.expected(first, run())
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failures.append(f"{first.place}: {error}")
        for block in found:
            try:
                if not block.skipped and block.language not in (*blocks.SHELL, *blocks.START):
                    self.checker.check(block, "\n".join(printed.values()))
            except (AssertionError, ValueError) as error:
                failures.append(f"{block.place}: {error}")
        return failures

    def expected(self, block, text):
        """Returns the output of a block if it is as expected."""
        kind = "sh" if block.language in blocks.SHELL else "programs"
        missing = [one for one in self.config["expect"].get(block.page, {}).get(kind, [r"\S"]) if not re.search(one, text)]
        assert not missing, f"doesn't print {missing}, but:\n{text}"
        return text

    def shell(self, commands):
        """Runs commands in one shell. Commands that don't end run in the background until the script's end."""
        with receiver.recording() as port, tempfile.TemporaryDirectory() as state:
            script = self.localised("".join(one.text for one in commands), port)
            for number, (command, ready) in enumerate(self.config["background"].items()):
                log = os.path.join(state, f"{number}.log")
                wait = f" >>{log} 2>&1 & for i in {{1..100}}; do ! grep -q '{ready}' {log} || break; sleep 0.1; done; cat {log}"
                script = re.sub(rf"(?m)^.*{re.escape(command)}.*$", lambda line, wait=wait: line[0] + wait, script)
            script = f"set -euo pipefail\ncurl() {{ command curl --fail-with-body \"$@\"; }}\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{script}"
            status = self.config["expect"].get(commands[0].page, {}).get("status", 0)
            return self.output(["bash", "-c", script], status, RECORDBRIDGE_STATE=state)

    def program(self, program, command):
        """Runs a program. One with a port is a receiver, which is stopped after the events."""
        if program.port is None:
            return self.output(command)
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen(command, env=self.environment, stdout=out, stderr=subprocess.STDOUT)
            try:
                receiver.verify(program.port, self.key, self.event)
            finally:
                process.kill()
                process.wait()
            out.seek(0)
            return out.read()

    def output(self, command, status=0, **variables):
        """Returns what a command prints; its status must be as given."""
        done = subprocess.run(command, cwd=self.clone, env=self.environment | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=90, check=False)
        assert done.returncode == status, f"status {done.returncode}\n{done.stdout}"
        return done.stdout


def received(customer, task):
    """Returns an export's event as soon as the list of events contains it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for event in customer.call("GET", "/bridge/events")["events"]:
            if event["data"].get("task_id") == task:
                return json.dumps(event).encode()
        time.sleep(0.3)
    raise SystemExit(f"export {task} has no event")


if __name__ == "__main__":
    main(*(os.path.abspath(argument) for argument in sys.argv[1:]))
