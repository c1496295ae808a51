"""load.py FHIR_BASE put|post BUNDLE.json.gz ...: loads bundles with their own ids (put) or the server's (post)."""
import gzip, json, re, sys, urllib.request

base, how, *files = sys.argv[1:]
truth = {}
for file in files:
    bundle = json.load(gzip.open(file))
    if how == "put":  # with Synthea's own ids
        names = {e["fullUrl"]: f"{e['resource']['resourceType']}/{e['resource']['id']}" for e in bundle["entry"]}
        text = re.sub(r"urn:uuid:[0-9a-f-]{36}", lambda m: names.get(m.group(), m.group()), json.dumps(bundle))
        bundle = json.loads(text)
        for e in bundle["entry"]:
            e["request"] = {"method": "PUT", "url": names[e["fullUrl"]]}
    asked = urllib.request.Request(base, json.dumps(bundle).encode(), {"Content-Type": "application/fhir+json"})
    answer = json.load(urllib.request.urlopen(asked))
    if how == "put":
        there = sorted(names.values())
    else:
        there = sorted("/".join(e["response"]["location"].split("/")[:2]) for e in answer["entry"])
    assert all(e["response"]["status"].startswith("20") for e in answer["entry"]), answer
    patient = next(n for n in there if n.startswith("Patient/"))
    truth[patient.split("/")[1]] = there
    print(patient, len(there), flush=True)
json.dump(truth, open("truth.json", "w"))
