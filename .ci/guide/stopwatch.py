"""Measures the time to the first verified webhook, in each language: python3 stopwatch.py.

It types the commands and programs of docs/guide/first-webhook.md, and nothing else, in a new clone of HEAD. Modules come
from this machine's caches. Ports are free ones, so that the languages' receivers run side by side. judge.py does the
same in a stack that is already running, so its time excludes make run.
"""

import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

import blocks
import receiver

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
PAGE = "first-webhook.md"
LIMIT = 180  # seconds
ROW = re.compile(r"^\| ([A-Z]\w+).* \| `(receiver\.\w+)` \| `(.+)` \|$", re.MULTILINE)


def measure(clone, environment):
    """Yields each language and its seconds, in a clone with a running stack."""
    with open(os.path.join(ROOT, "docs/guide", PAGE), encoding="utf-8") as file:
        rows = [row.groups() for row in ROW.finditer(file.read())]
    page = blocks.read(os.path.join(ROOT, "docs/guide"), {})[PAGE]
    programs = blocks.programs(page)
    assert len(rows) == len(programs) == 3, f"{PAGE} has {len(rows)} commands and {len(programs)} programs"
    lines = [line for one in page if one.language == "bash" for line in one.text.splitlines() if line != "make run"]
    begin, [listen], end = (list(part) for part in divided(lines, " listen "))
    start = time.monotonic()
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor() as pool:
        for line in begin:
            type_in(line, clone, environment)
        receivers = [pool.submit(receive, stack, clone, environment, listen, row, program.text)
                     for row, program in zip(rows, programs, strict=True)]
        outputs = [one.result() for one in receivers]
        for line in end:
            type_in(line, clone, environment)
        for (language, *_), output in zip(rows, outputs, strict=True):
            wait_for(output, r"verified .*patient\.ehi_export_success")
            yield language, time.monotonic() - start


def divided(lines, word):
    at = next(i for i, line in enumerate(lines) if word in line)
    return lines[:at], lines[at:at + 1], lines[at + 1:]


def receive(stack, clone, environment, listen, row, text):
    """Starts listen and a receiver, and returns the receiver's output."""
    _, name, command = row
    port = str(receiver.free_port())
    state = stack.enter_context(tempfile.TemporaryDirectory())
    listening = running(stack, listen.replace("8080", port), clone, environment | {"RECORDBRIDGE_STATE": state})
    secret = wait_for(listening, r"whsec_\S+")
    with open(os.path.join(clone, name), "w", encoding="utf-8") as file:
        file.write(text.replace("8080", port))
    output = running(stack, command.replace("whsec_…", secret), clone, environment)
    receiver.await_port(int(port))
    return output


def type_in(line, clone, environment):
    done = subprocess.run(["bash", "-c", line], cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}: status {done.returncode}\n{done.stdout}{done.stderr}"


def running(stack, line, clone, environment):
    """Starts a command that runs until the stack is closed, and returns the file of its output."""
    output = stack.enter_context(tempfile.NamedTemporaryFile())
    process = subprocess.Popen(["bash", "-c", line], cwd=clone, env=environment, stdout=output, stderr=output, start_new_session=True)
    stack.callback(process.wait)
    stack.callback(os.killpg, process.pid, signal.SIGTERM)
    return output.name


def wait_for(path, pattern):
    deadline = time.monotonic() + LIMIT
    while True:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if found := re.search(pattern, text):
            return found[0]
        assert time.monotonic() < deadline, f"no {pattern}, but:\n{text}"
        time.sleep(0.1)


def main():
    with tempfile.TemporaryDirectory(prefix="recordbridge-stopwatch-") as folder, contextlib.ExitStack() as stack:
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, folder], check=True)
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "GOCACHE", "GOMODCACHE") if name in os.environ}
        start = time.monotonic()
        line = "make run ARGS='-addr 127.0.0.1:0'"
        output = running(stack, line, folder, environment)
        while not os.path.exists(os.path.join(folder, ".local/run.json")):
            assert time.monotonic() < start + 600, open(output, encoding="utf-8").read()
            time.sleep(0.1)
        started = time.monotonic() - start
        print(f"make run: {started:.0f} s, in a new clone with this machine's caches")
        report(started, measure(folder, environment))


def report(started, measured):
    """Prints each language's time and fails above the limit."""
    slow = []
    for language, seconds in measured:
        print(f"{language}: first verified webhook after {started + seconds:.0f} s")
        slow += [language] if started + seconds > LIMIT else []
    assert not slow, f"more than {LIMIT} s: {', '.join(slow)}"


if __name__ == "__main__":
    main()
