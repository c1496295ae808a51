"""Runs the linters. Each function returns one linter's results as Findings."""

import json
import os
import pathlib
import re
import subprocess

from waivers import Finding

# Findings in SAM's own output, which can't be changed: SAM replaces parameters with their values in the resources it
# generates. Our resources are checked in the template as written.
GENERATED = ("W2001",)


def run(accepted, *command):
    """Runs a linter without any user configuration, and returns its output if its exit code is accepted."""
    done = subprocess.run(command, cwd=os.path.dirname(command[0]), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in accepted:
        raise SystemExit(f"{os.path.basename(command[0])} failed with {done.returncode}: {done.stdout}")
    return done.stdout


def cfn_lint(program, *files):
    """Lints files, including informational findings; the exit code is a sum of the kinds found."""
    output = run(range(32), program, "--include-checks", "I", "--format", "json", "--", *files)
    for match in json.loads(output):
        path = match["Location"]["Path"] or [""]
        resource = path[1] if path[0] == "Resources" else ""
        yield match["Filename"], Finding("cfn-lint", resource, match["Rule"]["Id"], match["Message"])


def checkov(program, *files):
    """Checks files; it is an error if a file has nothing to check."""
    named = [argument for file in files for argument in ("--file", file)]
    report = json.loads(run((0, 1), program, "--framework", "cloudformation", "--skip-download", "--compact", "--output", "json", *named))
    results = report["results"]
    unread = set(files) - {check["file_abs_path"] for check in results["passed_checks"]}
    if unread or report["summary"]["parsing_errors"]:
        raise SystemExit(f"checkov cannot read {unread or results['parsing_errors']}")
    for check in results["failed_checks"]:
        yield check["file_abs_path"], Finding("checkov", check["resource"].split(".")[-1], check["check_id"], check["check_name"])


def guard(program, rules, data):
    """Checks a folder of templates. For each file, returns the rules that don't apply and the violations, as texts by rule."""
    output = run((0, 19), program, "validate", "--structured", "--output-format", "json", "--show-summary", "none", "--rules", rules,
                 "--data", data)
    idle, broken = {}, {}
    for report in json.loads(output):
        name = os.path.basename(report["name"])
        idle[name] = report["not_applicable"]
        broken[name] = {rule["Rule"]["name"]: sorted(set(messages(rule))) for rule in report["not_compliant"]}
    return idle, broken


def messages(node):
    """Collects cfn-guard's messages for a rule, at any depth, without the checked values."""
    if isinstance(node, dict):
        text = node.get("messages") or {}
        if text.get("error_message"):
            yield " ".join(filter(None, (text.get("custom_message"), re.split(r"\[L:| Value=", text["error_message"])[0])))
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from messages(item)


def rules(folder):
    """Lists the names of the rules in a folder."""
    texts = (pathlib.Path(folder) / name for name in os.listdir(folder))
    return {rule for text in texts for rule in re.findall(r"^rule (\w+)", text.read_text(encoding="utf-8"), re.MULTILINE)}
