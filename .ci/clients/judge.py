"""Calls a running service with each generated client: python3 judge.py RUNNER FOLDER."""

import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sdk = os.path.join(here, "../../infra/sdk")
sys.path.insert(0, os.path.join(here, "../contract"))
import stack  # noqa: E402 the path is set above


def main(runner, folder):
    clients = {
        "openapi-typescript": ["node", "out/fetch.js"],
        "@hey-api/openapi-ts": ["node", "out/hey.js"],
        "openapi-python-client": ["python/bin/python", "call.py"],
        "oapi-codegen": ["./go/clients"],
        "SDK for TypeScript": ["node", os.path.join(sdk, "typescript/journey.mjs")],
        "SDK for Python": ["python/bin/python", "-B", os.path.join(sdk, "python/journey.py")],
        "SDK for Go": ["./journey"],
    }
    with tempfile.TemporaryDirectory(prefix="recordbridge-clients-") as own, stack.running(runner, own, rate=1_000_000) as run:
        organisation = run["organisations"][0]
        connection = stack.Customer(run, organisation).connection()
        environment = os.environ | {
            "BASE_URL": run["base_url"], "PUBLIC_ID": organisation["public_id"], "PRIVATE_KEY": organisation["private_key"],
            "CONNECTION_ID": connection,
        }
        for name, command in clients.items():
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 0 or done.stdout.strip() != run["sandbox"]["brand_id"]:
                raise SystemExit(f"{name}: status {done.returncode}, printed {done.stdout!r} {done.stderr}")
            print(f"{name}: read a connection")


if __name__ == "__main__":
    main(*(os.path.abspath(argument) for argument in sys.argv[1:]))
