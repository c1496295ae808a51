"""RUN=.local/run.json try.py ENDPOINT_ID PATIENT FHIR_BASE TRUTH GATE_LOG: connects, exports RUNS times, compares."""
import html, http.cookiejar, json, os, re, sys, time
from datetime import datetime, timezone
from urllib.parse import urlencode
from urllib.request import HTTPBasicAuthHandler, HTTPCookieProcessor, HTTPPasswordMgrWithPriorAuth, Request
from urllib.request import build_opener, urlopen

endpoint, patient, direct, truth, log = sys.argv[1:]
run = json.load(open(os.environ["RUN"]))
org, base = run["organisations"][0], run["base_url"]
cookies = http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https"))
browser = build_opener(HTTPCookieProcessor(http.cookiejar.CookieJar(cookies)))
browser.addheaders = [("Accept", "application/json")]
known = HTTPPasswordMgrWithPriorAuth()
known.add_password(None, base, org["public_id"], org["private_key"], is_authenticated=True)
backend = build_opener(HTTPBasicAuthHandler(known))


def connect():
    query = {"public_id": org["public_id"], "endpoint_id": endpoint, "redirect_uri": org["redirect_uri"]}
    text = browser.open(f"{base}/bridge/connect?{urlencode(query)}").read().decode()
    form = re.search(r'id="kc-form-login"[^>]*action="([^"]+)"', text)  # Keycloak's
    if form:
        answers = urlencode({"username": patient, "password": "interop"}).encode()
        text = browser.open(html.unescape(form[1]), answers).read().decode()
    return json.loads(text)["org_connection_id"]


def export(connection):
    began = datetime.now(timezone.utc)
    body = json.dumps({"org_connection_id": connection, "refresh": True}).encode()
    asked = Request(f"{base}/bridge/fhir/ehi-export", body, {"Content-Type": "application/json"})
    task = json.load(backend.open(asked))["data"]["task_id"]
    while True:
        time.sleep(0.1)
        for one in json.load(urlopen(run["inbox_url"])):
            event = json.loads(one["body"])
            if event["type"].startswith("patient.ehi_export_") and event["data"].get("task_id") == task:
                came = datetime.fromisoformat(one["received_at"][:23] + "+00:00")
                return event, (came - began).total_seconds()


def bare(resource):
    resource.get("meta", {}).pop("source", None)  # exports set it
    return {k: v for k, v in resource.items() if v != {}}


connection = os.environ.get("CONNECTION") or connect()
print("connection", connection)
for number in range(int(os.environ.get("RUNS", "2"))):
    time.sleep(number and int(os.environ.get("PAUSE", "0")))
    before = len(open(log).readlines())
    event, seconds = export(connection)
    requests = len(open(log).readlines()) - before
    if event["type"] != "patient.ehi_export_success":
        sys.exit(json.dumps(event["data"]))
    lines = [json.loads(line) for line in urlopen(event["data"]["download_links"][0]["url"])]
    have = {f"{r['resourceType']}/{r['id']}": bare(r) for r in lines}
    there = json.load(open(truth))[patient]
    intact = [n for n in there if n in have and have[n] == bare(json.load(urlopen(f"{direct}/{n}")))]
    print(f"export {number + 1}: {len(intact)} of {len(there)} intact, {len(set(have) - set(there))} extra, "
          f"{len(lines) - len(have)} twice, {requests} requests, {seconds:.1f} s,",
          f"complete={event['data'].get('complete', True)}", *event["data"].get("missing", {}).items())
