"""Tests running services against docs/openapi.yaml with schemathesis: python3 judge.py SCHEMATHESIS RUNNER."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import stack

here = os.path.dirname(os.path.abspath(__file__))
description = os.path.join(here, "../../docs/openapi.yaml")

# These checks cover responses of the rate limits. The other checks expect not to be limited.
SHAPE = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"

# Operations that succeed only in a window opened by one of our pages, or for a person verified in one.
WINDOWS = ("POST /bridge/connect", "POST /bridge/tefca/identity/start", "GET /bridge/tefca/identity/callback/{provider}", "POST /bridge/tefca/records/{attemptId}/authorization")


def seeds(run):
    """Creates test data in every state, and returns the configurations' variables and dictionaries."""
    organisation, sandbox = run["organisations"][0], run["sandbox"]
    ours, live, other = (stack.Customer(run, o) for o in run["organisations"])
    kept, ended, spare, fetched, theirs = (c.connection() for c in (ours, ours, ours, ours, other))
    done, gone, spare_task, download = (ours.export(c) for c in (kept, ended, spare, fetched))
    foreign = other.export(theirs)
    ours.call("DELETE", f"/bridge/fhir/ehi-export/{gone['task_id']}/files")
    ours.call("DELETE", f"/bridge/org_connection/{ended}")
    attempt = ours.call("POST", f"/bridge/attempts?public_id={organisation['public_id']}", {"endpoint_id": sandbox["endpoint_id"]})
    verification = ours.call("POST", f"/bridge/tefca/identity?public_id={organisation['public_id']}", {"provider": "simulated"})
    _, frame = stack.send("GET", f"{run['base_url']}/widget/embed?public_id={organisation['public_id']}")
    variables = {
        "PUBLIC_ID": organisation["public_id"], "PRIVATE_KEY": organisation["private_key"],
        "REDIRECT_URI": organisation["redirect_uri"], "ATTEMPT_TOKEN": attempt["attempt_token"], "CONNECTION": kept,
        "VERIFICATION": verification["attempt_id"], "VERIFICATION_TOKEN": verification["attempt_token"],
    }
    peers = [{"name": name, "fixedHeaders": [{"name": "Authorization", "value": customer.authorization}]}
             for name, customer in (("ours", ours), ("live", live), ("other", other))]
    return variables, peers, {
        "assets": re.findall(r"assets/([^\"]+)", frame),
        "attempts": [attempt["attempt_id"]],
        "brands": [sandbox["brand_id"]],
        "connections": [kept, ended, theirs],
        "cursors": [ours.call("GET", "/bridge/events")["after"]],
        "downloads": [download["task_id"]],
        "endpoints": [sandbox["endpoint_id"]],
        "files": [download["files"][0]["file_name"]],
        "portals": [sandbox["portal_id"]],
        "providers": ["simulated"],
        "publics": [organisation["public_id"]],
        "redirects": [organisation["redirect_uri"]],
        "spares": [spare, spare_task["task_id"]],
        "tasks": [done["task_id"], gone["task_id"], foreign["task_id"]],
        "verifications": [verification["attempt_id"]],
    }


def prepare(folder, run):
    """Writes the configurations and their input into folder, and returns their variables."""
    variables, peers, dictionaries = seeds(run)
    for name in ("schemathesis.toml", "peers.toml", "hooks.py"):
        shutil.copy(os.path.join(here, name), folder)
    for name, values in dictionaries.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.writelines(f'"{value}"\n' for value in values)
    variables["PEERS"] = os.path.join(folder, "peers.json")
    with open(variables["PEERS"], "w", encoding="utf-8") as file:
        json.dump({"auth": peers}, file)
    return variables


def judge(title, program, folder, run, variables, config, *arguments):
    """Runs schemathesis once, prints its output, and returns the statuses of each operation's responses."""
    print(f"\n--- {title}", flush=True)
    report = os.path.join(folder, "report.ndjson")
    command = [
        program, "--config-file", os.path.join(folder, config), "run", "--url", run["base_url"], "--output-sanitize", "true",
        "--report", "ndjson", "--report-ndjson-path", report,
        "--exclude-tag", "sandbox",  # it simulates another party's server and uses that server's formats
        *arguments, description,
    ]
    environment = os.environ | variables | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    if subprocess.run(command, cwd=folder, env=environment, check=False).returncode != 0:
        raise SystemExit(f"{title}: schemathesis has findings")
    return statuses(report)


def statuses(report):
    """Reads the statuses of each operation's responses from a report, except in multi-step scenarios."""
    found = collections.defaultdict(set)
    with open(report, encoding="utf-8") as lines:
        for line in lines:
            recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
            for case, interaction in recorder.get("interactions", {}).items():
                asked, answer = recorder["cases"][case]["value"], interaction["response"]
                if answer and recorder["label"] == f"{asked['method']} {asked['path']}":
                    found[recorder["label"]].add(answer["status_code"])
    return found


def see(title, found, wanted):
    """Fails if an operation never returned an expected status: its checks would have tested nothing."""
    never = [operation for operation, statuses in sorted(found.items()) if not any(wanted(s) for s in statuses)]
    if never or not found:
        raise SystemExit(f"{title}: not seen for {', '.join(never) or 'anything'}, only {[found[o] for o in never]}")


def main(program, runner):
    with tempfile.TemporaryDirectory(prefix="recordbridge-contract-") as folder:
        with stack.running(runner, folder, rate=1_000_000) as run:
            variables = prepare(folder, run)
            found = judge("every operation", program, folder, run, variables, "schemathesis.toml", "--max-examples", "30", "--exclude-tag", "dashboard")
            # Going to an identity provider and back needs a window with a single-use value: see the journeys in
            # infra/test/e2e.
            see("success", {name: statuses for name, statuses in found.items() if name not in WINDOWS}, lambda status: status < 400)
            # Dashboard operations require a session: the journeys in infra/test/e2e check their responses.
            judge("the dashboard, signed out", program, folder, run, variables, "schemathesis.toml", "--max-examples", "5", "--phases", "examples,coverage",
                  "--include-tag", "dashboard", "--warnings", "off")
            # Otherwise, schemathesis would start all scenarios with the list of events.
            judge("links between operations", program, folder, run, variables, "schemathesis.toml", "--max-examples", "75",
                  "--phases", "stateful", "--exclude-operation-id", "listEvents", "--exclude-tag", "dashboard")
            judge("what others may read", program, folder, run, variables, "peers.toml", "--max-examples", "20", "--phases", "stateful",
                  "--include-operation-id", "createExport", "--include-operation-id", "getExport")
        with stack.running(runner, folder, rate=1, built=True) as run:
            organisation = run["organisations"][0]
            variables |= {"PUBLIC_ID": organisation["public_id"], "PRIVATE_KEY": organisation["private_key"]}
            # There is only one request to /bridge/org; the others have a second one, which exceeds the limit.
            stack.send("GET", f"{run['base_url']}/bridge/org?public_id={organisation['public_id']}")
            found = judge("limits", program, folder, run, variables, "schemathesis.toml", "--max-examples", "5", "--phases", "fuzzing",
                          "--checks", SHAPE, "--warnings", "off")
            # Files and static pages have no limit.
            files = ("GET /sdk/", "GET /record-view.js", "GET /widget/assets/", "GET /docs", "GET /demo")
            limited = {name: statuses for name, statuses in found.items() if not name.startswith(files) and name not in ("GET /dashboard", "GET /health")}
            see("429", limited, lambda status: status == 429)


if __name__ == "__main__":
    main(*(os.path.abspath(argument) for argument in sys.argv[1:]))
