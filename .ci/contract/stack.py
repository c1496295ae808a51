"""A separate stack for the contract tests: started like `make run`, with data created through the public API."""

import base64
import contextlib
import http.client
import json
import os
import subprocess
import time
import urllib.parse

RATES = ("KeyedRequestsPerMinute", "BrowserRequestsPerMinute", "PollRequestsPerMinute", "ConnectRequestsPerMinute", "SearchesPerMinute", "CatalogExportsPerHour",
         "CodesPerClientAndHour", "InquiriesPerHour", "DashboardRequestsPerMinute")
MAILBOX_RATE = "CodesPerMailboxAndHour"  # at most 100


@contextlib.contextmanager
def running(runner, folder, rate, built=False):
    """Runs the service in memory on a separate port, with one rate for all limits, and yields its run file.

    If its binaries were built just before (RECORDBRIDGE_BUILT), they aren't compared with their sources again.
    """
    file, log_file = os.path.join(folder, "run.json"), os.path.join(folder, "runner.log")
    parameters = [word for name in RATES for word in ("-param", f"{name}={rate}")] + ["-param", f"{MAILBOX_RATE}={min(rate, 100)}"]
    parameters += ["-no-build"] if built or os.environ.get("RECORDBRIDGE_BUILT") else []
    with open(log_file, "ab") as log:
        process = subprocess.Popen([runner, "-addr", "127.0.0.1:0", "-run-file", file, *parameters], stdout=log, stderr=log)
        try:
            while not os.path.exists(file):  # it is written once everything is ready
                if process.poll() is not None:
                    raise SystemExit(f"the runner ended; see {log_file}")
                time.sleep(0.1)
            with open(file, encoding="utf-8") as text:
                yield json.load(text)
        finally:
            os.path.exists(file) and os.remove(file)
            process.terminate()
            process.wait()


class Customer:
    """An organisation's backend, and the browsers of its patients."""

    def __init__(self, run, organisation):
        self.run, self.organisation = run, organisation
        pair = f"{organisation['public_id']}:{organisation['private_key']}"
        self.authorization = "Basic " + base64.b64encode(pair.encode()).decode()

    def call(self, method, path, body=None):
        """Returns the API response's data."""
        headers = {"Authorization": self.authorization, "Content-Type": "application/json"}
        answer, text = send(method, self.run["base_url"] + path, json.dumps(body) if body else None, headers)
        assert answer.status == 200, f"{method} {path}: {answer.status} {text}"
        return json.loads(text)["data"]

    def connection(self):
        """Signs a patient in at the sandbox and returns the connection's ID."""
        sandbox, back, cookie = self.run["sandbox"], self.organisation["redirect_uri"], ""
        query = {"public_id": self.organisation["public_id"], "endpoint_id": sandbox["endpoint_id"], "redirect_uri": back}
        address = self.run["base_url"] + "/bridge/connect?" + urllib.parse.urlencode(query)
        while not address.startswith(back):
            if "/oauth/authorize?" in address:
                address += f"&persona={sandbox['personas'][0]['id']}&decision=approve"
            answer, text = send("GET", address, None, {"Cookie": cookie})
            assert answer.status == 302, f"{address}: {answer.status} {text}"
            address = answer.headers["Location"]
            cookie = cookie or answer.headers.get("Set-Cookie", "").split(";")[0]
        return urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["org_connection_id"][0]

    def export(self, connection):
        """Returns the finished export of a connection."""
        task = self.call("POST", "/bridge/fhir/ehi-export", {"org_connection_id": connection})["task_id"]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = self.call("GET", f"/bridge/fhir/ehi-export/{task}?include=result")
            if found["status"] != "pending":
                return found
            time.sleep(0.2)
        raise SystemExit(f"export {task} does not end")


def send(method, address, body=None, headers=None):
    """Sends one request without following redirects, and returns the response and its text."""
    url = urllib.parse.urlsplit(address)
    client = http.client.HTTPConnection(url.netloc, timeout=60)
    client.request(method, urllib.parse.urlunsplit(("", "", url.path, url.query, "")), body, headers or {})
    answer = client.getresponse()
    text = answer.read().decode()
    client.close()
    return answer, text
